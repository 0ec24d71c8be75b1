/* SPDX-License-Identifier: MIT */
/*
 * stopwatch: how long something takes on one core, as the best of several runs.
 *
 * The thread is pinned and its own CPU time is taken, so whoever else uses the machine counts only
 * through the caches. The best run is the one that was disturbed least; what repeats in every run
 * is the thing itself.
 */
#ifndef KISEKI_BENCH_STOPWATCH_H
#define KISEKI_BENCH_STOPWATCH_H

#include <stdint.h>

struct stopwatch {
	unsigned runs;	   /* at most this many */
	uint64_t limit_ns; /* after this time no further run is begun */
};

/* Pins this thread and what it starts to the last core it may use; returns its number, or -1. */
int stopwatch_pin(void);

uint64_t stopwatch_cpu_ns(void);  /* of this thread */
uint64_t stopwatch_wall_ns(void); /* cheap enough for single events */

/* The shortest time of body(ctx); body returns 0 or a negative errno, which ends it. */
int stopwatch_best(const struct stopwatch *w, int (*body)(void *ctx), void *ctx, uint64_t *ret_ns);

#endif
