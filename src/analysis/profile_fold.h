/* SPDX-License-Identifier: MIT */
/*
 * profile_fold: a tree of stacks with few enough nodes to be drawn.
 *
 * The largest are kept, and what is left out below a node becomes one row, "the others", with its sums. So in whatever is
 * shown a row's own part and the totals of the rows right below it add up to its total.
 */
#ifndef KISEKI_ANALYSIS_PROFILE_FOLD_H
#define KISEKI_ANALYSIS_PROFILE_FOLD_H

#include "analysis/profile_stacks.h"

#define PROFILE_FOLD_ROWS_MAX 200000U

struct profile_fold_options {
	uint32_t depth;		  /* levels; 0: all */
	uint64_t least;		  /* nodes with less in total are left out */
	uint64_t limit;		  /* nodes that are kept, up to PROFILE_FOLD_ROWS_MAX */
	enum profile_value value; /* of which */
};

/* In the order of the tree: what stands for the others comes behind the nodes that have more. */
struct profile_fold_row {
	uint32_t key;		       /* PROFILE_NODE_NONE: the others */
	uint32_t depth;		       /* of the outermost 0 */
	uint64_t nodes;		       /* that it stands for: 1, or how many others */
	uint64_t self[PROFILE_VALUES]; /* of others: all that they have */
	uint64_t total[PROFILE_VALUES];
};

struct profile_fold;

/* The tree is sorted by that value, and stays the caller's. */
int profile_fold_new(struct profile_fold **ret, const struct profile_tree *t,
		     const struct profile_fold_options *o, struct error *e);
void profile_fold_free(struct profile_fold *f);
DEFINE_CLEANUP(profile_fold, profile_fold_free)

const struct profile_fold_row *profile_fold_get(const struct profile_fold *f, size_t *ret_n);

#endif
