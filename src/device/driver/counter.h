/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counter: the clock of the driver's traces.
 *
 * Raw ticks of the machine's counter where it can be read in a few instructions, runs at one rate on
 * all CPUs and does not stop (arm64: CNTVCT; x86: a constant, non-stop TSC that the kernel calls
 * stable); else local_clock(), nanoseconds, the low bits dropped that the hardware behind it does not
 * have. What a tick is goes into the description of a run; readers convert exactly.
 */
#ifndef KISEKI_DEVICE_DRIVER_COUNTER_H
#define KISEKI_DEVICE_DRIVER_COUNTER_H

#include <linux/types.h>

struct counter {
	const char *name; /* of META_CLOCK: what the stamps are */
	u32 mult, shift;  /* ns = tick * mult >> shift */
	u32 drop;	  /* low bits of local_clock() that are always the same */
	bool raw;	  /* the machine's own counter */
};

/* Chosen once, at load. */
int counter_init(struct counter *c);

/* From any context, interrupts off. */
u64 counter_read(const struct counter *c);

/* Exact for any tick: 96 bits in between. */
u64 counter_to_ns(const struct counter *c, u64 tick);
u64 counter_from_ns(const struct counter *c, u64 ns);

#endif
