/* SPDX-License-Identifier: MIT */
/* duty: the part of each period, on a clock that is made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/profile/duty.h"

#define S 1000000000ULL
#define STEP (S / 100)

/* Of each period exactly its part, in one piece, and duty_next_ns() says when it changes. */
static void test_parts(void **state)
{
	struct duty d;
	uint64_t start = 123, now, on, next, period;
	uint32_t edges;
	bool is, was;

	(void)state;
	duty_init(&d, 10 * S, 60 * S, 42, start);
	for (period = 0; period < 50; period++) {
		on = edges = 0;
		was = false;
		for (now = start; now < start + 60 * S; now += STEP) {
			is = duty_is_on(&d, now);
			next = duty_next_ns(&d, now);
			assert_true(next > now && next <= start + 60 * S);
			on += is;
			edges += is && !was;
			was = is;
		}
		assert_int_equal(edges, 1);
		assert_in_range(on, 10 * S / STEP - 1, 10 * S / STEP + 1);
		start += 60 * S;
	}
}

/* Devices that begin at the same moment are not on at the same moments, nor one at the same moment of each period. */
static void test_phases(void **state)
{
	uint32_t at[2] = { 0 }, same = 0, i, period;
	struct duty d[2];

	(void)state;
	for (i = 0; i < 2; i++)
		duty_init(&d[i], S, 60 * S, 0x9e3779b97f4a7c15 * (i + 1), 0);
	for (period = 0; period < 100; period++) {
		for (i = 0; i < 2; i++) {
			duty_is_on(&d[i], period * 60 * S);
			at[i] += d[i].from_ns - period * 60 * S < 30 * S;
		}
		same += d[0].from_ns / S == d[1].from_ns / S;
	}
	assert_in_range(at[0], 25, 75);
	assert_in_range(at[1], 25, 75);
	assert_true(same < 20);
}

/* A machine that slept for days goes on in the period that it is then. */
static void test_gap(void **state)
{
	struct duty d;

	(void)state;
	duty_init(&d, 10 * S, 60 * S, 7, 0);
	duty_is_on(&d, 1000000 * 60 * S + 5);
	assert_int_equal(d.start_ns, 1000000 * 60 * S);
	assert_true(d.from_ns >= d.start_ns && d.from_ns <= d.start_ns + 50 * S);
}

static void test_always(void **state)
{
	struct duty d;

	(void)state;
	duty_init(&d, 0, 0, 7, 5);
	assert_true(duty_is_on(&d, 5));
	assert_true(duty_is_on(&d, 1000000 * S));
	assert_true(duty_next_ns(&d, 7) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_always),
	};

	return cmocka_run_group_tests_name("duty", tests, NULL, NULL);
}
