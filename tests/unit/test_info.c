/* SPDX-License-Identifier: MIT */
/* info: the task table stays sorted and single, the clock converts exactly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/info.h"

static void test_tasks(void **state)
{
	static const int32_t pids[] = { 5, 1, 9, 5, 3, 1 };
	struct trace_info i;
	size_t n;

	(void)state;
	assert_int_equal(info_init(&i), 0);
	for (n = 0; n < sizeof(pids) / sizeof(pids[0]); n++)
		assert_int_equal(info_add_task(&i, pids[n], (int32_t)n, "a\0garbage-behind"), 0);
	assert_int_equal(i.n_tasks, 4);
	for (n = 1; n < i.n_tasks; n++)
		assert_true(i.tasks[n - 1].pid < i.tasks[n].pid);
	assert_int_equal(info_get_task(&i, 5)->tgid, 3);
	assert_int_equal(info_get_task(&i, 5)->comm[2], 0);
	assert_null(info_get_task(&i, 4));
	info_done(&i);
}

static void test_clock(void **state)
{
	struct trace_clock c;
	uint64_t tick;

	(void)state;
	clock_init(&c);
	assert_true(clock_ns(&c, 123456789012345ULL) == 123456789012345ULL);
	c.mult = 1242757404; /* 54 MHz as the kernel scales it */
	c.shift = 26;
	c.base_ns = 77;
	for (tick = 1; tick < 1ULL << 50; tick = tick * 3 + 1) {
		unsigned __int128 wide = (unsigned __int128)tick * c.mult >> c.shift;

		assert_true(clock_ns(&c, tick) == 77 + (uint64_t)wide);
		assert_true(clock_tick_at(&c, clock_ns(&c, tick)) == tick);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
