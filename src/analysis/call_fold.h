/* SPDX-License-Identifier: MIT */
/*
 * call_fold: a call tree with few enough nodes to be drawn.
 *
 * The nodes with the most time are kept; a node that is kept has all that lead to it. What is left out
 * below a node becomes one row, "the others", with their sum. So in whatever is shown the local time of a
 * row and the total times of the rows right below it add up to its total time, to the nanosecond.
 */
#ifndef KISEKI_ANALYSIS_CALL_FOLD_H
#define KISEKI_ANALYSIS_CALL_FOLD_H

#include "analysis/call_tree.h"

#define CALL_FOLD_ROWS_MAX 200000U

struct call_fold_options {
	uint32_t depth;	 /* levels; 0: all */
	uint64_t min_ns; /* nodes with less total time are left out */
	uint64_t limit;	 /* nodes that are kept, up to CALL_FOLD_ROWS_MAX */
};

/* In the order of the tree: what stands for the others comes behind the nodes that have more time. */
struct call_fold_row {
	uint32_t function; /* CALL_NODE_NONE: the others */
	uint32_t depth;	   /* of the outermost 0 */
	uint64_t nodes;	   /* that it stands for: 1, or how many others */
	uint64_t calls;
	uint64_t ends[CALL_ENDS];
	uint64_t total_ns;
	struct call_split local; /* of others: all their time */
};

struct call_fold;

/* The tree is sorted, and stays the caller's. */
int call_fold_new(struct call_fold **ret, const struct call_tree *t,
		  const struct call_fold_options *o, struct error *e);
void call_fold_free(struct call_fold *f);
DEFINE_CLEANUP(call_fold, call_fold_free)

const struct call_fold_row *call_fold_get(const struct call_fold *f, size_t *ret_n);
const struct call_tree *call_fold_tree(const struct call_fold *f);

#endif
