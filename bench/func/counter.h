/* SPDX-License-Identifier: MIT */
/*
 * counter: the machine's bare counter, as function traces have it, and how long one of its ticks is.
 */
#ifndef KISEKI_BENCH_FUNC_COUNTER_H
#define KISEKI_BENCH_FUNC_COUNTER_H

#include <stdint.h>
#include <time.h>

static inline uint64_t counter_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t counter_read(void)
{
#if defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#elif defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	return counter_ns();
#endif
}

/* By the clock, for a tenth of a second. */
static inline double counter_tick_ns(void)
{
	uint64_t ns = counter_ns(), ticks = counter_read(), now;

	do
		now = counter_ns();
	while (now - ns < 100000000);
	return (double)(now - ns) / (double)(counter_read() - ticks);
}

#endif
