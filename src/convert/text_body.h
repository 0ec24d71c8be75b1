/* SPDX-License-Identifier: MIT */
/*
 * text_body: what stands behind the event's name, as an event, and the dialect that shows in it.
 */
#ifndef KISEKI_CONVERT_TEXT_BODY_H
#define KISEKI_CONVERT_TEXT_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "convert/text_columns.h"
#include "wire/sched_event.h"

/* What a body shows besides its event's fields. */
enum text_trait {
	TEXT_HAS_SUCCESS = 1 << 0,    /* a wakeup with success= */
	TEXT_HAS_GROUP_DEAD = 1 << 1, /* an exit with group_dead= */
	TEXT_NO_GROUP_DEAD = 1 << 2,  /* an exit without */
	TEXT_NO_RENAME_PID = 1 << 3,  /* a rename without pid= */
	TEXT_TRACE_CMD = 1 << 4,      /* the short form of trace-cmd's plugin */
};

struct text_body {
	struct sched_event event; /* kind and the kind's own fields, but for state */
	struct text_span state;	  /* of a switch, as letters */
	uint32_t traits;	  /* enum text_trait */
};

/* enum sched_kind of an event by its name, or -1. */
int text_body_kind(const struct text_span *name);

/* False if the body is not what such an event prints. The filename points into the line. */
bool text_body_parse(struct text_body *ret, int kind, const struct text_columns *c);

#endif
