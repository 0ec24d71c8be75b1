/* SPDX-License-Identifier: MIT */
/*
 * symtab: see symtab.h.
 *
 * Edges are made by a sweep over the symbols in order of their starts, with a stack of those that are
 * not over: the innermost has the address. Pages are 256 bytes unless that would make more pages than
 * eight times the edges, as in a table of kernel modules that lie far apart or in a file made to
 * waste memory; then pages are larger, and a page with many edges is searched by halves.
 */
#include "symbol/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define PAGES_FREE 4096U /* always allowed, 16 KiB */
#define PAGES_PER_EDGE 8U
#define FIRST_ROOM 256U

_Static_assert(2ULL * SYMTAB_SYMBOLS_MAX * PAGES_PER_EDGE + PAGES_FREE < UINT32_MAX,
	       "the number of a page has 32 bits");

struct symtab {
	struct symtab_item *items; /* until indexed */
	size_t n, room;
	void **taken;
	size_t n_taken;
	struct symtab_symbol *symbols;
	uint8_t *edge, *places, *pages; /* what the edges point to */
	struct edges edges;
};

struct symtab *symtab_new(void)
{
	return calloc(1, sizeof(struct symtab));
}

void symtab_free(struct symtab *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->n_taken; i++)
		free(t->taken[i]);
	free(t->taken);
	free(t->items);
	free(t->symbols);
	free(t->edge);
	free(t->places);
	free(t->pages);
	free(t);
}

int symtab_take(struct symtab *t, void *memory)
{
	const size_t n = t->n_taken;
	void **moved = t->taken;

	/* Full at each power of two, and then doubled. */
	if ((n & (n - 1)) == 0)
		moved = realloc(t->taken, (n ? 2 * n : 1) * sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	t->taken = moved;
	t->taken[t->n_taken++] = memory;
	return 0;
}

int symtab_push(struct symtab *t, const struct symtab_item *item)
{
	size_t room = t->room ? t->room * 2 : FIRST_ROOM;
	struct symtab_item *moved;

	if (t->n >= SYMTAB_SYMBOLS_MAX)
		return -E2BIG;
	if (t->n == t->room) {
		moved = realloc(t->items, room * sizeof(*moved));
		if (!moved)
			return -ENOMEM;
		t->items = moved;
		t->room = room;
	}
	t->items[t->n++] = *item;
	return 0;
}

size_t symtab_count(const struct symtab *t)
{
	return t->n;
}

static int compare_items(const void *left, const void *right)
{
	const struct symtab_item *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->name_len != b->name_len)
		return a->name_len < b->name_len ? -1 : 1;
	return memcmp(a->name, b->name, a->name_len);
}

/* The first of those with one start has the name; the extent is the largest that is sure. */
static void join_aliases(struct symtab *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->n; i++) {
		struct symtab_item *kept = n ? &t->items[n - 1] : NULL, *item = &t->items[i];

		if (!kept || kept->start != item->start) {
			t->items[n++] = *item;
			continue;
		}
		if (kept->open == item->open && item->end > kept->end)
			kept->end = item->end;
		if (kept->open && !item->open) {
			kept->end = item->end;
			kept->open = false;
		}
	}
	t->n = n;
	for (i = 0; i + 1 < n; i++)
		if (t->items[i].open && t->items[i].end > t->items[i + 1].start)
			t->items[i].end = t->items[i + 1].start;
}

static uint64_t get_place(const struct symtab *t, uint32_t i)
{
	return get_le64(t->places + (size_t)i * EDGE_PLACE_LEN);
}

static uint8_t *get_edge(const struct symtab *t, uint32_t i)
{
	return t->edge + (size_t)i * EDGE_LEN;
}

/* An edge at the place of the last one replaces it; one that changes nothing is none. */
static void put_edge(struct symtab *t, uint64_t at, uint32_t owner)
{
	uint32_t n = t->edges.n;

	if (n && get_place(t, n - 1) == at)
		n--;
	if (n == 0 || get_le32(get_edge(t, n - 1) + 4) != owner) {
		put_le64(t->places + (size_t)n * EDGE_PLACE_LEN, at);
		put_le32(get_edge(t, n) + 4, owner);
		n++;
	}
	t->edges.n = n;
}

