/* SPDX-License-Identifier: MIT */
/*
 * vm_json: what a recording says of virtual machines as JSON (docs/vm.md), for the command line and whoever answers over
 * HTTP. NULL: out of memory. Of each list `limit` rows are given, 0: all.
 */
#ifndef KISEKI_ANALYSIS_VM_JSON_H
#define KISEKI_ANALYSIS_VM_JSON_H

#include <jansson.h>

#include "analysis/vm_report.h"

struct vm_json {
	const struct vm_report *report;
	const struct vm_names *names;
	struct profile_names *host;
	const struct sample_source *source;
	uint64_t limit;
};

/* Machines and their virtual CPUs, with the classes of their time. */
json_t *vm_machines_json(const struct vm_json *j);

/* Why and by whom time was taken: reasons, culprits, functions of the host. */
json_t *vm_steal_json(const struct vm_json *j);

/* True and apparent times, of one level, and what is nobody's. */
json_t *vm_correct_json(const struct vm_json *j, enum vm_level level);

/* The machines, and the true times under the level's word. */
json_t *vm_report_json(const struct vm_json *j, enum vm_level level);

#endif
