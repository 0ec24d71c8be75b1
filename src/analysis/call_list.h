/* SPDX-License-Identifier: MIT */
/*
 * call_list: every call, in the order of their begins, with what is known at their ends.
 *
 * The two do not come together: the first row of a program is main, whose time is known at the very end. Rows
 * wait in a ring of fixed size and go from there to a temporary file that has no name; the end of a call whose
 * row is there already is written into the file. So memory is fixed, and the disk holds CALL_ROW_BYTES for
 * each call that is kept.
 *
 * Calls deeper than `depth` are not kept. Neither are those shorter than `min_ns`; since nearly all of them
 * are the newest row when they end, they are simply taken back, and cost nothing.
 */
#ifndef KISEKI_ANALYSIS_CALL_LIST_H
#define KISEKI_ANALYSIS_CALL_LIST_H

#include "analysis/call_walk.h"

#define CALL_ROW_BYTES 88U
#define CALL_ROWS_MAX (UINT64_C(1) << 32)

struct call_row {
	uint32_t thread;
	uint32_t depth;
	uint32_t function;
	uint32_t caller; /* function, UINT32_MAX: nobody */
	enum call_end end;
	bool dropped; /* too short: it is not given out */
	uint64_t begin_ns;
	uint64_t total_ns;
	struct call_split local;
};

struct call_list_options {
	uint32_t depth;	      /* 0: all */
	uint64_t min_ns;      /* 0: all */
	uint64_t limit;	      /* rows; 0: all. Further calls are counted in `more` */
	const char *function; /* pattern: only such calls and what is below them; NULL: all */
};

struct call_list;

/* Runs the walk; its listener is the list's. */
int call_list_new(struct call_list **ret, const struct call_walk *w,
		  const struct call_list_options *o, struct error *e);
void call_list_free(struct call_list *l);
DEFINE_CLEANUP(call_list, call_list_free)

/* 1: *ret is the next row; 0: the end; < 0: e says why. */
int call_list_next(struct call_list *l, struct call_row *ret, struct error *e);

const struct call_totals *call_list_totals(const struct call_list *l);
uint64_t call_list_more(const struct call_list *l); /* calls beyond the limit */

#endif
