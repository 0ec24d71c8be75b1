/* SPDX-License-Identifier: MIT */
/*
 * text_columns: one line of trace text split into its columns.
 */
#ifndef KISEKI_CONVERT_TEXT_COLUMNS_H
#define KISEKI_CONVERT_TEXT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/text_lines.h"
#include "convert/text_scan.h"

enum text_kind {
	TEXT_BLANK,   /* nothing, a comment, or a header of trace-cmd */
	TEXT_EVENT,   /* has all columns */
	TEXT_LOST,    /* CPU:n [LOST m EVENTS] */
	TEXT_ENTRIES, /* the header's line of counts */
	TEXT_OTHER,   /* none of these */
};

#define TEXT_NO_TGID_COLUMN INT32_MIN
#define TEXT_SCRATCH 4096U

struct text_columns {
	enum text_kind kind;
	/* TEXT_EVENT; cpu also for TEXT_LOST */
	struct text_span comm; /* of the task column, without its padding */
	int32_t pid;
	int32_t tgid;	   /* -1: dashes; TEXT_NO_TGID_COLUMN: no such column */
	uint32_t pid_room; /* characters of the padded pid */
	uint32_t cpu;
	struct text_span flags; /* empty: there is no such column */
	uint32_t stamp_room;	/* characters between the column before it and the point */
	uint64_t whole;		/* seconds, or the counter */
	uint32_t whole_digits;
	uint32_t part;	      /* of a second, in units of 10^-part_digits */
	uint32_t part_digits; /* 0: a bare counter */
	struct text_span name;
	struct text_span body;
	/* Flags and preempt count as numbers, of the latency format with the option verbose; flags is empty then. */
	bool has_numbers;
	uint8_t flag_number, preempt_number;
	char *scratch; /* TEXT_SCRATCH bytes of the caller's, for text_body_parse(); NULL: none */
	uint32_t body_gap; /* spaces between name and body; the kernel has 1, trace-cmd pads */
	/* TEXT_LOST and TEXT_ENTRIES */
	uint64_t count;	  /* lost (UINT64_MAX: not known), or entries in the buffer */
	uint64_t written; /* entries written */
	bool has_counts;
	uint32_t cpus; /* 0: not told */
};

/* All but c->scratch, which the caller sets. */
void text_columns_parse(struct text_columns *ret, const struct text_line *line);

#endif
