/* SPDX-License-Identifier: MIT */
/*
 * boot_report_json: what is said about boots as JSON (docs/reports.md), for the command line and the HTTP API. NULL:
 * out of memory.
 */
#ifndef KISEKI_ANALYSIS_BOOT_REPORT_JSON_H
#define KISEKI_ANALYSIS_BOOT_REPORT_JSON_H

#include <jansson.h>

#include "analysis/boot_diff.h"
#include "analysis/boot_path.h"
#include "analysis/boot_report.h"

/* limit 0: all of each list. The path may be NULL. */
json_t *boot_report_json(const struct boot_report *r, const struct boot_path *path, uint64_t limit);

/* Only pairs that differ by min_ns, and processes that are new or gone. */
struct boot_diff_json_options {
	uint64_t limit, min_ns;
	bool kernel;
};
json_t *boot_diff_json(const struct boot_diff *d, const struct boot_diff_json_options *o);

#endif
