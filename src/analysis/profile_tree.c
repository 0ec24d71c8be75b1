/* SPDX-License-Identifier: MIT */
/* profile_tree: see profile_tree.h. */
#include "analysis/profile_tree.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

#define SLOTS_LEAST 256U

struct profile_tree {
	size_t n_values;
	struct profile_node *nodes;
	uint64_t *values; /* of each node its own, then its totals */
	size_t n, room, room_values;
	uint32_t *slots; /* nodes by parent and key; 0: free, since the root is nobody's child */
	size_t n_slots;	 /* a power of two */
	uint64_t folded;
};

static size_t slot_of(const struct profile_tree *t, uint32_t parent, uint32_t key)
{
	uint64_t h = ((uint64_t)parent << 32 | key) * 0x9e3779b97f4a7c15ULL;
	size_t at = (size_t)(h >> 32) & (t->n_slots - 1);
	const struct profile_node *n;

	for (; t->slots[at]; at = (at + 1) & (t->n_slots - 1)) {
		n = &t->nodes[t->slots[at]];
		if (n->parent == parent && n->key == key)
			break;
	}
	return at;
}

static int grow_slots(struct profile_tree *t)
{
	size_t n_slots = t->n_slots ? 2 * t->n_slots : SLOTS_LEAST, i;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->n_slots = n_slots;
	for (i = 1; i < t->n; i++)
		slots[slot_of(t, t->nodes[i].parent, t->nodes[i].key)] = (uint32_t)i;
	return 0;
}

static int add_node(struct profile_tree *t, uint32_t parent, uint32_t key)
{
	size_t width = 2 * t->n_values;
	struct profile_node *n;
	int r = array_grow(&t->nodes, t->n, &t->room, sizeof(*t->nodes), PROFILE_NODES_MAX);

	if (r >= 0)
		r = array_grow(&t->values, t->n, &t->room_values, width * sizeof(*t->values),
			       PROFILE_NODES_MAX);
	if (r < 0)
		return r;
	n = &t->nodes[t->n];
	*n = (struct profile_node){
		.key = key, .parent = parent, .child = PROFILE_NODE_NONE, .next = PROFILE_NODE_NONE
	};
	memset(t->values + t->n * width, 0, width * sizeof(*t->values));
	if (t->n) {
		n->depth = t->nodes[parent].depth + 1;
		n->next = t->nodes[parent].child;
		t->nodes[parent].child = (uint32_t)t->n;
	}
	t->n++;
	return 0;
}

int profile_tree_new(struct profile_tree **ret, size_t n_values)
{
	CLEANUP(profile_tree) struct profile_tree *t = calloc(1, sizeof(*t));

	assert(n_values && n_values <= PROFILE_TREE_VALUES_MAX);
	if (!t)
		return -ENOMEM;
	t->n_values = n_values;
	if (add_node(t, PROFILE_NODE_NONE, PROFILE_NODE_NONE) < 0 || grow_slots(t) < 0)
		return -ENOMEM;
	*ret = take_ptr(t);
	return 0;
}

void profile_tree_free(struct profile_tree *t)
{
	if (!t)
		return;
	free(t->nodes);
	free(t->values);
	free(t->slots);
	free(t);
}

int profile_tree_find(struct profile_tree *t, uint32_t parent, uint32_t key, uint32_t *ret)
{
	size_t at;
	int r = 0;

	if ((t->n + 1) * 4 > t->n_slots * 3)
		r = grow_slots(t);
	if (r < 0)
		return r;
	at = slot_of(t, parent, key);
	if (!t->slots[at]) {
		r = add_node(t, parent, key);
		if (r == -E2BIG) {
			t->folded++;
			*ret = parent;
			return 0;
		}
		if (r < 0)
			return r;
		t->slots[at] = (uint32_t)t->n - 1;
	}
	*ret = t->slots[at];
	return 0;
}

void profile_tree_add(struct profile_tree *t, uint32_t node, const uint64_t *values)
{
	uint64_t *to = t->values + node * 2 * t->n_values;
	size_t i;

	for (i = 0; i < t->n_values; i++)
		to[i] += values[i];
	for (; node != PROFILE_NODE_NONE; node = t->nodes[node].parent) {
		to = t->values + (node * 2 + 1) * t->n_values;
		for (i = 0; i < t->n_values; i++)
			to[i] += values[i];
	}
}

/* --- order --- */

struct sorting {
	const struct profile_tree *tree;
	size_t value;
	profile_tree_compare compare;
	const void *data;
};

static int compare_nodes(const void *a, const void *b, void *data)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct sorting *s = data;
	uint64_t p = profile_tree_total(s->tree, x)[s->value];
	uint64_t q = profile_tree_total(s->tree, y)[s->value];

	if (p != q)
		return p < q ? 1 : -1;
	return s->compare(s->data, s->tree->nodes[x].key, s->tree->nodes[y].key);
}

/* The children of one node; `list` has room for all. */
static void sort_children(struct profile_tree *t, uint32_t node, uint32_t *list, struct sorting *s)
{
	uint32_t child, *link = &t->nodes[node].child;
	size_t n = 0, i;

	for (child = *link; child != PROFILE_NODE_NONE; child = t->nodes[child].next)
		list[n++] = child;
	qsort_r(list, n, sizeof(*list), compare_nodes, s);
	for (i = 0; i < n; i++) {
		*link = list[i];
		link = &t->nodes[list[i]].next;
	}
	*link = PROFILE_NODE_NONE;
}

int profile_tree_sort(struct profile_tree *t, size_t value, profile_tree_compare compare,
		      const void *data)
{
	struct sorting s = { .tree = t, .value = value, .compare = compare, .data = data };
	_cleanup_free_ uint32_t *list = calloc(t->n, sizeof(*list));
	uint32_t i;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < t->n; i++)
		if (t->nodes[i].child != PROFILE_NODE_NONE)
			sort_children(t, i, list, &s);
	return 0;
}

/* --- what is in it --- */

size_t profile_tree_count(const struct profile_tree *t)
{
	return t->n;
}

uint32_t profile_tree_depth(const struct profile_tree *t)
{
	uint32_t most = 0;
	size_t i;

	for (i = 0; i < t->n; i++)
		most = t->nodes[i].depth > most ? t->nodes[i].depth : most;
	return most;
}

size_t profile_tree_values(const struct profile_tree *t)
{
	return t->n_values;
}

const struct profile_node *profile_tree_get(const struct profile_tree *t, uint32_t node)
{
	return &t->nodes[node];
}

const uint64_t *profile_tree_self(const struct profile_tree *t, uint32_t node)
{
	return t->values + node * 2 * t->n_values;
}

const uint64_t *profile_tree_total(const struct profile_tree *t, uint32_t node)
{
	return t->values + (node * 2 + 1) * t->n_values;
}

uint64_t profile_tree_folded(const struct profile_tree *t)
{
	return t->folded;
}

uint32_t profile_tree_next(const struct profile_tree *t, uint32_t node, bool skip)
{
	if (!skip && t->nodes[node].child != PROFILE_NODE_NONE)
		return t->nodes[node].child;
	while (node && t->nodes[node].next == PROFILE_NODE_NONE)
		node = t->nodes[node].parent;
	return node ? t->nodes[node].next : PROFILE_NODE_NONE;
}
