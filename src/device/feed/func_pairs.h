/* SPDX-License-Identifier: MIT */
/*
 * func_pairs: what a tick of the traced programs is, for the description of their run
 * (docs/format/wire.md, sections 7.9 and 7.10).
 *
 * All programs of a run read the same counter. How fast it is and where it meets CLOCK_MONOTONIC is
 * taken from the first of them; later pairs of counter and clock, from whichever program made one,
 * follow about every second, as the clock is steered. A pair that does not fit to the one before,
 * because its program was interrupted between its two reads or writes what it likes, is left out.
 */
#ifndef KISEKI_DEVICE_FEED_FUNC_PAIRS_H
#define KISEKI_DEVICE_FEED_FUNC_PAIRS_H

#include "device/feed/func_traced.h"
#include "wire/meta_encode.h"

struct func_pairs {
	uint32_t clock, shift; /* as in the headers of all programs of the run */
	uint64_t hz;
	uint64_t tick, mono_ns; /* of the last pair; 0: none */
	struct meta_clock line; /* for the description */
};

/* From the first program of a run. */
void func_pairs_init(struct func_pairs *p, const struct func_traced *t,
		     const struct func_traced_header *h);

/* Do its ticks mean the same? */
bool func_pairs_is_same(const struct func_pairs *p, uint32_t clock, uint32_t shift);

/* True: the program's newest pair is to be told; it counts as told from then on. */
bool func_pairs_next(struct func_pairs *p, const struct func_traced_header *h);

#endif
