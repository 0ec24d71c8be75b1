/* SPDX-License-Identifier: MIT */
/* func_clock: the line and the knots out of pairs, good and bad; there and back without a step back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/func_clock.h"

#define SECOND 1000000000ULL

static uint64_t seed = 88172645463325252ULL;

static uint64_t bits(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void add(struct func_source *s, uint64_t tick, uint64_t mono_ns)
{
	assert_int_equal(func_source_add_sync(s, tick, mono_ns), 0);
}

static double rate(const struct func_source *s)
{
	return (double)s->clock.mult / (double)(1ULL << s->clock.shift);
}

static void test_scale(void **state)
{
	uint64_t a, b, c, i;

	(void)state;
	assert_true(func_clock_scale(5, 7, 2) == 17);
	assert_true(func_clock_scale(UINT64_MAX, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
	assert_true(func_clock_scale(UINT64_MAX, 3, 2) == UINT64_MAX); /* does not fit */
	assert_true(func_clock_scale(1, 1, 0) == UINT64_MAX);
	assert_true(func_clock_scale(1ULL << 63, 6, 4) == 3ULL << 62);
	/* a * b / c = q exactly when c * q + rest = a * b: by numbers whose product is known. */
	for (i = 0; i < 100000; i++) {
		a = bits() >> (bits() % 40);
		c = 1 + (bits() >> (bits() % 63));
		b = bits() % c;
		assert_true(func_clock_scale(a, c, c) == a);
		assert_true(func_clock_scale(a, b, c) <= a);
		assert_true(func_clock_scale(a, b, c) == func_clock_scale(b, a, c));
	}
}

static void test_rate(void **state)
{
	struct func_source s = { 0 };

	(void)state;
	/* Nothing is known. */
	func_clock_settle(&s, 0);
	assert_true(clock_ns(&s.clock, 12345) == 12345);
	/* The frequency alone. */
	func_clock_settle(&s, 25000000);
	assert_true(clock_ns(&s.clock, 25000000) == SECOND);
	assert_string_equal(s.clock.name, "mono");
	/* One pair: the frequency, through it. */
	add(&s, 1000, 77 * SECOND);
	func_clock_settle(&s, 1050000000);
	assert_int_equal(s.n_syncs, 1);
	assert_true(clock_ns(&s.clock, 1000) == 77 * SECOND);
	/* Pairs far apart are better than what was said of the frequency. */
	add(&s, 1000 + 1051000000, 78 * SECOND);
	func_clock_settle(&s, 1050000000);
	assert_true(rate(&s) > 0.95147 && rate(&s) < 0.95148);
	func_source_done(&s);
	/* But not where they contradict it, or are too close. */
	add(&s, 1000, 77 * SECOND);
	add(&s, 1000 + 1050000000, 80 * SECOND);
	func_clock_settle(&s, 1050000000);
	assert_true(rate(&s) > 0.95238 && rate(&s) < 0.95239);
	assert_int_equal(s.n_syncs, 1);
	func_source_done(&s);
	add(&s, 1000, 77 * SECOND);
	add(&s, 2000, 77 * SECOND + 1500);
	func_clock_settle(&s, SECOND);
	assert_true(rate(&s) == 1);
	func_source_done(&s);
}

/* A counter that is older than CLOCK_MONOTONIC. */
static void test_older(void **state)
{
	struct func_source s = { 0 };

	(void)state;
	add(&s, 100 * SECOND, 5 * SECOND);
	func_clock_settle(&s, SECOND);
	assert_true(clock_ns(&s.clock, 101 * SECOND) == 6 * SECOND);
	assert_true(clock_tick_at(&s.clock, 6 * SECOND) == 101 * SECOND);
	assert_true(func_clock_ns(&s, 101 * SECOND) == 6 * SECOND);
	assert_true(func_clock_tick_at(&s, 6 * SECOND) == 101 * SECOND);
	assert_true(func_clock_ns(&s, 94 * SECOND) == 0);
	assert_true(clock_tick_at(&s.clock, UINT64_MAX) == UINT64_MAX);
	func_source_done(&s);
}

