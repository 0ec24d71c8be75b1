/* SPDX-License-Identifier: MIT */
/* fleet_tree: see fleet_tree.h. */
#include "cli/fleet_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/device_json.h"
#include "facts/fact_set.h"

#define VALUES_MAX (2 * FACT_VALUES)

/* A node of the answer. */
struct row {
	uint32_t parent; /* its row + 1; 0: the root */
	uint32_t key;
	bool is_process;
	uint64_t own[VALUES_MAX];
};

struct reading {
	struct fleet_tree *t;
	const struct fleet_tree_shape *shape;
	size_t n_values;
	struct row *rows; /* the root first */
	size_t n;
	uint32_t path[FLEET_TREE_DEPTH_MAX + 1]; /* rows from the root on */
};

void fleet_tree_done(struct fleet_tree *t)
{
	profile_tree_free(t->tree);
	t->tree = NULL;
	functions_done(&t->functions);
}

static int not_known(struct error *e)
{
	return error_set(e, EBADMSG, "cannot draw: the answer is no tree of stacks");
}

static bool get_count(const json_t *o, const char *name, uint64_t *ret)
{
	const json_t *v = json_object_get(o, name);

	*ret = (uint64_t)json_integer_value(v);
	return json_is_integer(v) && json_integer_value(v) >= 0;
}

/* Samples and time: {"samples": 1, "ns": 2}, where trees of one side say "weight". */
static bool get_values(const json_t *o, uint64_t ret[FACT_VALUES])
{
	return get_count(o, "samples", &ret[0]) &&
	       (get_count(o, "ns", &ret[1]) || get_count(o, "weight", &ret[1]));
}

static bool get_totals(const struct reading *r, const json_t *node, uint64_t ret[VALUES_MAX])
{
	if (!r->shape->is_diff)
		return get_values(json_object_get(node, "total"), ret);
	return get_values(device_json_get(node, "before.total"), ret) &&
	       get_values(device_json_get(node, "after.total"), ret + FACT_VALUES);
}

/* All of each side: what no node has is the root's. */
static bool get_all(const struct reading *r, const json_t *document, uint64_t ret[VALUES_MAX])
{
	if (!r->shape->is_diff)
		return get_values(device_json_get(document, "basis.all"), ret);
	return get_values(device_json_get(document, "before.all"), ret) &&
	       get_values(device_json_get(document, "after.all"), ret + FACT_VALUES);
}

/* What a node has in all is no longer its parent's own. */
static bool take_from_parent(struct reading *r, struct row *row)
{
	struct row *parent = &r->rows[row->parent];
	size_t i;

	for (i = 0; i < r->n_values; i++) {
		if (row->own[i] > parent->own[i])
			return false;
		parent->own[i] -= row->own[i];
	}
	return true;
}

static int read_node(struct reading *r, const json_t *node, uint32_t *depth, struct error *e)
{
	const json_t *name = json_object_get(node, "name"),
		     *object = json_object_get(node, "object");
	struct row *row = &r->rows[r->n];
	const char *file = json_is_string(object) ? json_string_value(object) : "";
	uint64_t at;
	int code;

	if (!json_is_string(name) || !get_count(node, "depth", &at) || at > *depth ||
	    at >= FLEET_TREE_DEPTH_MAX || !get_totals(r, node, row->own))
		return not_known(e);
	row->parent = r->path[at];
	row->is_process = at == 0 && !strcmp(file, "process");
	if (!take_from_parent(r, row))
		return not_known(e);
	code = functions_find_label(&r->t->functions, json_string_value(name), file, &row->key);
	if (code < 0)
		return error_set(e, -code, "cannot draw: %s", strerror(-code));
	*depth = (uint32_t)at + 1;
	r->path[*depth] = (uint32_t)r->n++;
	return 0;
}

static int read_nodes(struct reading *r, const json_t *document, struct error *e)
{
	const json_t *nodes = json_object_get(document, "nodes");
	uint32_t depth = 0;
	size_t i;
	int code = 0;

	if (!json_is_array(nodes) || !get_all(r, document, r->rows[0].own))
		return not_known(e);
	r->n = 1;
	for (i = 0; code == 0 && i < json_array_size(nodes); i++)
		code = read_node(r, json_array_get(nodes, i), &depth, e);
	return code;
}

/* --- the tree --- */

/* The node of a row whose callers stand above it. */
static int find_node(struct reading *r, uint32_t row, uint32_t *nodes)
{
	const struct row *x = &r->rows[row];

	if (x->is_process && r->shape->ungrouped)
		nodes[row] = 0;
	else
		return profile_tree_find(r->t->tree, nodes[x->parent], x->key, &nodes[row]);
	return 0;
}

/* The same turned around: from the function to its outermost caller, below its process. */
static int find_turned(struct reading *r, uint32_t row, uint32_t *ret)
{
	uint32_t up, top = row;
	int code = 0;

	while (r->rows[top].parent)
		top = r->rows[top].parent;
	*ret = 0;
	if (r->rows[top].is_process && !r->shape->ungrouped)
		code = profile_tree_find(r->t->tree, 0, r->rows[top].key, ret);
	for (up = row; code == 0 && up && !r->rows[up].is_process; up = r->rows[up].parent)
		code = profile_tree_find(r->t->tree, *ret, r->rows[up].key, ret);
	return code;
}

static int make_tree(struct reading *r)
{
	_cleanup_free_ uint32_t *nodes = calloc(r->n, sizeof(*nodes));
	static const uint64_t nothing[VALUES_MAX];
	uint32_t i;
	int code = profile_tree_new(&r->t->tree, r->n_values);

	if (!nodes)
		return -ENOMEM;
	for (i = 0; code == 0 && i < r->n; i++) {
		if (!memcmp(r->rows[i].own, nothing, sizeof(nothing)) && r->shape->turned)
			continue;
		if (i)
			code = r->shape->turned ? find_turned(r, i, &nodes[i])
						: find_node(r, i, nodes);
		if (code == 0)
			profile_tree_add(r->t->tree, nodes[i], r->rows[i].own);
	}
	return code;
}

int fleet_tree_init(struct fleet_tree *t, const json_t *document,
		    const struct fleet_tree_shape *shape, struct error *e)
{
	struct reading r = { .t = t,
			     .shape = shape,
			     .n_values = shape->is_diff ? VALUES_MAX : FACT_VALUES };
	size_t n = json_array_size(json_object_get(document, "nodes"));
	int code;

	t->tree = NULL;
	functions_init(&t->functions);
	r.rows = calloc(n + 1, sizeof(*r.rows));
	code = r.rows ? read_nodes(&r, document, e)
		      : error_set(e, ENOMEM, "cannot draw: out of memory");
	if (code == 0 && make_tree(&r) < 0)
		code = error_set(e, ENOMEM, "cannot draw: out of memory");
	free(r.rows);
	if (code < 0)
		fleet_tree_done(t);
	return code;
}
