/* SPDX-License-Identifier: MIT */
/* units, progress: numbers and names as they are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/progress.h"
#include "cli/units.h"

static void test_durations(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 9999, "9.99 us" },
		{ 45678, "45.6 us" },
		{ 999999, "999 us" },
		{ 1000000, "1.00 ms" },
		{ 59900000000, "59.9 s" },
		{ 123456000000000, "123456 s" },
		{ UINT64_MAX, "18446744073 s" },
	};
	char b[UNITS_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(units_duration(cases[i].ns, b), cases[i].text);
	assert_string_equal(units_moment(797027542123, b), "797.027542123");
	assert_string_equal(units_moment(5, b), "0.000000005");
	assert_string_equal(units_bytes(999, b), "999 B");
	assert_string_equal(units_bytes(1234567, b), "1.23 MB");
	assert_string_equal(units_bytes(UINT64_MAX, b), "18446744 TB");
}

static void test_percent(void **state)
{
	char b[UNITS_LEN];

	(void)state;
	assert_string_equal(units_percent(1, 3, b), "33.3");
	assert_string_equal(units_percent(2, 3, b), "66.7");
	assert_string_equal(units_percent(5, 0, b), "-");
	assert_string_equal(units_percent(UINT64_MAX, UINT64_MAX, b), "100.0");
	assert_string_equal(units_percent(3, 2, b), "150.0");
}

static void test_names(void **state)
{
	static const struct {
		const char comm[17];
		const char *text;
	} cases[] = {
		{ "kworker/0:1", "kworker/0:1" },
		{ "sixteen letters!", "sixteen letters!" },
		{ "a\x1b[31m\n", "a\\x1b[31m\\x0a" },
		{ "back\\slash", "back\\\\slash" },
		{ "\xe8\xbb\x8c\xe8\xb7\xa1", "\xe8\xbb\x8c\xe8\xb7\xa1" },
		{ "\xe8\xbb", "\\xe8\\xbb" },			/* cut within a character */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },		/* a surrogate */
		{ "\xc0\xaf", "\\xc0\\xaf" },			/* not the shortest form */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* beyond the last */
	};
	char b[UNITS_COMM_LEN], worst[16];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(units_comm(cases[i].comm, b), cases[i].text);
	memset(worst, 0xff, sizeof(worst));
	assert_int_equal(strlen(units_comm(worst, b)), UNITS_COMM_LEN - 1);
}

static uint64_t done, total;

static void half(const struct trace_source *s, uint64_t *ret_done, uint64_t *ret_total)
{
	(void)s;
	*ret_done = done;
	*ret_total = total;
}

static void test_progress(void **state)
{
	static const struct trace_source_ops ops = { .progress = half };
	struct trace_source s = { .ops = &ops };
	struct progress p = { .source = &s, .what = "reading", .start_ms = 1000 };
	char line[80];

	(void)state;
	done = 50;
	total = 100;
	progress_format(&p, 1000 + 90000, line, sizeof(line));
	assert_string_equal(line, "reading  [###############...............]  50 %  1:30 left");
	done = 1ULL << 62; /* beyond the end, and more than a hundredth of 64 bits */
	total = 1ULL << 61;
	progress_format(&p, 2000, line, sizeof(line));
	assert_string_equal(line, "reading  [##############################] 100 %  0:00 left");
	total = 0;
	done = 7000000;
	progress_format(&p, 2000, line, sizeof(line));
	assert_string_equal(line, "reading  7 MB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_percent),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
