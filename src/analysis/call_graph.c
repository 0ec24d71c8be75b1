/* SPDX-License-Identifier: MIT */
/*
 * call_graph: see call_graph.h.
 *
 * Edges are gathered in an array by function: as large as there are functions, and read once.
 */
#include "analysis/call_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One for each function, and behind them one for nobody. */
struct gathered {
	struct call_edge *callers, *callees;
	size_t n;
};

static void add_edge(struct call_edge *list, size_t place, const struct call_node *n, bool timed)
{
	list[place].calls += n->calls;
	if (timed)
		list[place].total_ns += n->total_ns;
}

static void add_node(struct call_graph *g, const struct gathered *all,
		     const struct call_node *nodes, const struct call_node *n)
{
	const struct call_node *parent = &nodes[n->parent];

	if (n->function == g->function) {
		g->calls += n->calls;
		g->total_ns += n->recursive ? 0 : n->total_ns;
		call_split_add(&g->local, &n->local);
		add_edge(all->callers, n->parent ? parent->function : all->n - 1, n, !n->recursive);
	}
	if (n->parent && parent->function == g->function)
		add_edge(all->callees, n->function, n, !parent->recursive);
}

static int compare(const void *pa, const void *pb)
{
	const struct call_edge *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	if (a->calls != b->calls)
		return a->calls < b->calls ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

/* Moves the used edges to the front, and sorts them. */
static size_t settle(struct call_edge *list, size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++) {
		if (!list[i].calls)
			continue;
		list[kept] = list[i];
		list[kept++].function = i + 1 < n ? (uint32_t)i : CALL_NODE_NONE;
	}
	qsort(list, kept, sizeof(*list), compare);
	return kept;
}

int call_graph_init(struct call_graph *g, const struct call_tree *t, uint32_t function,
		    struct error *e)
{
	struct gathered all = { .n = call_names_count(call_tree_names(t)) + 1 };
	const struct call_node *nodes;
	size_t n, i;

	memset(g, 0, sizeof(*g));
	g->function = function;
	g->callers = all.callers = calloc(all.n, sizeof(*all.callers));
	g->callees = all.callees = calloc(all.n, sizeof(*all.callees));
	if (!all.callers || !all.callees) {
		call_graph_done(g);
		return error_set(e, ENOMEM, "cannot make the graph: out of memory");
	}
	nodes = call_tree_get(t, &n);
	for (i = 1; i < n; i++)
		add_node(g, &all, nodes, &nodes[i]);
	if (!g->calls) {
		call_graph_done(g);
		return error_set(e, ENOENT, "cannot make the graph: the function was not called");
	}
	g->n_callers = settle(g->callers, all.n);
	g->n_callees = settle(g->callees, all.n);
	return 0;
}

void call_graph_done(struct call_graph *g)
{
	free(g->callers);
	free(g->callees);
	memset(g, 0, sizeof(*g));
}
