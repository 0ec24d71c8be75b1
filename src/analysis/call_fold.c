/* SPDX-License-Identifier: MIT */
/*
 * call_fold: see call_fold.h.
 *
 * Nodes are numbered in the order in which they were first seen, so a parent's number is less than its
 * children's, and its time is not less than theirs, as fold.h wants it. Trees are as deep as stacks, so nothing here
 * calls itself.
 */
#include "analysis/call_fold.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/fold.h"

struct call_fold {
	const struct call_tree *tree;
	const struct call_node *nodes;
	size_t n_nodes;
	/* By node: FOLD_KEPT; else the node that is left out topmost above it, or it itself. */
	uint32_t *top;
	uint32_t *others; /* by node that is kept: its row of others + 1 */
	struct call_fold_row *rows;
	size_t n;
};

/* A tree and what is wanted of it. */
struct choice {
	const struct call_node *nodes;
	const struct call_fold_options *o;
};

static bool is_wanted(const void *data, uint32_t node)
{
	const struct choice *c = data;
	const struct call_node *n = &c->nodes[node];

	return n->total_ns >= c->o->min_ns && (!c->o->depth || n->depth <= c->o->depth);
}

static uint32_t parent_of(const void *data, uint32_t node)
{
	return ((const struct choice *)data)->nodes[node].parent;
}

static uint64_t total_of(const void *data, uint32_t node)
{
	return ((const struct choice *)data)->nodes[node].total_ns;
}

/* Marks what is kept; returns how many are. */
static size_t choose(struct call_fold *f, const struct call_fold_options *o)
{
	const struct choice c = { f->nodes, o };
	const struct fold_tree t = { &c, f->n_nodes, parent_of, total_of, is_wanted };

	return fold_choose(&t, o->limit < CALL_FOLD_ROWS_MAX ? o->limit : CALL_FOLD_ROWS_MAX,
			   f->top, f->others); /* nobody uses the others yet */
}

static void push_node(struct call_fold *f, uint32_t node)
{
	const struct call_node *n = &f->nodes[node];
	struct call_fold_row *row = &f->rows[f->n++];
	int i;

	*row = (struct call_fold_row){ .function = n->function,
				       .depth = n->depth - 1,
				       .nodes = 1,
				       .calls = n->calls,
				       .total_ns = n->total_ns,
				       .local = n->local };
	for (i = 0; i < CALL_ENDS; i++)
		row->ends[i] = n->ends[i];
}

static void push_others(struct call_fold *f, uint32_t node)
{
	const struct call_node *n = &f->nodes[node];

	if (f->others[n->parent])
		return;
	f->rows[f->n++] =
		(struct call_fold_row){ .function = CALL_NODE_NONE, .depth = n->depth - 1 };
	f->others[n->parent] = (uint32_t)f->n;
}

static void add_other(struct call_fold *f, uint32_t node)
{
	const struct call_node *n = &f->nodes[node];
	struct call_fold_row *row = &f->rows[f->others[f->nodes[f->top[node]].parent] - 1];
	int i;

	row->nodes++;
	call_split_add(&row->local, &n->local);
	if (f->top[node] != node)
		return;
	row->calls += n->calls;
	row->total_ns += n->total_ns;
	for (i = 0; i < CALL_ENDS; i++)
		row->ends[i] += n->ends[i];
}

static void make_rows(struct call_fold *f)
{
	uint32_t i;

	for (i = 0; i < f->n_nodes; i++)
		f->others[i] = 0;
	for (i = call_tree_next(f->tree, 0, false); i != CALL_NODE_NONE;
	     i = call_tree_next(f->tree, i, f->top[i] != FOLD_KEPT))
		if (f->top[i] == FOLD_KEPT)
			push_node(f, i);
		else
			push_others(f, i);
	for (i = 1; i < f->n_nodes; i++)
		if (f->top[i] != FOLD_KEPT)
			add_other(f, i);
}

int call_fold_new(struct call_fold **ret, const struct call_tree *t,
		  const struct call_fold_options *o, struct error *e)
{
	CLEANUP(call_fold) struct call_fold *f = calloc(1, sizeof(*f));
	size_t kept;

	if (!f)
		return error_set(e, ENOMEM, "cannot fold the call tree: out of memory");
	f->tree = t;
	f->nodes = call_tree_get(t, &f->n_nodes);
	f->top = calloc(f->n_nodes + 1, sizeof(*f->top));
	f->others = calloc(f->n_nodes + 1, sizeof(*f->others));
	if (!f->top || !f->others)
		return error_set(e, ENOMEM, "cannot fold the call tree: out of memory");
	kept = choose(f, o);
	/* Each that is kept, and the root, may have one of others. */
	f->rows = calloc(2 * kept + 1, sizeof(*f->rows));
	if (!f->rows)
		return error_set(e, ENOMEM, "cannot fold the call tree: out of memory");
	make_rows(f);
	*ret = take_ptr(f);
	return 0;
}

void call_fold_free(struct call_fold *f)
{
	if (!f)
		return;
	free(f->top);
	free(f->others);
	free(f->rows);
	free(f);
}

const struct call_fold_row *call_fold_get(const struct call_fold *f, size_t *ret_n)
{
	*ret_n = f->n;
	return f->rows;
}

const struct call_tree *call_fold_tree(const struct call_fold *f)
{
	return f->tree;
}
