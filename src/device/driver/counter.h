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
	u32 generation; /* how often it was chosen: stamps of two generations cannot be compared */
	u64 seen_tick,
		seen_ns; /* this counter and the kernel's raw clock when they were last compared */
};

/* Chosen at load, and again when it cannot be believed any more: after a sleep of the machine,
 * or by counter_is_right(). No probe runs. May sleep. */
int counter_init(struct counter *c);

/* Has it gone on as the kernel's raw clock did, since it was asked the last time? A kernel finds
 * out late that a TSC is unstable, and a virtual machine may wake up on a host whose counter has
 * another rate. */
bool counter_is_right(struct counter *c);

/* From any context, interrupts off. */
u64 counter_read(const struct counter *c);

/* Exact for any tick: 96 bits in between. */
u64 counter_to_ns(const struct counter *c, u64 tick);
u64 counter_from_ns(const struct counter *c, u64 ns);

#endif
