/* SPDX-License-Identifier: MIT */
/* stopwatch: see stopwatch.h. */
#include "stopwatch.h"

#include <sched.h>
#include <time.h>

/* The last core: the first one gets most interrupts on many machines. */
int stopwatch_pin(void)
{
	cpu_set_t set;
	int cpu;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -1;
	for (cpu = CPU_SETSIZE - 1; cpu >= 0 && !CPU_ISSET(cpu, &set); cpu--)
		;
	if (cpu < 0)
		return -1;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) < 0 ? -1 : cpu;
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

uint64_t stopwatch_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t stopwatch_wall_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int stopwatch_best(const struct stopwatch *w, int (*body)(void *ctx), void *ctx, uint64_t *ret_ns)
{
	uint64_t best = UINT64_MAX, spent = 0, start, ns;
	unsigned run;
	int r;

	for (run = 0; run < w->runs && spent < w->limit_ns; run++) {
		start = stopwatch_cpu_ns();
		r = body(ctx);
		ns = stopwatch_cpu_ns() - start;
		if (r < 0)
			return r;
		spent += ns;
		if (ns < best)
			best = ns;
	}
	*ret_ns = best;
	return 0;
}