/* Ends what is over at `at`; returns how many are left on the stack. */
static size_t end_symbols(struct symtab *t, const uint32_t *stack, size_t depth, uint64_t at)
{
	uint64_t over;

	while (depth && t->items[stack[depth - 1]].end <= at) {
		over = t->items[stack[--depth]].end;
		while (depth && t->items[stack[depth - 1]].end <= over)
			depth--;
		put_edge(t, over, depth ? stack[depth - 1] : EDGES_NOBODY);
	}
	return depth;
}

static int make_edges(struct symtab *t)
{
	_cleanup_free_ uint32_t *stack = calloc(t->n + 1, sizeof(*stack));
	size_t depth = 0;
	uint32_t i;

	/* Each symbol begins once and ends once. */
	t->edge = calloc(2 * t->n + 1, EDGE_LEN);
	t->places = calloc(2 * t->n + 1, EDGE_PLACE_LEN);
	if (!stack || !t->edge || !t->places)
		return -ENOMEM;
	for (i = 0; i < t->n; i++) {
		depth = end_symbols(t, stack, depth, t->items[i].start);
		if (t->items[i].open && depth)
			continue;
		stack[depth++] = i;
		put_edge(t, t->items[i].start, i);
	}
	end_symbols(t, stack, depth, UINT64_MAX);
	return 0;
}

static int make_pages(struct symtab *t)
{
	struct edges *e = &t->edges;
	uint64_t span, most = (uint64_t)e->n * PAGES_PER_EDGE + PAGES_FREE;
	uint32_t i, page = 0;

	e->shift = EDGES_SHIFT;
	if (e->n == 0)
		return 0;
	e->base = get_place(t, 0);
	span = get_place(t, e->n - 1) - e->base;
	while (span >> e->shift >= most)
		e->shift++;
	e->n_pages = (uint32_t)(span >> e->shift) + 1;
	t->pages = calloc((size_t)e->n_pages + 1, EDGES_PAGE_LEN);
	if (!t->pages)
		return -ENOMEM;
	for (i = 0; i < e->n; i++)
		while (page < (get_place(t, i) - e->base) >> e->shift)
			put_le32(t->pages + (size_t)++page * EDGES_PAGE_LEN, i);
	put_le32(t->pages + (size_t)e->n_pages * EDGES_PAGE_LEN, e->n);
	return 0;
}

/* Nearly every object is smaller than 4 GiB; then the distances are enough, and memory is given back. */
static void shrink_edges(struct symtab *t)
{
	const struct edges *e = &t->edges;
	uint8_t *moved;
	uint32_t i;

	if (e->n == 0 || get_place(t, e->n - 1) - e->base > UINT32_MAX)
		return;
	for (i = 0; i < e->n; i++)
		put_le32(get_edge(t, i), (uint32_t)(get_place(t, i) - e->base));
	free(t->places);
	t->places = NULL;
	moved = realloc(t->edge, (size_t)e->n * EDGE_LEN);
	if (moved)
		t->edge = moved;
}

int symtab_index(struct symtab *t)
{
	size_t i;
	int r;

	if (t->n)
		qsort(t->items, t->n, sizeof(*t->items), compare_items);
	join_aliases(t);
	r = make_edges(t);
	if (r == 0)
		r = make_pages(t);
	if (r < 0)
		return r;
	shrink_edges(t);
	t->edges.edge = t->edge;
	t->edges.places = t->places;
	t->edges.pages = t->pages;
	t->symbols = calloc(t->n + 1, sizeof(*t->symbols));
	if (!t->symbols)
		return -ENOMEM;
	for (i = 0; i < t->n; i++)
		t->symbols[i] = (struct symtab_symbol){ .start = t->items[i].start,
							.name = t->items[i].name,
							.name_len = t->items[i].name_len };
	free(t->items);
	t->items = NULL;
	t->room = 0;
	return 0;
}

struct symtab_symbol *symtab_find(const struct symtab *t, uint64_t address)
{
	uint32_t owner = edges_find(&t->edges, address);

	return owner == EDGES_NOBODY ? NULL : &t->symbols[owner];
}

const struct edges *symtab_get_edges(const struct symtab *t)
{
	return &t->edges;
}

const struct symtab_symbol *symtab_get_symbol(const struct symtab *t, size_t i)
{
	return &t->symbols[i];
}
