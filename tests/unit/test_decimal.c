/* SPDX-License-Identifier: MIT */
/* decimal: the same digits as printf, at every length and at both ends of the range. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/decimal.h"

static void check(uint64_t v)
{
	char want[64], got[DECIMAL_MAX + 1];

	snprintf(want, sizeof(want), "%" PRIu64, v);
	*decimal_put_u64(got, v) = 0;
	assert_string_equal(got, want);
	snprintf(want, sizeof(want), "%" PRId64, (int64_t)v);
	*decimal_put_i64(got, (int64_t)v) = 0;
	assert_string_equal(got, want);
	snprintf(want, sizeof(want), "%" PRIu64 ".%03u", v / 1000, (unsigned int)(v % 1000));
	*decimal_put_milli(got, v) = 0;
	assert_string_equal(got, want);
}

static void test_lengths(void **state)
{
	uint64_t power = 1, v;
	int i;

	(void)state;
	for (i = 0; i < 20; i++, power *= 10) {
		check(power - 1);
		check(power);
		check(power + 1);
		check(0 - power);
	}
	for (v = 0; v < 100000; v += 7)
		check(v);
	check(UINT32_MAX);
	check((uint64_t)UINT32_MAX + 1);
	check(UINT64_MAX);
	check((uint64_t)INT64_MAX + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
