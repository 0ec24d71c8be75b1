/* SPDX-License-Identifier: MIT */
/*
 * clock: see clock.h. The shift is such that a tick lasts half a nanosecond at least: what comes below
 * is noise, and costs a bit of every event.
 */
#include "device/func/clock.h"

#define SLOWEST_SHIFTED_HZ 2000000000U
#define MEASURE_NS 200000U

static void choose_shift(struct func_clock *c, uint64_t counter_hz)
{
	c->kind = FUNC_CLOCK_COUNTER;
	while (counter_hz >> c->shift >= SLOWEST_SHIFTED_HZ)
		c->shift++;
	c->hz = counter_hz >> c->shift;
}

#if defined(__aarch64__)
static void find_counter(struct func_clock *c)
{
	uint64_t hz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	choose_shift(c, hz);
}
#elif defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

#define CPUID_POWER 0x80000007U
#define CPUID_POWER_INVARIANT 0x100U /* edx */
#define CPUID_TSC 0x15U

static bool is_invariant(void)
{
	uint32_t a, b, c, d;

	return __get_cpuid(CPUID_POWER, &a, &b, &c, &d) && d & CPUID_POWER_INVARIANT;
}

/* 0: the processor does not say. */
static uint64_t told_hz(void)
{
	uint32_t denominator = 0, numerator = 0, crystal = 0, d = 0;

	if (!__get_cpuid(CPUID_TSC, &denominator, &numerator, &crystal, &d) || !denominator ||
	    !numerator)
		return 0;
	return (uint64_t)crystal * numerator / denominator;
}

static uint64_t measured_hz(void)
{
	uint64_t start_ns = func_clock_ns(CLOCK_MONOTONIC), start = func_clock_counter(), ns;

	do
		ns = func_clock_ns(CLOCK_MONOTONIC) - start_ns;
	while (ns < MEASURE_NS);
	return (func_clock_counter() - start) * CLOCK_SECOND_NS / ns;
}

static void find_counter(struct func_clock *c)
{
	uint64_t hz;

	if (!is_invariant())
		return;
	hz = told_hz();
	choose_shift(c, hz ? hz : measured_hz());
}
#else
static void find_counter(struct func_clock *c)
{
	(void)c;
}
#endif

void func_clock_init(struct func_clock *c)
{
	c->kind = FUNC_CLOCK_MONOTONIC;
	c->shift = 0;
	c->hz = CLOCK_SECOND_NS;
	find_counter(c);
	(void)choose_shift;
}
