/* SPDX-License-Identifier: MIT */
/*
 * call_tree: all calls merged by their path: who called whom, from the outermost function down.
 *
 * A node stands for all calls with the same path of functions, in all threads that are looked at.
 * Its local time and the total times of its children add up to its total time. Beyond CALL_NODES_MAX paths (a deep
 * recursion in many forms) further ones are folded into their caller's node and counted.
 *
 * It is what folded stacks, pprof and call_graph are made of.
 */
#ifndef KISEKI_ANALYSIS_CALL_TREE_H
#define KISEKI_ANALYSIS_CALL_TREE_H

#include "analysis/call_walk.h"

#define CALL_NODES_MAX (1U << 22)
#define CALL_NODE_NONE UINT32_MAX

struct call_node {
	uint32_t function; /* CALL_NODE_NONE: the root, which is no function */
	uint32_t parent;
	uint32_t child, next; /* first child, next sibling; CALL_NODE_NONE: there is none */
	uint32_t depth;	      /* of the root 0 */
	bool recursive;	      /* a node above it has the same function */
	uint64_t calls;
	uint64_t ends[CALL_ENDS];
	uint64_t total_ns;
	struct call_split local;
};

struct call_tree;

/* Runs the walk; its listener is the tree's. */
int call_tree_new(struct call_tree **ret, const struct call_walk *w, struct error *e);
void call_tree_free(struct call_tree *t);
DEFINE_CLEANUP(call_tree, call_tree_free)

/* Children with the most total time first. */
void call_tree_sort(struct call_tree *t);

/* Node 0 is the root; its total is that of all outermost calls. */
const struct call_node *call_tree_get(const struct call_tree *t, size_t *ret_n);
const struct call_totals *call_tree_totals(const struct call_tree *t);
const struct call_names *call_tree_names(const struct call_tree *t);
uint64_t call_tree_folded(const struct call_tree *t); /* calls that have no node of their own */

/* The node behind this one in the order of the tree (first its children, unless `skip`), or
 * CALL_NODE_NONE. */
uint32_t call_tree_next(const struct call_tree *t, uint32_t node, bool skip);

#endif
