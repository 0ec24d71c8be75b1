/* SPDX-License-Identifier: MIT */
/*
 * fields: an item of a trace as a list of named values.
 *
 * JSON, XML and CSV print the same fields under the same names; only the punctuation differs.
 * Which kind has which field is decided here, once, so that the three cannot drift apart. Names
 * are the kernel's own (`format` of each event, common_ prefix included); docs/format/json.md
 * describes each. Fields come in the order of their numbers, which is the order of CSV's columns.
 */
#ifndef KISEKI_CONVERT_FIELDS_H
#define KISEKI_CONVERT_FIELDS_H

#include <stdint.h>

#include "trace/source.h"
#include "trace/state.h"

enum field_id {
	FIELD_KIND,
	FIELD_NS,
	FIELD_TICK,
	FIELD_TICK_OFF_NS,
	FIELD_CPU,
	FIELD_COMMON_PID,
	FIELD_COMMON_FLAGS,
	FIELD_COMMON_PREEMPT_COUNT,
	FIELD_PREV_COMM,
	FIELD_PREV_PID,
	FIELD_PREV_PRIO,
	FIELD_PREV_STATE,
	FIELD_PREV_STATE_TEXT,
	FIELD_NEXT_COMM,
	FIELD_NEXT_PID,
	FIELD_NEXT_PRIO,
	FIELD_COMM,
	FIELD_PID,
	FIELD_PRIO,
	FIELD_TARGET_CPU,
	FIELD_SUCCESS,
	FIELD_PARENT_COMM,
	FIELD_PARENT_PID,
	FIELD_CHILD_COMM,
	FIELD_CHILD_PID,
	FIELD_FILENAME,
	FIELD_OLD_PID,
	FIELD_GROUP_DEAD,
	FIELD_OLDCOMM,
	FIELD_NEWCOMM,
	FIELD_OOM_SCORE_ADJ,
	FIELD_OLDPRIO,
	FIELD_NEWPRIO,
	FIELD_FROM_NS,
	FIELD_FROM_TICK,
	FIELD_TO_NS,
	FIELD_TO_TICK,
	FIELD_COUNT,
	FIELD_CAUSE,
	FIELD_COMMON_COMM, /* the youngest, so the last: columns of CSV keep their places */
	FIELDS,
};

enum field_type {
	FIELD_UNSIGNED,
	FIELD_SIGNED,
	FIELD_WORD, /* our own text, never in need of escaping */
	FIELD_NAME, /* bytes from the traced system */
};

struct field {
	enum field_id id;
	enum field_type type;
	uint32_t len; /* of text */
	uint64_t number;
	const char *text;
};

struct field_list {
	uint32_t n;
	struct field field[FIELDS];
	char state[STATE_TEXT_MAX];
};

const char *field_name(enum field_id id);
uint32_t field_name_length(enum field_id id);

/* The texts point into the item and the list: both must stay while they are used. */
void fields_of(struct field_list *ret, const struct trace_item *item,
	       const struct trace_info *info);

/* Bytes that any item fits in when each name is escaped and each field gets its name and up to
 * eight bytes of punctuation: what a sink must reserve. */
uint32_t fields_room(const struct trace_item *item);

/* The length of a comm without its padding. */
uint32_t comm_length(const char comm[SCHED_COMM_LEN]);

#endif
