/* SPDX-License-Identifier: MIT */
/*
 * os_clock: nanoseconds of CLOCK_MONOTONIC, as the kernel stamps its records, into ticks of the
 * counter that hooks read.
 *
 * The agent reads both one right after the other, again and again. Between two such pairs time is
 * interpolated, because CLOCK_MONOTONIC is steered while it runs; behind the last and before the
 * first it goes on at the nearest rate. A tick never falls as the nanoseconds rise, as long as no pair
 * is added.
 */
#ifndef KISEKI_DEVICE_FEED_OS_CLOCK_H
#define KISEKI_DEVICE_FEED_OS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define OS_CLOCK_PAIRS 16U
#define OS_CLOCK_APART_NS 50000000U /* pairs that stay are at least this far apart */

struct os_clock_pair {
	uint64_t tick, ns;
};

struct os_clock {
	uint32_t kind, shift; /* enum func_buffer_clock; ticks are the counter >> shift */
	uint32_t n;
	struct os_clock_pair pairs[OS_CLOCK_PAIRS]; /* by time */
};

/* Takes the first two pairs, a millisecond apart. */
void os_clock_init(struct os_clock *c, uint32_t kind, uint32_t shift);

/* A pair of now: the best of a few. os_clock_push() keeps one. */
struct os_clock_pair os_clock_read(const struct os_clock *c);
void os_clock_push(struct os_clock *c, struct os_clock_pair p);

uint64_t os_clock_tick(const struct os_clock *c, uint64_t ns);

#endif
