/* SPDX-License-Identifier: MIT */
/*
 * chunk: see chunk.h.
 *
 * Chunks are tried in a circle from where the last one was found. Without a drain that is the first
 * try until the file is full; with one, chunks come back in the order in which they went; and when the
 * oldest ones are to make room, the circle is their age.
 */
#include "device/func/chunk.h"

#include <sys/mman.h>

#include "device/func/sys.h"
#include "device/func/word.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define WAIT_LEAST_US 50U
#define WAIT_MOST_US 2000U

bool chunk_populate(struct gate *g, void *start, size_t len)
{
	if (g->no_populate || madvise(start, len, MADV_POPULATE_WRITE) == 0)
		return true;
	if (errno != EINVAL)
		return false;
	g->no_populate = true; /* the kernel is older than 5.14 */
	return true;
}

static bool take(struct gate *g, uint8_t *head)
{
	if (word_replace(head + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_FREE, FUNC_CHUNK_TAKEN))
		return true;
	return g->policy == FUNC_FLIGHT &&
	       word_replace(head + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_FULL, FUNC_CHUNK_TAKEN);
}

static uint32_t find(struct gate *g)
{
	uint32_t i, n, first = __atomic_load_n(&g->cursor, __ATOMIC_RELAXED);
	uint8_t *head;

	for (i = 0; i < g->n_chunks; i++) {
		n = first + i < g->n_chunks ? first + i : first + i - g->n_chunks;
		head = chunk_get(g, n);
		if (!take(g, head))
			continue;
		__atomic_store_n(&g->cursor, n + 1 < g->n_chunks ? n + 1 : 0, __ATOMIC_RELAXED);
		if (chunk_populate(g, head, g->chunk_bytes))
			return n;
		word_put(head + FUNC_CHUNK_AT_STATE, FUNC_CHUNK_FREE);
		return FUNC_NO_CHUNK;
	}
	return FUNC_NO_CHUNK;
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
		if (n != FUNC_NO_CHUNK)
			break;
	}
	return n;
}
