/* SPDX-License-Identifier: MIT */
/*
 * call_graph: one function in the middle, who calls it and whom it calls.
 *
 * Made from a call_tree. A caller's time is that which its calls of the function took; a callee's is
 * that which it took when the function called it. Where the function is below itself only its outermost calls
 * are counted as time, all are counted as calls: so the callers' times add up to the function's total, and no
 * moment is counted twice.
 */
#ifndef KISEKI_ANALYSIS_CALL_GRAPH_H
#define KISEKI_ANALYSIS_CALL_GRAPH_H

#include "analysis/call_tree.h"

struct call_edge {
	uint32_t function; /* CALL_NODE_NONE: nobody, it is outermost */
	uint64_t calls;
	uint64_t total_ns;
};

struct call_graph {
	uint32_t function;
	uint64_t calls;
	uint64_t total_ns; /* recursion counts once */
	struct call_split local;
	struct call_edge *callers, *callees; /* by time, largest first */
	size_t n_callers, n_callees;
};

/* -ENOENT: the tree has no call of it. */
int call_graph_init(struct call_graph *g, const struct call_tree *t, uint32_t function,
		    struct error *e);
void call_graph_done(struct call_graph *g);

#endif
