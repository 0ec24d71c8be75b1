/* SPDX-License-Identifier: MIT */
/*
 * ticks: finds the counter behind stamps that are written as nanoseconds.
 *
 * Most boards count at 19.2 to 62.5 MHz, but every tool stores nanoseconds; the digits between are
 * noise that a codec would have to carry. Given all stamps of a trace, this finds a clock in whose
 * ticks they are exact:
 *   1. a common divisor: all stamps are base + d * k (50 MHz boards: 20; text of microseconds: 1000);
 *   2. the kernel's own scaling of a counter of a known frequency, ns = epoch + (k * mult >> shift),
 *      mult and shift as sched_clock computes them, the epoch found from the stamps;
 *   3. else nothing: plain nanoseconds.
 * The coarsest clock that fits wins. It fits when at most one stamp in 200 is off its grid; those
 * few are carried by tick_off_ns, so conversion is exact for every stamp in any case.
 */
#ifndef KISEKI_CONVERT_TICKS_H
#define KISEKI_CONVERT_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/clock.h"
#include "trace/source.h"

struct ticks;

struct ticks *ticks_new(void); /* NULL: out of memory */
void ticks_free(struct ticks *t);

void ticks_feed(struct ticks *t, uint64_t ns);

/* A time that the clock must reach without being evidence: the ends of losses. */
void ticks_feed_bound(struct ticks *t, uint64_t ns);

/* After the last stamp. True: mult, shift and base_ns of *clock are those of the counter; false:
 * there is none, and they are those of plain nanoseconds. The rest of *clock stays. */
bool ticks_decide(struct ticks *t, struct trace_clock *clock);

/* All of it over a source: reads it to its end and rewinds it. 1: a counter was found; 0: none, or
 * the source is in ticks of a counter already, and nothing was read; < 0: failed, among others
 * -ESPIPE for a pipe, before anything was read from it. *clock is set in the first two cases. */
int ticks_find(struct trace_source *s, struct trace_clock *clock, struct error *e);

/* The kernel's scaling for a counter of this frequency, good for 3600 s without overflow. */
void ticks_kernel_scale(uint32_t hz, uint32_t *ret_mult, uint32_t *ret_shift);

#endif
