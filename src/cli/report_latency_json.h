/* SPDX-License-Identifier: MIT */
/* report_latency_json: the latency report as JSON; docs/reports.md has the schema. */
#ifndef KISEKI_CLI_REPORT_LATENCY_JSON_H
#define KISEKI_CLI_REPORT_LATENCY_JSON_H

#include <jansson.h>

#include "analysis/latency.h"

json_t *report_latency_json(const struct latency *l, uint64_t limit); /* NULL: out of memory */

#endif
