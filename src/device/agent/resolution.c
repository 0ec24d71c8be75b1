/* SPDX-License-Identifier: MIT */
/*
 * resolution: see resolution.h.
 *
 * 64-bit ARM tells its counter's frequency, and x86 counts faster than nanoseconds. Elsewhere the
 * clock is read in a loop: the steps between readings are multiples of the counter's period,
 * rounded to nanoseconds. Steps that differ by one are the same multiple; the least distance
 * between different multiples is the period. When in doubt, the answer is one nanosecond.
 */
#include "device/agent/resolution.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

#define NS_PER_S 1000000000U
#define PERIOD_LEAST 8U /* below this, rounding and true steps cannot be told apart */

uint64_t resolution_get_frequency(void)
{
#ifdef __aarch64__
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
#else
	return 0;
#endif
}

uint32_t resolution_of_frequency(uint64_t hz)
{
	uint32_t shift = 0;

	while (hz && shift < 20 && hz <= NS_PER_S >> (shift + 1))
		shift++;
	return shift;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

uint32_t resolution_of_steps(uint32_t *steps, uint32_t n)
{
	uint32_t period = n ? UINT32_MAX : 0, first = 0, i;

	qsort(steps, n, sizeof(*steps), by_value);
	/* [first] starts the current multiple; 0 is one, too: a counter may not have moved. */
	for (i = 0; i < n; i++) {
		uint32_t distance = steps[i] - (i ? steps[first] : 0);

		if (i && distance <= 1)
			continue;
		if (distance > 1 && steps[i] && distance < period)
			period = distance;
		first = i;
	}
	if (period < PERIOD_LEAST || period == UINT32_MAX)
		return 0;
	/* A distance between rounded numbers may be one too large. */
	return resolution_of_frequency(NS_PER_S / (period - 1));
}

uint32_t resolution_auto(void)
{
	uint32_t steps[RESOLUTION_SAMPLES], i;
	uint64_t hz = resolution_get_frequency(), last, now;

	if (hz)
		return resolution_of_frequency(hz);
#if defined(__x86_64__) || defined(__i386__)
	return 0;
#endif
	last = clock_mono_ns();
	for (i = 0; i < RESOLUTION_SAMPLES; i++) {
		now = clock_mono_ns();
		steps[i] = now - last < UINT32_MAX ? (uint32_t)(now - last) : 0;
		last = now;
	}
	return resolution_of_steps(steps, RESOLUTION_SAMPLES);
}
