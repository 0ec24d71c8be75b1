/* SPDX-License-Identifier: MIT */
/*
 * profile_diff: two profiles side by side: what takes a larger share of the time than before, and what a smaller one.
 *
 * Profiles are of different lengths and have different numbers of samples, so what is compared are shares of all that
 * each has. Functions of the two are the same if their names are, and the names of their files: a program that was
 * built again has its functions at other places. Rows and trees are joined the same way.
 */
#ifndef KISEKI_ANALYSIS_PROFILE_DIFF_H
#define KISEKI_ANALYSIS_PROFILE_DIFF_H

#include "analysis/profile_report.h"
#include "analysis/profile_stacks.h"

struct profile_change {
	const char *name, *object;	  /* borrowed from the reports */
	const struct profile_row *before; /* NULL: it is new */
	const struct profile_row *after;  /* NULL: it is gone */
};

struct profile_diff;

/* The reports stay the caller's, and must not be sorted or filtered as long as this lives. Shares are of that value. */
int profile_diff_new(struct profile_diff **ret, const struct profile_report *before,
		     const struct profile_report *after, enum profile_value value, struct error *e);
void profile_diff_free(struct profile_diff *d);
DEFINE_CLEANUP(profile_diff, profile_diff_free)

/* The largest growth first, the largest shrinkage last. */
void profile_diff_sort(struct profile_diff *d, enum profile_order order);
const struct profile_change *profile_diff_get(const struct profile_diff *d, size_t *ret_n);
const struct profile_report *profile_diff_report(const struct profile_diff *d, int which); /* 0: before */

/* Percent of all, own or total; 0 where there is no row. */
double profile_diff_share(const struct profile_diff *d, const struct profile_change *c, int which,
			  enum profile_order order);

/* The stacks of two profiles in one tree: its values are those of the first, then those of the second; its keys are
 * functions of `functions`, which are the caller's to free. */
struct profile_join {
	struct profile_tree *tree; /* with 2 * PROFILE_VALUES values */
	struct functions functions;
};
int profile_join_init(struct profile_join *j, const struct profile_stacks *before,
		      const struct profile_stacks *after, struct error *e);
void profile_join_done(struct profile_join *j);
#define CLEANUP_PROFILE_JOIN __attribute__((cleanup(profile_join_done)))

/* Children by what both have together, the largest first. -ENOMEM. */
int profile_join_sort(struct profile_join *j, enum profile_value by);

#endif
