/* SPDX-License-Identifier: MIT */
/* running_json: the report on who had the CPUs as JSON; docs/reports.md has the schema. */
#ifndef KISEKI_ANALYSIS_RUNNING_JSON_H
#define KISEKI_ANALYSIS_RUNNING_JSON_H

#include <jansson.h>

#include "analysis/running.h"

/* The orders as people write them, by enum running_order; NULL ends the list. */
extern const char *const running_order_words[RUNNING_ORDERS + 1];

/* With this many tasks, 0 for all. NULL: out of memory. */
json_t *running_json(const struct running *r, uint64_t limit);

#endif
