/* SPDX-License-Identifier: MIT */
/*
 * call_diff: two reports side by side: what got slower, what got faster, what is new, what is gone.
 *
 * Functions of the two are the same if their names are, and the names of their files: a program that
 * was built again has its functions at other places.
 */
#ifndef KISEKI_ANALYSIS_CALL_DIFF_H
#define KISEKI_ANALYSIS_CALL_DIFF_H

#include "analysis/call_report.h"

struct call_change {
	const char *name, *object;	/* borrowed from the reports' names */
	const struct call_stat *before; /* NULL: it is new */
	const struct call_stat *after;	/* NULL: it is gone */
};

struct call_diff;

/* The reports stay the caller's, and must not be sorted or filtered as long as this lives. */
int call_diff_new(struct call_diff **ret, const struct call_report *before,
		  const struct call_report *after, struct error *e);
void call_diff_free(struct call_diff *d);
DEFINE_CLEANUP(call_diff, call_diff_free)

/* The largest growth of that figure first, the largest shrinkage last; CALL_BY_NAME: by name. */
void call_diff_sort(struct call_diff *d, enum call_order order);
const struct call_report *call_diff_report(const struct call_diff *d, int which); /* 0: before */
const struct call_change *call_diff_get(const struct call_diff *d, size_t *ret_n);

static inline int64_t call_change_by(const struct call_change *c, enum call_order order)
{
	return (int64_t)(call_stat_figure(c->after, order) - call_stat_figure(c->before, order));
}

#endif
