/* SPDX-License-Identifier: MIT */
/*
 * profile_report: where the time went, in one list: by function, by object, by process, by thread or by CPU.
 *
 * A row's own part are the samples whose innermost frame it is, its total those in which it is anywhere: recursion counts
 * once. Own parts add up to all samples. A process, a thread and a CPU have all of their samples as their own.
 */
#ifndef KISEKI_ANALYSIS_PROFILE_REPORT_H
#define KISEKI_ANALYSIS_PROFILE_REPORT_H

#include "analysis/profile_walk.h"

enum profile_by {
	PROFILE_BY_FUNCTION = 0,
	PROFILE_BY_OBJECT,
	PROFILE_BY_PROCESS,
	PROFILE_BY_THREAD,
	PROFILE_BY_CPU,
	PROFILE_BYS,
};
extern const char *const profile_by_words[PROFILE_BYS + 1]; /* ends with NULL */

enum profile_order {
	PROFILE_ORDER_SELF = 0,
	PROFILE_ORDER_TOTAL,
	PROFILE_ORDER_NAME,
	PROFILE_ORDERS,
};
extern const char *const profile_order_words[PROFILE_ORDERS + 1];

struct profile_row {
	uint32_t key; /* function, thread …, by what the report is; of an object its first function */
	const char *name;   /* borrowed */
	const char *object; /* of a function its object, of a thread its process; else "" */
	uint64_t self[PROFILE_VALUES], total[PROFILE_VALUES];
	uint64_t kernel, guest; /* of its own samples those in the kernel, and those in a guest */
	uint64_t seen;	/* number of the sample that it was last in */
};

struct profile_report;

/* Runs the walk; its listener is the report's. */
int profile_report_new(struct profile_report **ret, const struct profile_walk *w,
		       enum profile_by by, struct error *e);
void profile_report_free(struct profile_report *r);
DEFINE_CLEANUP(profile_report, profile_report_free)

/* By that value, the largest first. */
void profile_report_sort(struct profile_report *r, enum profile_order order,
			 enum profile_value value);

/* Leaves out rows whose name does not fit the pattern (NULL fits all), and whose total is below that share of all. */
void profile_report_filter(struct profile_report *r, const char *pattern, double percent,
			   enum profile_value value);

enum profile_by profile_report_by(const struct profile_report *r);
const struct profile_row *profile_report_get(const struct profile_report *r, size_t *ret_n);
const struct profile_totals *profile_report_totals(const struct profile_report *r);

#endif
