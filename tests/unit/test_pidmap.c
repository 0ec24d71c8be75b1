/* SPDX-License-Identifier: MIT */
/* pidmap: records are found again, stay where they are while the map grows, and start as zero. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "trace/pidmap.h"

struct record {
	int32_t pid;
	uint64_t value;
};

#define N 50000

static int32_t nth_pid(uint32_t i)
{
	return (int32_t)(i * 2654435769U); /* all different, of both signs */
}

static void test_growth(void **state)
{
	struct pidmap *m = pidmap_new(sizeof(struct record));
	struct record *first, *r;
	uint32_t i;

	(void)state;
	assert_non_null(m);
	first = pidmap_add(m, nth_pid(0));
	for (i = 0; i < N; i++) {
		r = pidmap_add(m, nth_pid(i));
		assert_non_null(r);
		assert_int_equal(r->pid, nth_pid(i));
		assert_int_equal(r->value, 0);
		r->value = i + 1;
	}
	assert_int_equal(pidmap_count(m), N);
	assert_ptr_equal(pidmap_get(m, nth_pid(0)), first);
	for (i = 0; i < N; i++) {
		r = pidmap_get(m, nth_pid(i));
		assert_non_null(r);
		assert_int_equal(r->value, i + 1);
		assert_ptr_equal(pidmap_at(m, i), r);
		assert_ptr_equal(pidmap_add(m, nth_pid(i)), r);
	}
	assert_null(pidmap_get(m, nth_pid(N)));
	assert_int_equal(pidmap_count(m), N);
	pidmap_free(m);
	pidmap_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
