/* SPDX-License-Identifier: MIT */
/* histogram: exact where it promises so, within 0.8 % elsewhere, over all of 64 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Two that are merged are one that has all values. */
static void test_merging(void **state)
{
	struct histogram parts[2] = { { 0 }, { 0 } }, all = { 0 };
	uint64_t v = 1;
	uint32_t i, permille;

	(void)state;
	for (i = 0; i < 200; i++, v = v * 3 % 1000003 + i) {
		assert_int_equal(histogram_add(&parts[i % 3 == 0], v), 0);
		assert_int_equal(histogram_add(&all, v), 0);
	}
	assert_int_equal(histogram_merge(&parts[0], &parts[1]), 0);
	assert_int_equal(parts[0].count, all.count);
	assert_int_equal(parts[0].sum, all.sum);
	assert_int_equal(parts[0].min, all.min);
	assert_int_equal(parts[0].max, all.max);
	for (permille = 0; permille <= 1000; permille += 50)
		assert_int_equal(histogram_permille(&parts[0], permille),
				 histogram_permille(&all, permille));
	histogram_done(&parts[0]);
	histogram_done(&parts[1]);
	/* nothing into nothing has no least value */
	memset(parts, 0, sizeof(parts));
	assert_int_equal(histogram_merge(&parts[0], &parts[1]), 0);
	assert_int_equal(histogram_merge(&parts[0], &all), 0);
	assert_int_equal(parts[0].min, all.min);
	histogram_done(&parts[0]);
	histogram_done(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_precision),
		cmocka_unit_test(test_small_values_are_exact),
		cmocka_unit_test(test_merging),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
