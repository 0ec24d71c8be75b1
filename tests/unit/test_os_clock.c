/* SPDX-License-Identifier: MIT */
/* os_clock: ticks by the pairs around a moment, also far from them, and those of this machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/feed/os_clock.h"
#include "device/func/clock.h"

#define MS 1000000ULL
#define SECOND 1000000000ULL

static void push(struct os_clock *c, uint64_t ns, uint64_t tick)
{
	os_clock_push(c, (struct os_clock_pair){ .tick = tick, .ns = ns });
}

static void test_pairs(void **state)
{
	struct os_clock c = { .kind = FUNC_CLOCK_COUNTER };
	uint64_t i;

	(void)state;
	push(&c, 1000 * MS, 5000);
	push(&c, 1001 * MS, 6000);   /* a tick is a microsecond, */
	push(&c, 1101 * MS, 206000); /* then half of one */
	push(&c, 1201 * MS, 306000);
	assert_int_equal(os_clock_tick(&c, 1000 * MS), 5000);
	assert_int_equal(os_clock_tick(&c, 1000 * MS + 500000), 5500);
	assert_int_equal(os_clock_tick(&c, 999 * MS), 4000);
	assert_int_equal(os_clock_tick(&c, 1051 * MS), 106000);
	assert_int_equal(os_clock_tick(&c, 1151 * MS), 256000);
	assert_int_equal(os_clock_tick(&c, 1301 * MS), 406000);
	assert_int_equal(os_clock_tick(&c, 0), 0);
	/* Back or again: not taken. */
	push(&c, 1201 * MS, 306001);
	push(&c, 1000 * MS, 406001);
	assert_int_equal(c.n, 4);
	for (i = 990 * MS; i < 1300 * MS; i += 99991)
		assert_true(os_clock_tick(&c, i) <= os_clock_tick(&c, i + 1));
}

static void test_many(void **state)
{
	struct os_clock c = { .kind = FUNC_CLOCK_COUNTER };
	uint64_t i;

	(void)state;
	/* 24 MHz, a pair each 10 ms: those that stay are 50 ms apart, and go back a while. */
	for (i = 0; i < 1000; i++)
		push(&c, SECOND + i * 10 * MS, 77 + i * 240000);
	assert_int_equal(c.n, OS_CLOCK_PAIRS);
	assert_true(c.pairs[c.n - 2].ns - c.pairs[0].ns >= (OS_CLOCK_PAIRS - 2) * 50 * MS);
	for (i = 0; i < 1000; i += 7)
		assert_int_equal(os_clock_tick(&c, SECOND + i * 10 * MS + 5 * MS),
				 77 + i * 240000 + 120000);
}

static void test_far(void **state)
{
	struct os_clock c = { .kind = FUNC_CLOCK_COUNTER };
	uint64_t ns = 40 * 86400 * SECOND, tick, half;

	(void)state;
	/* Nobody looked for a day: the product of both has more than 64 bits. */
	push(&c, ns, 3 * ns);
	push(&c, ns + 1, 3 * ns + 3);
	push(&c, ns + 86400 * SECOND, 3 * ns + 3 * 86400 * SECOND);
	half = ns + 43200 * SECOND;
	tick = os_clock_tick(&c, half);
	assert_true(tick > 3 * half - SECOND && tick < 3 * half + SECOND);
}

static void test_machine(void **state)
{
	struct os_clock c;
	struct func_clock f;
	struct os_clock_pair a, b;
	uint64_t was;

	(void)state;
	func_clock_init(&f);
	os_clock_init(&c, f.kind, f.shift);
	assert_int_equal(c.n, 2);
	a = os_clock_read(&c);
	os_clock_push(&c, a);
	b = os_clock_read(&c);
	assert_true(b.ns >= a.ns && b.tick >= a.tick);
	was = os_clock_tick(&c, a.ns);
	/* What was measured is what is told, up to rounding. */
	assert_true(llabs((long long)(was - a.tick)) <= 1);
	os_clock_init(&c, FUNC_CLOCK_MONOTONIC, 0);
	assert_int_equal(os_clock_tick(&c, 123456789), 123456789);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_far),
		cmocka_unit_test(test_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
