/* SPDX-License-Identifier: MIT */
/*
 * edges: from an address to the number of the function that has it, in a few nanoseconds.
 *
 * An edge says: from this address on it is that function's, or nobody's. Edges are sorted, so holes
 * between functions stay holes, a function inside another has its own part, and a search needs no look
 * at ends. A page index says for each 256 bytes of the object where its edges begin; a search reads
 * one entry of it and walks the few edges of that page, where a binary search over all symbols misses
 * the cache at each step.
 *
 * The bytes are those of a table file (docs/format/symbols.md, section 4), in memory as in a mapping,
 * so that there is one search. They may be anybody's: numbers are bounded here, each time they are
 * used, which costs less than to look through a file when it is opened. Garbage leads to a wrong
 * owner, never beyond the bytes; the owner is for the caller to bound.
 */
#ifndef KISEKI_SYMBOL_EDGES_H
#define KISEKI_SYMBOL_EDGES_H

#include "wire/varint.h"

#define EDGES_NOBODY UINT32_MAX
#define EDGE_LEN                                                                                   \
	8U /* le32 distance from the base, le32 owner of what follows: one cache line has a page's */
#define EDGE_PLACE_LEN 8U
#define EDGES_PAGE_LEN 4U
#define EDGES_WALK_MAX 16U /* more edges of a page are searched by halves */
#define EDGES_SHIFT 8U	   /* pages of 256 bytes */
#define EDGES_SHIFT_MAX 63U

struct edges {
	const uint8_t *edge; /* n */
	const uint8_t
		*places; /* n le64 addresses; NULL when 32 bits hold the distance of the last one */
	const uint8_t *pages; /* n_pages + 1 le32: edges before the page */
	uint32_t n, n_pages;
	unsigned shift;
	uint64_t base; /* of the first edge */
};

/* How many of the edges from low to high are at or before the address, counted from the first. */
static inline uint32_t edges_count_far(const struct edges *e, uint32_t low, uint32_t high,
				       uint64_t address)
{
	uint32_t middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (get_le64(e->places + (size_t)middle * EDGE_PLACE_LEN) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static inline uint32_t edges_count_near(const struct edges *e, uint32_t low, uint32_t high,
					uint32_t distance)
{
	uint32_t middle;

	while (high - low > EDGES_WALK_MAX) {
		middle = low + (high - low) / 2;
		if (get_le32(e->edge + (size_t)middle * EDGE_LEN) <= distance)
			low = middle;
		else
			high = middle;
	}
	while (low < high && get_le32(e->edge + (size_t)low * EDGE_LEN) <= distance)
		low++;
	return low;
}

static inline uint32_t edges_find(const struct edges *e, uint64_t address)
{
	const uint64_t page = (address - e->base) >> e->shift;
	uint32_t low, high, before;

	if (address < e->base || page >= e->n_pages)
		return EDGES_NOBODY;
	low = get_le32(e->pages + (size_t)page * EDGES_PAGE_LEN);
	high = get_le32(e->pages + ((size_t)page + 1) * EDGES_PAGE_LEN);
	if (low > high || high > e->n)
		return EDGES_NOBODY;
	before = e->places ? edges_count_far(e, low, high, address)
			   : edges_count_near(e, low, high, (uint32_t)(address - e->base));
	/* The first edge is the base, so there is one before, but in garbage. */
	return before ? get_le32(e->edge + (size_t)(before - 1) * EDGE_LEN + 4) : EDGES_NOBODY;
}

#endif
