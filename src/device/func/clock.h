/* SPDX-License-Identifier: MIT */
/*
 * clock: what a tick is (docs/format/func-buffer.md, section 5).
 *
 * The counter is read bare, without a barrier that would make the processor wait: the time is wrong
 * by the few instructions that run ahead. Where every machine has a counter that programs may read,
 * nothing is asked at run time; on x86 it must be invariant, which a flag says; elsewhere it is
 * CLOCK_MONOTONIC, which the C library reads without a system call where the kernel offers that.
 */
#ifndef KISEKI_DEVICE_FUNC_CLOCK_H
#define KISEKI_DEVICE_FUNC_CLOCK_H

#include <time.h>

#include "wire/func_buffer.h"

#define CLOCK_SECOND_NS 1000000000U

struct func_clock {
	uint64_t hz;	/* ticks a second, about */
	uint32_t shift; /* ticks are the counter >> this */
	uint32_t kind;	/* enum func_buffer_clock */
};

/* Finds out what the machine has. */
void func_clock_init(struct func_clock *c);

static inline uint64_t func_clock_ns(clockid_t id)
{
	struct timespec t = { 0, 0 };

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * CLOCK_SECOND_NS + (uint64_t)t.tv_nsec;
}

#if defined(__aarch64__)
static ALWAYS_INLINE uint64_t func_clock_counter(void)
{
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}
#define FUNC_CLOCK_IS_COUNTER(kind) 1
#elif defined(__x86_64__) || defined(__i386__)
static ALWAYS_INLINE uint64_t func_clock_counter(void)
{
	return __builtin_ia32_rdtsc();
}
#define FUNC_CLOCK_IS_COUNTER(kind) LIKELY((kind) == FUNC_CLOCK_COUNTER)
#else
static inline uint64_t func_clock_counter(void)
{
	return 0;
}
#define FUNC_CLOCK_IS_COUNTER(kind) 0
#endif

static ALWAYS_INLINE uint64_t func_clock_tick(uint32_t shift, uint32_t kind)
{
	(void)shift;
	(void)kind;
	if (FUNC_CLOCK_IS_COUNTER(kind))
		return func_clock_counter() >> shift;
	return func_clock_ns(CLOCK_MONOTONIC);
}

#endif
