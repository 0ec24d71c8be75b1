/* SPDX-License-Identifier: MIT */
/* timeline: a run drawn in so many columns, from its summaries. */
#ifndef KISEKI_COLLECTOR_TIMELINE_H
#define KISEKI_COLLECTOR_TIMELINE_H

#include <stdint.h>

#include <jansson.h>

#include "base/error.h"

struct summaries;

struct timeline_query {
	uint32_t run;
	uint64_t from_tick, to_tick;
	uint32_t width;
	uint32_t tasks_max;
};

int timeline_json(struct summaries *s, const struct timeline_query *q, json_t **ret,
		  struct error *e);

#endif
