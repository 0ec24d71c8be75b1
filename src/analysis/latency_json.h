/* SPDX-License-Identifier: MIT */
/* latency_json: the latency report as JSON; docs/reports.md has the schema. */
#ifndef KISEKI_ANALYSIS_LATENCY_JSON_H
#define KISEKI_ANALYSIS_LATENCY_JSON_H

#include <jansson.h>

#include "analysis/latency.h"

/* The orders as people write them, by enum latency_order; NULL ends the list. */
extern const char *const latency_order_words[LATENCY_ORDERS + 1];

/* With this many tasks, 0 for all. NULL: out of memory. */
json_t *latency_json(const struct latency *l, uint64_t limit);

#endif
