/* SPDX-License-Identifier: MIT */
/*
 * func_clock: what a tick of a function trace is in nanoseconds of CLOCK_MONOTONIC.
 *
 * Hooks read a bare counter. While they record, now and then somebody reads the counter and
 * CLOCK_MONOTONIC one right after the other: such a pair is right to about a microsecond, unless the
 * reader was interrupted between the two. The counter's rate is constant; that of CLOCK_MONOTONIC is
 * steered, by up to 500 ppm, while it is being set.
 *
 * Two answers follow from the pairs:
 *
 * 1. **The line**: a struct trace_clock, one rate for the whole source. It is what durations and
 *    reports of one source use, so that no duration depends on where the pairs lie. Its rate is that
 *    between the first and the last pair if they are 100 ms or more apart and, where the nominal
 *    frequency is known, it is within 1 % of that; else it is the nominal one; else that between
 *    the first and the last pair, whatever their distance; else a tick is a nanosecond. The line goes
 *    through the first pair.
 * 2. **The knots**: pairs at least a second apart, each reached from the one before at a rate within
 *    0.1 % of the line's. Between two knots time is interpolated, before the first and behind the
 *    last it goes on from there at the line's rate. This is what lays several sources, or the
 *    scheduler's events, on one axis: it follows CLOCK_MONOTONIC however it was steered.
 *
 * All arithmetic is on whole numbers and rounds down. ns(tick) never falls as the tick rises.
 */
#ifndef KISEKI_TRACE_FUNC_CLOCK_H
#define KISEKI_TRACE_FUNC_CLOCK_H

#include "trace/func_source.h"

#define FUNC_CLOCK_RATE_NS 100000000U  /* pairs this far apart tell a rate to some 10 ppm */
#define FUNC_CLOCK_KNOT_NS 1000000000U /* knots are this far apart, at least */

/* a * b / c rounded down, the product with 128 bits; UINT64_MAX where it does not fit or c is 0. */
uint64_t func_clock_scale(uint64_t a, uint64_t b, uint64_t c);

/*
 * Makes the source's line and knots out of the pairs that it has, in any order and as they were
 * read; its syncs are then the knots. hz: nominal ticks a second, 0 if not known. The clock is named
 * "mono", its relation to real time is left as it is.
 */
void func_clock_settle(struct func_source *s, uint64_t hz);

/* Nanoseconds of CLOCK_MONOTONIC by the knots, or by the line where there are none. */
uint64_t func_clock_ns(const struct func_source *s, uint64_t tick);

/* The first tick that is not before these nanoseconds. */
uint64_t func_clock_tick_at(const struct func_source *s, uint64_t ns);

/* Whether the ticks of both are of the same counter: their rates, and where they meet
 * CLOCK_MONOTONIC, are the same as far as anybody can tell. */
bool func_clock_is_same(const struct func_source *a, const struct func_source *b);

#endif
