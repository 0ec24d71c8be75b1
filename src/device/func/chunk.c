/* SPDX-License-Identifier: MIT */
/*
 * chunk: see chunk.h.
 *
 * Chunks are tried in a circle from where the last one was found. Without a drain that is the first
 * try until the file is full; with one, chunks come back in the order in which they went; and when the
 * oldest ones are to make room, the circle is their age.
 *
 * The first bytes of a chunk are in the file like the rest of it, so a chunk is not looked at before
 * the kernel has given its pages. They are asked for in order: those of the chunks before `chunks_ready`
 * are there, and the circle is shorter where the file system has no more of them.
 */
#include "device/func/chunk.h"

#include <sys/auxv.h>
#include <sys/mman.h>

#include "device/func/sys.h"
#include "device/func/word.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define FULL_MS 100U /* that a full file system is not asked again; it may search long */
#define WAIT_LEAST_US 50U
#define WAIT_MOST_US 2000U

bool chunk_populate(struct gate *g, void *start, size_t len)
{
	struct chunk_pages p = chunk_pages((uintptr_t)start, len, g->page);
	uint32_t full = __atomic_load_n(&g->full_ms, __ATOMIC_RELAXED), now;

	if (g->no_populate)
		return true;
	now = (uint32_t)(func_clock_ns(CLOCK_MONOTONIC) / 1000000) | 1;
	if (full && now - full < FULL_MS)
		return false;
	full = madvise((void *)p.start, p.len, MADV_POPULATE_WRITE) == 0 ? 0 : now;
	__atomic_store_n(&g->full_ms, full, __ATOMIC_RELAXED);
	return !full;
}

bool chunk_populate_first(struct gate *g, void *start, size_t len)
{
	g->page = (uint32_t)getauxval(AT_PAGESZ);
	if (!g->page)
		g->page = 4096;
	if (madvise(start, len, MADV_POPULATE_WRITE) == 0)
		return true;
	g->no_populate = errno == EINVAL; /* the kernel is older than 5.14 */
	return g->no_populate;
}

/* Makes sure that a chunk may be looked at. All before it may. */
static bool make_ready(struct gate *g, uint32_t n)
{
	uint32_t ready = __atomic_load_n(&g->chunks_ready, __ATOMIC_RELAXED);

	if (n < ready)
		return true;
	if (!chunk_populate(g, chunk_get(g, n), g->chunk_bytes))
		return false;
	while (ready <= n && !__atomic_compare_exchange_n(&g->chunks_ready, &ready, n + 1, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return true;
}

static bool take(struct gate *g, uint8_t *head)
{
	if (word_replace(head + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_FREE, FUNC_CHUNK_TAKEN))
		return true;
	return g->policy == FUNC_FLIGHT &&
	       word_replace(head + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_FULL, FUNC_CHUNK_TAKEN);
}

static uint32_t find_between(struct gate *g, uint32_t from, uint32_t to)
{
	uint32_t n;

	for (n = from; n < to && make_ready(g, n); n++) {
		if (!take(g, chunk_get(g, n)))
			continue;
		__atomic_store_n(&g->cursor, n + 1, __ATOMIC_RELAXED);
		return n;
	}
	return FUNC_NO_CHUNK;
}

static uint32_t find(struct gate *g)
{
	uint32_t first = __atomic_load_n(&g->cursor, __ATOMIC_RELAXED);
	uint32_t n = find_between(g, first, g->n_chunks);

	return n != FUNC_NO_CHUNK ? n : find_between(g, 0, first);
}

uint32_t chunk_take(struct gate *g, bool may_wait, struct sys_signals *held)
{
	uint64_t end = 0, seconds = gate_settings.wait_s;
	uint32_t n = find(g), pause_us = WAIT_LEAST_US;

	if (n != FUNC_NO_CHUNK || g->policy != FUNC_WAIT || !may_wait)
		return n;
	end = func_clock_ns(CLOCK_MONOTONIC) + seconds * CLOCK_SECOND_NS;
	while (!seconds || func_clock_ns(CLOCK_MONOTONIC) < end) {
		sys_release_signals(held);
		sys_sleep_us(pause_us);
		sys_hold_signals(held);
		pause_us = pause_us * 2 < WAIT_MOST_US ? pause_us * 2 : WAIT_MOST_US;
		n = find(g);
		if (n != FUNC_NO_CHUNK || g->policy != FUNC_WAIT) /* it forked while it waited */
			break;
	}
	return n;
}
