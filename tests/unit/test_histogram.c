/* SPDX-License-Identifier: MIT */
/* histogram: exact where it promises so, within 0.8 % elsewhere, over all of 64 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/histogram.h"

static void test_precision(void **state)
{
	uint32_t shift;

	(void)state;
	for (shift = 0; shift < 64; shift++) {
		struct histogram h = { 0 };
		uint64_t v = (1ULL << shift) | (shift > 3 ? 5ULL << (shift - 3) : 0), got;

		assert_int_equal(histogram_add(&h, v), 0);
		assert_int_equal(histogram_add(&h, UINT64_MAX), 0);
		assert_int_equal(histogram_add(&h, 0), 0);
		got = histogram_permille(&h, 500);
		assert_true((got > v ? got - v : v - got) <= v / 127);
		assert_int_equal(histogram_permille(&h, 0), 0);
		assert_true(histogram_permille(&h, 1000) == UINT64_MAX);
		assert_int_equal(histogram_power(&h, shift), 1 + (shift == 0) + (shift == 63));
		histogram_done(&h);
	}
}

static void test_small_values_are_exact(void **state)
{
	struct histogram h = { 0 };
	uint64_t v;

	(void)state;
	assert_int_equal(histogram_permille(&h, 500), 0);
	for (v = 1; v <= 100; v++)
		assert_int_equal(histogram_add(&h, v), 0);
	assert_int_equal(histogram_permille(&h, 10), 1);
	assert_int_equal(histogram_permille(&h, 11), 2); /* rank 1.1 is the second */
	assert_int_equal(histogram_permille(&h, 500), 50);
	assert_int_equal(h.sum, 5050);
	assert_int_equal(histogram_power(&h, 4), 16);
	assert_int_equal(histogram_power(&h, 6), 37);
	assert_int_equal(histogram_power(&h, 7), 0);
	assert_int_equal(histogram_power(&h, 64), 0);
	histogram_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_precision),
		cmocka_unit_test(test_small_values_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
