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

#define NOBODY UINT32_MAX
#define PAGE_SHIFT 8U
#define PAGES_FREE 4096U /* always allowed, 16 KiB */
#define PAGES_PER_EDGE 8U
#define WALK_MAX 16U /* edges; more are searched by halves */
#define FIRST_ROOM 256U

/* Eight bytes, so that those of a page lie in one line of the cache. */
struct edge {
	uint32_t at;	/* behind the first edge */
	uint32_t owner; /* of what follows; NOBODY: a hole */
};

struct symtab {
	struct symtab_item *items; /* until indexed */
	size_t n, room;
	void **taken;
	size_t n_taken;
	struct symtab_symbol *symbols;
	struct edge *edges;
	uint64_t *places; /* of the edges; NULL when 32 bits hold the distance of the last one */
	size_t n_edges;
	uint64_t base; /* of the first edge */
	unsigned shift;
	uint32_t *pages; /* n_pages + 1: number of edges before the page */
	size_t n_pages;
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
	free(t->edges);
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

/* An edge at the place of the last one replaces it; one that changes nothing is none. */
static void put_edge(struct symtab *t, uint64_t at, uint32_t owner)
{
	if (t->n_edges && t->places[t->n_edges - 1] == at)
		t->n_edges--;
	if (t->n_edges && t->edges[t->n_edges - 1].owner == owner)
		return;
	t->places[t->n_edges] = at;
	t->edges[t->n_edges++].owner = owner;
}

/* Ends what is over at `at`; returns how many are left on the stack. */
static size_t end_symbols(struct symtab *t, const uint32_t *stack, size_t depth, uint64_t at)
{
	uint64_t over;

	while (depth && t->items[stack[depth - 1]].end <= at) {
		over = t->items[stack[--depth]].end;
		while (depth && t->items[stack[depth - 1]].end <= over)
			depth--;
		put_edge(t, over, depth ? stack[depth - 1] : NOBODY);
	}
	return depth;
}

static int make_edges(struct symtab *t)
{
	_cleanup_free_ uint32_t *stack = calloc(t->n + 1, sizeof(*stack));
	size_t depth = 0;
	uint32_t i;

	/* Each symbol begins once and ends once. */
	t->edges = calloc(2 * t->n + 1, sizeof(*t->edges));
	t->places = calloc(2 * t->n + 1, sizeof(*t->places));
	if (!stack || !t->edges || !t->places)
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
	uint64_t span, most = (uint64_t)t->n_edges * PAGES_PER_EDGE + PAGES_FREE;
	size_t i, page = 0;

	t->shift = PAGE_SHIFT;
	if (t->n_edges == 0)
		return 0;
	t->base = t->places[0];
	span = t->places[t->n_edges - 1] - t->base;
	while (span >> t->shift >= most)
		t->shift++;
	t->n_pages = (size_t)(span >> t->shift) + 1;
	t->pages = calloc(t->n_pages + 1, sizeof(*t->pages));
	if (!t->pages)
		return -ENOMEM;
	for (i = 0; i < t->n_edges; i++)
		while (page < (size_t)((t->places[i] - t->base) >> t->shift))
			t->pages[++page] = (uint32_t)i;
	t->pages[t->n_pages] = (uint32_t)t->n_edges;
	return 0;
}

/* Nearly every object is smaller than 4 GiB; then the distances are enough, and memory is given back. */
static void shrink_edges(struct symtab *t)
{
	struct edge *moved;
	size_t i;

	if (t->n_edges == 0 || t->places[t->n_edges - 1] - t->base > UINT32_MAX)
		return;
	for (i = 0; i < t->n_edges; i++)
		t->edges[i].at = (uint32_t)(t->places[i] - t->base);
	free(t->places);
	t->places = NULL;
	moved = realloc(t->edges, t->n_edges * sizeof(*moved));
	if (moved)
		t->edges = moved;
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

/* How many of the edges from low to high are at or before the address, counted from the first. */
static size_t count_far(const struct symtab *t, size_t low, size_t high, uint64_t address)
{
	size_t middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (t->places[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t count_near(const struct symtab *t, size_t low, size_t high, uint32_t distance)
{
	size_t middle;

	while (high - low > WALK_MAX) {
		middle = low + (high - low) / 2;
		if (t->edges[middle].at <= distance)
			low = middle;
		else
			high = middle;
	}
	while (low < high && t->edges[low].at <= distance)
		low++;
	return low;
}

struct symtab_symbol *symtab_find(const struct symtab *t, uint64_t address)
{
	const uint64_t page = (address - t->base) >> t->shift;
	size_t before;
	uint32_t owner;

	if (address < t->base || page >= t->n_pages || !t->symbols)
		return NULL;
	if (t->places)
		before = count_far(t, t->pages[page], t->pages[page + 1], address);
	else
		before = count_near(t, t->pages[page], t->pages[page + 1],
				    (uint32_t)(address - t->base));
	/* The first edge is the base, so there is one before. */
	owner = t->edges[before - 1].owner;
	return owner == NOBODY ? NULL : &t->symbols[owner];
}
