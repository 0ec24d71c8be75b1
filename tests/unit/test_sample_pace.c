/* SPDX-License-Identifier: MIT */
/* When a profile was sampled, how often, and when not: rows out of metadata, in any order. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/sample_pace.h"
#include "wire/sample_meta_encode.h"

static void load(struct sample_pace *p, const struct sample_pace_row *rows, size_t n)
{
	uint8_t bytes[1024], *body = meta_item_begin(bytes, META_PACE), *end = body;
	size_t i;

	for (i = 0; i < n; i++)
		end = sample_meta_put_pace(end, &rows[i]);
	end = meta_item_end(body, end);
	assert_int_equal(sample_pace_decode(p, bytes, (size_t)(end - bytes)), 0);
	assert_int_equal(sample_pace_decode(p, bytes, (size_t)(end - bytes - 1)), -EBADMSG);
	sample_pace_settle(p);
}

static void test_pauses(void **state)
{
	static const struct sample_pace_row rows[] = {
		{ 600, SAMPLE_PACE_GOES, 10 },	 { 100, SAMPLE_PACE_GOES, 10 },
		{ 200, SAMPLE_PACE_PAUSES, 0 },	 { 700, SAMPLE_PACE_GOES, 40 },
		{ 800, SAMPLE_PACE_PAUSES, 0 },	 { 850, SAMPLE_PACE_WHATS, 99 },
		{ 900, SAMPLE_PACE_STOPPED, 0 },
	};
	struct sample_pace p = { .n = 0 };
	uint64_t from, to;

	(void)state;
	assert_false(sample_pace_span(&p, &from, &to));
	assert_int_equal(sample_pace_paused(&p, 0, UINT64_MAX), 0);
	assert_false(sample_pace_is_complete(&p));
	load(&p, rows, 7);
	assert_true(sample_pace_span(&p, &from, &to));
	assert_int_equal(from, 100);
	assert_int_equal(to, 900);
	assert_int_equal(sample_pace_paused(&p, 0, 1000), 500);
	assert_int_equal(sample_pace_paused(&p, 300, 650), 300);
	assert_int_equal(sample_pace_paused(&p, 850, 2000), 50);
	assert_int_equal(sample_pace_paused(&p, 600, 800), 0);
	assert_int_equal(sample_pace_paused(&p, 650, 300), 0);
	assert_false(sample_pace_is_complete(&p));
	sample_pace_done(&p);
}

static void test_periods(void **state)
{
	static const struct sample_pace_row rows[] = {
		{ 100, SAMPLE_PACE_GOES, 10 }, { 200, SAMPLE_PACE_GOES, 40 },
		{ 300, SAMPLE_PACE_GOES, 20 }, { 400, SAMPLE_PACE_PAUSES, 0 },
		{ 500, SAMPLE_PACE_GOES, 20 }, { 500, SAMPLE_PACE_COMPLETE, 0 },
	};
	struct sample_pace p = { .n = 0 };
	uint64_t least, most;

	(void)state;
	load(&p, rows, 6);
	assert_true(sample_pace_periods(&p, 0, UINT64_MAX, &least, &most));
	assert_int_equal(least, 10);
	assert_int_equal(most, 40);
	assert_true(sample_pace_periods(&p, 310, 390, &least, &most));
	assert_int_equal(least, 20);
	assert_int_equal(most, 20);
	assert_false(sample_pace_periods(&p, 410, 490, &least, &most));
	assert_false(sample_pace_periods(&p, 0, 90, &least, &most));
	assert_true(sample_pace_is_complete(&p));
	sample_pace_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_periods),
	};

	return cmocka_run_group_tests_name("sample_pace", tests, NULL, NULL);
}
