/* SPDX-License-Identifier: MIT */
/*
 * profile_fold: see profile_fold.h.
 *
 * What stands for the others below a node has the total of those that are left out topmost; all below them is part of it. Their
 * own parts are the same sum, since nothing is shown below that row.
 */
#include "analysis/profile_fold.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/fold.h"

struct profile_fold {
	const struct profile_tree *tree;
	size_t n_nodes;
	uint32_t *top;	  /* by node, as fold_choose() fills it */
	uint32_t *others; /* by node that is kept: its row of others + 1 */
	struct profile_fold_row *rows;
	size_t n;
};

/* A tree and what is wanted of it. */
struct choice {
	const struct profile_tree *tree;
	const struct profile_fold_options *o;
};

static uint64_t total_of(const void *data, uint32_t node)
{
	const struct choice *c = data;

	return profile_tree_total(c->tree, node)[c->o->value];
}

static uint32_t parent_of(const void *data, uint32_t node)
{
	return profile_tree_get(((const struct choice *)data)->tree, node)->parent;
}

static bool is_wanted(const void *data, uint32_t node)
{
	const struct choice *c = data;

	return total_of(data, node) >= c->o->least &&
	       (!c->o->depth || profile_tree_get(c->tree, node)->depth <= c->o->depth);
}

static size_t choose(struct profile_fold *f, const struct profile_fold_options *o)
{
	const struct choice c = { f->tree, o };
	const struct fold_tree t = { &c, f->n_nodes, parent_of, total_of, is_wanted };

	return fold_choose(&t, o->limit < PROFILE_FOLD_ROWS_MAX ? o->limit : PROFILE_FOLD_ROWS_MAX,
			   f->top, f->others); /* nobody uses the others yet */
}

static void push_node(struct profile_fold *f, uint32_t node)
{
	const struct profile_node *n = profile_tree_get(f->tree, node);
	struct profile_fold_row *row = &f->rows[f->n++];
	size_t i;

	*row = (struct profile_fold_row){ .key = n->key, .depth = n->depth - 1, .nodes = 1 };
	for (i = 0; i < PROFILE_VALUES; i++) {
		row->self[i] = profile_tree_self(f->tree, node)[i];
		row->total[i] = profile_tree_total(f->tree, node)[i];
	}
}

/* One that is left out right below a node that is kept. */
static void push_other(struct profile_fold *f, uint32_t node)
{
	const struct profile_node *n = profile_tree_get(f->tree, node);
	struct profile_fold_row *row;
	size_t i;

	if (!f->others[n->parent]) {
		f->rows[f->n++] = (struct profile_fold_row){ .key = PROFILE_NODE_NONE,
							     .depth = n->depth - 1 };
		f->others[n->parent] = (uint32_t)f->n;
	}
	row = &f->rows[f->others[n->parent] - 1];
	for (i = 0; i < PROFILE_VALUES; i++) {
		row->self[i] += profile_tree_total(f->tree, node)[i];
		row->total[i] = row->self[i];
	}
}

static void make_rows(struct profile_fold *f)
{
	uint32_t i;

	for (i = 0; i < f->n_nodes; i++)
		f->others[i] = 0;
	for (i = profile_tree_next(f->tree, 0, false); i != PROFILE_NODE_NONE;
	     i = profile_tree_next(f->tree, i, f->top[i] != FOLD_KEPT))
		if (f->top[i] == FOLD_KEPT)
			push_node(f, i);
		else
			push_other(f, i);
	for (i = 1; i < f->n_nodes; i++)
		if (f->top[i] != FOLD_KEPT)
			f->rows[f->others[profile_tree_get(f->tree, f->top[i])->parent] - 1]
				.nodes++;
}

int profile_fold_new(struct profile_fold **ret, const struct profile_tree *t,
		     const struct profile_fold_options *o, struct error *e)
{
	CLEANUP(profile_fold) struct profile_fold *f = calloc(1, sizeof(*f));
	size_t kept;

	if (!f)
		return error_set(e, ENOMEM, "cannot fold the tree of stacks: out of memory");
	f->tree = t;
	f->n_nodes = profile_tree_count(t);
	f->top = calloc(f->n_nodes, sizeof(*f->top));
	f->others = calloc(f->n_nodes, sizeof(*f->others));
	if (!f->top || !f->others)
		return error_set(e, ENOMEM, "cannot fold the tree of stacks: out of memory");
	kept = choose(f, o);
	/* Each that is kept, and the root, may have one of others. */
	f->rows = calloc(2 * kept + 1, sizeof(*f->rows));
	if (!f->rows)
		return error_set(e, ENOMEM, "cannot fold the tree of stacks: out of memory");
	make_rows(f);
	*ret = take_ptr(f);
	return 0;
}

void profile_fold_free(struct profile_fold *f)
{
	if (!f)
		return;
	free(f->top);
	free(f->others);
	free(f->rows);
	free(f);
}

const struct profile_fold_row *profile_fold_get(const struct profile_fold *f, size_t *ret_n)
{
	*ret_n = f->n;
	return f->rows;
}
