/* SPDX-License-Identifier: MIT */
/*
 * call_report: what each function cost, over all calls of a source.
 *
 * Local times of all functions add up to the time of all outermost calls. A function's total counts
 * the time while at least one call of it was open in a thread, so recursion counts once. Average, least and greatest
 * are of the calls whose end was seen.
 */
#ifndef KISEKI_ANALYSIS_CALL_REPORT_H
#define KISEKI_ANALYSIS_CALL_REPORT_H

#include "analysis/call_walk.h"

struct call_stat {
	uint32_t function;
	uint64_t calls;
	uint64_t ends[CALL_ENDS];
	uint64_t total_ns;
	struct call_split local;
	uint64_t partial; /* of those that ended, began before what is looked at */
	uint64_t
		sum_ns; /* of the calls that returned or were unwound and are whole, recursion included */
	uint64_t min_ns, max_ns;
};

enum call_order {
	CALL_BY_LOCAL = 0,
	CALL_BY_TOTAL,
	CALL_BY_CALLS,
	CALL_BY_AVERAGE,
	CALL_BY_MAX,
	CALL_BY_NAME,
	CALL_ORDERS,
};
extern const char *const call_order_words[CALL_ORDERS + 1]; /* ends with NULL */

struct call_report;

/* Runs the walk; its listener is the report's. */
int call_report_new(struct call_report **ret, const struct call_walk *w, struct error *e);
void call_report_free(struct call_report *r);
DEFINE_CLEANUP(call_report, call_report_free)

void call_report_sort(struct call_report *r, enum call_order order);

/* Leaves out functions whose name does not fit, and those with less total time. */
void call_report_filter(struct call_report *r, const char *pattern, uint64_t min_ns);

const struct call_stat *call_report_get(const struct call_report *r, size_t *ret_n);
const struct call_totals *call_report_totals(const struct call_report *r);
const struct call_split *call_report_local(
	const struct call_report *r); /* of all, filtered or not */
const struct call_names *call_report_names(const struct call_report *r);

static inline uint64_t call_stat_complete(const struct call_stat *s)
{
	return s->ends[CALL_RETURNED] + s->ends[CALL_UNWOUND] - s->partial;
}

static inline uint64_t call_stat_average(const struct call_stat *s)
{
	uint64_t n = call_stat_complete(s);

	return n ? s->sum_ns / n : 0;
}

/* The figure by which an order sorts, largest first; 0 of NULL, and of CALL_BY_NAME. */
uint64_t call_stat_figure(const struct call_stat *s, enum call_order order);

#endif
