/* SPDX-License-Identifier: MIT */
/* call_tree: see call_tree.h. */
#include "analysis/call_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

#define SLOTS_LEAST 256U

struct call_tree {
	const struct call_names *names;
	struct call_node *nodes;
	size_t n, room;
	uint32_t *
		slots; /* nodes by parent and function; 0: free, since the root is nobody's child */
	size_t n_slots; /* a power of two */
	struct call_totals totals;
	uint64_t folded;
};

/* --- nodes --- */

static size_t slot_of(const struct call_tree *t, uint32_t parent, uint32_t function)
{
	uint64_t h = ((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15ULL;
	size_t at = (size_t)(h >> 32) & (t->n_slots - 1);
	const struct call_node *n;

	for (; t->slots[at]; at = (at + 1) & (t->n_slots - 1)) {
		n = &t->nodes[t->slots[at]];
		if (n->parent == parent && n->function == function)
			break;
	}
	return at;
}

static int grow_slots(struct call_tree *t)
{
	size_t n_slots = t->n_slots ? 2 * t->n_slots : SLOTS_LEAST, i;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->n_slots = n_slots;
	for (i = 1; i < t->n; i++)
		slots[slot_of(t, t->nodes[i].parent, t->nodes[i].function)] = (uint32_t)i;
	return 0;
}

static int add_node(struct call_tree *t, uint32_t parent, uint32_t function, bool recursive)
{
	struct call_node *n;
	int r = array_grow(&t->nodes, t->n, &t->room, sizeof(*t->nodes), CALL_NODES_MAX);

	if (r < 0)
		return r;
	n = &t->nodes[t->n];
	memset(n, 0, sizeof(*n));
	n->function = function;
	n->parent = parent;
	n->child = n->next = CALL_NODE_NONE;
	n->recursive = recursive;
	if (t->n) {
		n->depth = t->nodes[parent].depth + 1;
		n->next = t->nodes[parent].child;
		t->nodes[parent].child = (uint32_t)t->n;
	}
	t->n++;
	return 0;
}

/* The node of this child, made if it is new; the parent itself if there are too many. */
static int get_child(struct call_tree *t, uint32_t parent, const struct call *c, uint32_t *ret)
{
	size_t at;
	int r = 0;

	if ((t->n + 1) * 4 > t->n_slots * 3)
		r = grow_slots(t);
	if (r < 0)
		return r;
	at = slot_of(t, parent, c->function);
	if (!t->slots[at]) {
		r = add_node(t, parent, c->function, c->recursive);
		if (r == -E2BIG) {
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

/* --- the walk --- */

/* A call that was folded has its caller's node; marks tell them apart. */
#define FOLDED (1U << 31)

static int begin(void *data, const struct call_at *at)
{
	struct call_tree *t = data;
	uint32_t parent = at->caller ? at->caller->mark & ~FOLDED : 0, node = 0;
	int r = get_child(t, parent, at->call, &node);

	if (r < 0)
		return r;
	at->call->mark = node;
	if (node == parent) {
		at->call->mark |= FOLDED;
		t->folded++;
	} else {
		t->nodes[node].calls++;
	}
	return 0;
}

static int end(void *data, const struct call_at *at)
{
	struct call_tree *t = data;
	struct call_node *n = &t->nodes[at->call->mark & ~FOLDED];

	call_split_add(&n->local, &at->call->local);
	if (at->call->mark & FOLDED)
		return 0;
	n->ends[at->end]++;
	n->total_ns += at->ns - at->call->begin_ns;
	if (!at->caller)
		t->nodes[0].total_ns += at->ns - at->call->begin_ns;
	return 0;
}

static const struct call_listener listener = { .begin = begin, .end = end };

int call_tree_new(struct call_tree **ret, const struct call_walk *w, struct error *e)
{
	CLEANUP(call_tree) struct call_tree *t = calloc(1, sizeof(*t));
	struct call_walk mine = *w;
	int r;

	if (!t || add_node(t, CALL_NODE_NONE, CALL_NODE_NONE, false) < 0)
		return error_set(e, ENOMEM, "cannot make the call tree: out of memory");
	mine.listener = &listener;
	mine.data = t;
	t->names = w->names;
	r = call_walk_run(&mine, &t->totals, e);
	if (r >= 0)
		*ret = take_ptr(t);
	return r;
}

void call_tree_free(struct call_tree *t)
{
	if (!t)
		return;
	free(t->nodes);
	free(t->slots);
	free(t);
}

/* --- order --- */

/* Positive if b comes first. */
static int compare(const struct call_tree *t, uint32_t a, uint32_t b)
{
	const struct call_node *x = &t->nodes[a], *y = &t->nodes[b];

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return strcmp(call_names_get(t->names, x->function)->name,
		      call_names_get(t->names, y->function)->name);
}

static uint32_t merge(struct call_tree *t, uint32_t a, uint32_t b)
{
	uint32_t first = CALL_NODE_NONE, *tail = &first;

	while (a != CALL_NODE_NONE && b != CALL_NODE_NONE) {
		uint32_t *from = compare(t, a, b) > 0 ? &b : &a;

		*tail = *from;
		tail = &t->nodes[*from].next;
		*from = *tail;
	}
	*tail = a != CALL_NODE_NONE ? a : b;
	return first;
}

/* Sorts a list of siblings: runs of 1, 2, 4, … nodes wait in `runs` until an equal one comes. */
static uint32_t sort_list(struct call_tree *t, uint32_t list)
{
	uint32_t runs[32], node, next;
	int used = 0, i;

	for (; list != CALL_NODE_NONE; list = next) {
		next = t->nodes[list].next;
		t->nodes[list].next = CALL_NODE_NONE;
		node = list;
		for (i = 0; i < used && runs[i] != CALL_NODE_NONE; i++) {
			node = merge(t, runs[i], node);
			runs[i] = CALL_NODE_NONE;
		}
		used = i == used ? used + 1 : used;
		runs[i] = node;
	}
	for (node = CALL_NODE_NONE, i = 0; i < used; i++)
		node = merge(t, runs[i], node);
	return node;
}

void call_tree_sort(struct call_tree *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		t->nodes[i].child = sort_list(t, t->nodes[i].child);
}

const struct call_node *call_tree_get(const struct call_tree *t, size_t *ret_n)
{
	*ret_n = t->n;
	return t->nodes;
}

const struct call_totals *call_tree_totals(const struct call_tree *t)
{
	return &t->totals;
}

const struct call_names *call_tree_names(const struct call_tree *t)
{
	return t->names;
}

uint64_t call_tree_folded(const struct call_tree *t)
{
	return t->folded;
}

uint32_t call_tree_next(const struct call_tree *t, uint32_t node, bool skip)
{
	if (!skip && t->nodes[node].child != CALL_NODE_NONE)
		return t->nodes[node].child;
	while (node && t->nodes[node].next == CALL_NODE_NONE)
		node = t->nodes[node].parent;
	return node ? t->nodes[node].next : CALL_NODE_NONE;
}
