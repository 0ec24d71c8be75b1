/* SPDX-License-Identifier: MIT */
/* wheel: no entry early, none more than a step late, none lost, whatever the order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collector/wheel.h"

#define ENTRIES 2000U
#define ROUND_MS (WHEEL_STEP_MS * WHEEL_SLOTS)

static struct wheel wheel;
static struct {
	struct wheel_entry entry; /* first */
	uint64_t at_ms;
} entries[ENTRIES];

static void test_many(void **state)
{
	uint64_t now = 123456, step, left = ENTRIES;
	uint32_t i, seed = 1;
	struct wheel_entry *e;

	(void)state;
	wheel_init(&wheel, now);
	for (i = 0; i < ENTRIES; i++) {
		seed = seed * 1103515245 + 12345;
		entries[i].at_ms = now + (seed >> 8) % (3 * ROUND_MS);
		wheel_set(&wheel, &entries[i].entry, entries[i].at_ms);
	}
	for (step = now; left && step < now + 4 * ROUND_MS; step += 70) {
		while ((e = wheel_pop(&wheel, step))) {
			i = (uint32_t)(((char *)e - (char *)entries) / sizeof(entries[0]));
			assert_true(entries[i].at_ms <= step);
			assert_true(step <= entries[i].at_ms + 2 * WHEEL_STEP_MS);
			left--;
		}
	}
	assert_int_equal(left, 0);
}

static void test_set_again_and_unset(void **state)
{
	struct wheel_entry a = { 0 }, b = { 0 };

	(void)state;
	wheel_init(&wheel, 0);
	wheel_set(&wheel, &a, 500);
	wheel_set(&wheel, &b, 500);
	wheel_set(&wheel, &a, 2000); /* later */
	assert_ptr_equal(wheel_pop(&wheel, 1000), &b);
	assert_null(wheel_pop(&wheel, 1000));
	wheel_unset(&a);
	wheel_unset(&a);
	assert_null(wheel_pop(&wheel, 100000));
	wheel_set(&wheel, &a, 5); /* in the past: with the next step */
	assert_null(wheel_pop(&wheel, 100000));
	assert_ptr_equal(wheel_pop(&wheel, 100000 + WHEEL_STEP_MS), &a);
}

/* Popping one may take others out. */
static void test_unset_while_popping(void **state)
{
	struct wheel_entry a = { 0 }, b = { 0 }, c = { 0 };

	(void)state;
	wheel_init(&wheel, 0);
	wheel_set(&wheel, &a, 100);
	wheel_set(&wheel, &b, 100);
	wheel_set(&wheel, &c, 100);
	assert_ptr_equal(wheel_pop(&wheel, 1000), &a);
	wheel_unset(&b);
	assert_ptr_equal(wheel_pop(&wheel, 1000), &c);
	assert_null(wheel_pop(&wheel, 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_set_again_and_unset),
		cmocka_unit_test(test_unset_while_popping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