/* CLOCK_MONOTONIC is steered, pairs are late at times: the knots follow it. */
static void test_knots(void **state)
{
	struct func_source s = { 0 };
	uint64_t tick = 5 * SECOND, ns = 9 * SECOND, i, step, ticks[200], truth[200];

	(void)state;
	for (i = 0; i < 200; i++) {
		ticks[i] = tick;
		truth[i] = ns;
		add(&s, tick, i % 17 == 13 ? ns + 40000000 : ns + bits() % 400);
		step = 105000000 + bits() % 1000;
		tick += step;
		/* 1.05 GHz, 300 ppm fast in the first half and slow in the second. */
		ns += (uint64_t)((double)step / 1.05 * (i < 100 ? 1.0003 : 0.9997));
	}
	func_clock_settle(&s, 1050000000);
	assert_true(s.n_syncs > 10 && s.n_syncs <= 21);
	for (i = 1; i < s.n_syncs; i++)
		assert_true(s.syncs[i].mono_ns - s.syncs[i - 1].mono_ns >= SECOND);
	for (i = 0; i < 190; i++) {
		uint64_t got = func_clock_ns(&s, ticks[i]);

		/* To within what a knot's rate can change in a second, where the rate turns. */
		assert_true((got > truth[i] ? got - truth[i] : truth[i] - got) <
			    (i > 85 && i < 115 ? 700000U : 2000U));
	}
	func_source_done(&s);
}

static void make_random(struct func_source *s, uint64_t hz)
{
	uint64_t tick = bits() >> 20, ns = 1 + (bits() >> 20), n = bits() % 30, i;

	for (i = 0; i < n; i++) {
		uint64_t step = bits() % (3 * SECOND);

		add(s, tick, ns);
		ns += step;
		tick += func_clock_scale(step, hz, SECOND);
	}
	func_clock_settle(s, bits() % 2 ? hz : 0);
}

/* The first tick that is not before a moment; and time does not step back. */
static void test_back(void **state)
{
	static const uint64_t rates[] = { 1000000,    19200000,	  25000000,
					  1000000000, 1050000000, 1999999999 };
	uint64_t i, k, tick, ns, last;

	(void)state;
	for (i = 0; i < 300; i++) {
		struct func_source s = { 0 };

		make_random(&s, rates[i % 6]);
		for (k = 0; k < 100; k++) {
			ns = s.n_syncs ? s.syncs[bits() % s.n_syncs].mono_ns : 1ULL << 44;
			ns += bits() % (2 * SECOND);
			ns -= ns > SECOND ? SECOND : 0;
			tick = func_clock_tick_at(&s, ns);
			assert_true(func_clock_ns(&s, tick) >= ns);
			assert_true(!tick || func_clock_ns(&s, tick - 1) < ns);
			for (last = 0, tick -= tick > 4 ? 4 : 0; last < 8; last++)
				assert_true(func_clock_ns(&s, tick + last) <=
					    func_clock_ns(&s, tick + last + 1));
		}
		func_source_done(&s);
	}
}

static void test_same(void **state)
{
	struct func_source a = { 0 }, b = { 0 };

	(void)state;
	add(&a, 1000, 5 * SECOND);
	func_clock_settle(&a, SECOND);
	add(&b, 1000 + 3 * SECOND, 8 * SECOND + 2000);
	func_clock_settle(&b, SECOND);
	assert_true(func_clock_is_same(&a, &b));
	assert_true(func_clock_is_same(&b, &a));
	b.syncs[0].mono_ns += SECOND;
	assert_false(func_clock_is_same(&a, &b));
	func_source_done(&b);
	/* Another rate; and a clock that is CLOCK_MONOTONIC itself. */
	add(&b, 1000, 5 * SECOND);
	func_clock_settle(&b, 25000000);
	assert_false(func_clock_is_same(&a, &b));
	func_source_done(&b);
	func_clock_settle(&b, SECOND);
	assert_false(func_clock_is_same(&a, &b));
	assert_true(func_clock_is_same(&b, &b));
	func_source_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scale), cmocka_unit_test(test_rate),
		cmocka_unit_test(test_older), cmocka_unit_test(test_knots),
		cmocka_unit_test(test_back),  cmocka_unit_test(test_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
