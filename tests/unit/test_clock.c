/* SPDX-License-Identifier: MIT */
/*
 * clock: rates that people give, and what a tick is then. The truth is arithmetic of 128 bits and of
 * Python's fractions, in the table below.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>

#include "trace/clock.h"

static void test_parse(void **state)
{
	static const struct {
		const char *text;
		uint64_t hz; /* 0: refused */
	} cases[] = {
		{ "2.5G", 2500000000 },
		{ "2.5GHz", 2500000000 },
		{ "2500000000", 2500000000 },
		{ "1200M", 1200000000 },
		{ "1Hz", 1 },
		{ "32.768k", 32768 },
		{ "2.50000G", 2500000000 },
		{ "1000G", 1000000000000 },
		{ "", 0 },
		{ "G", 0 },
		{ "0", 0 },
		{ "0.5", 0 },
		{ "1.5", 0 },
		{ "1.0001k", 0 },
		{ "1001G", 0 },
		{ "1e9", 0 },
		{ "-1", 0 },
		{ "1.2.3G", 0 },
		{ "2.5 G", 0 },
		{ "99999999999999999999999", 0 },
		{ "1GHzx", 0 },
	};
	uint64_t hz;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		hz = 0;
		assert_int_equal(clock_parse_rate(cases[i].text, &hz), cases[i].hz ? 0 : -EINVAL);
		if (hz != cases[i].hz)
			fail_msg("%s is %llu", cases[i].text, (unsigned long long)hz);
	}
}

/* Nanoseconds of a day of ticks, to 1 in 10^9; and never what looks like a clock of nanoseconds. */
static void test_rates(void **state)
{
	static const uint64_t rates[] = { 1,	      3,	  100,	       32768,
					  50000000,   999999999,  1000000000,  2400000003,
					  2500000000, 4294967297, CLOCK_HZ_MAX };
	struct trace_clock c;
	uint64_t ns;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		clock_init(&c);
		c.print_digits = 0;
		assert_true(clock_is_ticks(&c));
		clock_set_rate(&c, rates[i]);
		assert_false(clock_is_ticks(&c));
		assert_true(c.mult > 0 && c.shift > 0 && c.shift < 64);
		ns = clock_ns(&c, rates[i] * 86400);
		assert_in_range(ns, 86400000000000 - 86400, 86400000000000 + 86400);
	}
}

static void test_names(void **state)
{
	(void)state;
	assert_true(clock_name_is_ticks("x86-tsc"));
	assert_true(clock_name_is_ticks("counter"));
	assert_false(clock_name_is_ticks("uptime")); /* its ticks are 10 ms */
	assert_false(clock_name_is_ticks("local"));
	assert_false(clock_name_is_ticks(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
