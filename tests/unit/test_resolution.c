/* SPDX-License-Identifier: MIT */
/*
 * resolution: frequencies of real counters, and steps as a loop of clock readings sees them, made
 * here from a counter of a known period.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/agent/resolution.h"

static void frequencies(void **state)
{
	(void)state;
	assert_int_equal(resolution_of_frequency(0), 0);
	assert_int_equal(resolution_of_frequency(1000000000), 0);
	assert_int_equal(resolution_of_frequency(3000000000), 0);
	assert_int_equal(resolution_of_frequency(500000000), 1);
	assert_int_equal(resolution_of_frequency(500000001), 0);
	assert_int_equal(resolution_of_frequency(121875000), 3); /* 8.2 ns */
	assert_int_equal(resolution_of_frequency(54000000), 4);	 /* 18.5 ns */
	assert_int_equal(resolution_of_frequency(24000000), 5);	 /* 41.7 ns */
	assert_int_equal(resolution_of_frequency(19200000), 5);	 /* 52.1 ns */
	assert_int_equal(resolution_of_frequency(1000000), 9);
	assert_int_equal(resolution_of_frequency(32768), 14);
}

/* Readings of a counter of so many picoseconds, each 30 to 130 ns after the one before. */
static uint32_t read_counter(uint64_t period_ps)
{
	uint32_t steps[RESOLUTION_SAMPLES], i;
	uint64_t at_ps = 1000000007, last = at_ps / period_ps * period_ps / 1000, now;

	srand(7);
	for (i = 0; i < RESOLUTION_SAMPLES; i++) {
		at_ps += 30000 + (uint64_t)rand() % 100000;
		now = at_ps / period_ps * period_ps / 1000;
		steps[i] = (uint32_t)(now - last);
		last = now;
	}
	return resolution_of_steps(steps, RESOLUTION_SAMPLES);
}

static void steps_of_a_loop(void **state)
{
	(void)state;
	assert_int_equal(read_counter(300), 0);
	assert_int_equal(read_counter(1000), 0);
	assert_int_equal(read_counter(1500), 0);
	assert_int_equal(read_counter(10000), 3);
	assert_int_equal(read_counter(18519), 4);
	assert_int_equal(read_counter(41667), 5);
	assert_int_equal(read_counter(52083), 5);
	assert_int_equal(read_counter(100000), 6);
	assert_int_equal(read_counter(1000000), 9);
}

static void this_machine(void **state)
{
	(void)state;
	print_message("%llu Hz, ticks of %u ns\n", (unsigned long long)resolution_get_frequency(),
		      1U << resolution_auto());
	assert_true(resolution_auto() <= 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frequencies),
		cmocka_unit_test(steps_of_a_loop),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
