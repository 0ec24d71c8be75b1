/* SPDX-License-Identifier: MIT */
/* os_threads: whose records go where, what is held until a row is known, gaps, ends, and no room. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/feed/os_threads.h"
#include "device/func/clock.h"
#include "tools/fake_func_run.h"

#define ALL ((uint64_t)(FUNC_WATCH_SWITCHES | FUNC_WATCH_SYSCALLS))
#define SECOND 1000000000ULL

static struct func_run *run;
static struct os_threads *threads;
static struct os_clock os_clock; /* a tick is a nanosecond */

static int set_up(void **state)
{
	struct os_threads_options o = { .clock = &os_clock };

	(void)state;
	os_clock.kind = FUNC_CLOCK_MONOTONIC;
	run = o.run = fake_func_run_new();
	return os_threads_new(&threads, &o, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	assert_false(run->is_bad);
	os_threads_free(threads);
	fake_func_run_free(run);
	return 0;
}

static void push(enum os_kind kind, uint64_t ns, int32_t tid, int32_t other, uint64_t value)
{
	const struct os_record r = {
		.kind = kind, .ns = ns, .tid = tid, .other = other, .value = value, .cpu = 1
	};

	assert_true(os_threads_has_room(threads));
	os_threads_push(threads, &r, true);
}

static uint32_t seen[FAKE_FUNC_ROWS];

/* The next event of a row. */
static void expect(uint32_t row, uint64_t tick, enum func_os_type os, uint64_t value)
{
	const struct fake_func_row *r = &run->rows[row];
	const struct func_event *ev = &r->events[seen[row]];

	assert_true(seen[row]++ < r->n);
	assert_int_equal(ev->kind, FUNC_OS);
	assert_int_equal(ev->tick, tick);
	assert_int_equal(ev->os, os);
	assert_true(ev->value == value);
}

static void expect_end(uint32_t row)
{
	assert_int_equal(seen[row], run->rows[row].n);
}

static void begin(void)
{
	memset(seen, 0, sizeof(seen));
}

/* A thread that is known when it is watched. */
static void test_plain(void **state)
{
	(void)state;
	begin();
	assert_int_equal(os_threads_watch(threads, 7, 100), 0);
	assert_int_equal(os_threads_watch(threads, 7, 110), 1);
	assert_int_equal(os_threads_set_row(threads, 7, 2), 0);
	push(OS_SYSCALL, 200, 7, 0, 63);
	push(OS_SWITCH, 300, 7, 9, 1); /* 9 is nobody's */
	push(OS_SWITCH, 350, 9, 0, 0);
	push(OS_WAKING, 400, 7, 9, 0);
	push(OS_WAKING, 410, 9, 7, 0);
	push(OS_SWITCH, 500, 0, 7, 0);
	push(OS_RETURN, 600, 7, 0, 63);
	assert_int_equal(os_threads_flush(threads, 700, false), 0);
	assert_int_equal(run->rows[2].n, 0); /* not old enough for a block */
	assert_int_equal(os_threads_flush(threads, 2 * SECOND, false), 0);
	assert_int_equal(run->rows[2].blocks, 1);
	expect(2, 100, FUNC_OS_WATCH, ALL);
	expect(2, 200, FUNC_OS_SYSCALL, 63);
	expect(2, 300, FUNC_OS_SWITCH_OUT, 1);
	expect(2, 400, FUNC_OS_WAKING, 9);
	expect(2, 500, FUNC_OS_SWITCH_IN, 1);
	expect(2, 600, FUNC_OS_SYSCALL_RETURN, 63);
	expect_end(2);
	push(OS_SWITCH, 3 * SECOND, 7, 9, 0);
	os_threads_remove(threads, 7, 1, SECOND); /* it was another's */
	os_threads_remove(threads, 7, 2, 3 * SECOND + 5);
	/* What lies before the end was not all taken yet. */
	assert_int_equal(os_threads_flush(threads, 3 * SECOND + 1, false), 0);
	push(OS_SWITCH, 3 * SECOND + 2, 9, 7, 0);
	assert_int_equal(os_threads_flush(threads, 3 * SECOND + 6, false), 0);
	expect(2, 3 * SECOND, FUNC_OS_SWITCH_OUT, 0);
	expect(2, 3 * SECOND + 2, FUNC_OS_SWITCH_IN, 1);
	expect(2, 3 * SECOND + 5, FUNC_OS_WATCH, 0);
	expect_end(2);
}

/* A thread that a watched one made is met by its first return; its row comes late, or after its death. */
static void test_held(void **state)
{
	(void)state;
	begin();
	push(OS_SWITCH, 100, 0, 20, 0); /* nobody knows it yet */
	push(OS_RETURN, 110, 20, 0, 220);
	push(OS_SYSCALL, 200, 20, 0, 115);
	push(OS_SWITCH, 210, 20, 0, 1);
	push(OS_RETURN, 300, 21, 0, 220);
	push(OS_SWITCH, 310, 21, 0, 0x10);
	assert_int_equal(os_threads_flush(threads, SECOND, false), 0);
	assert_int_equal(os_threads_set_row(threads, 20, 0), 0);
	assert_int_equal(os_threads_set_row(threads, 21, 1), 0);
	assert_int_equal(os_threads_set_row(threads, 22, 1), -ENOENT);
	assert_int_equal(os_threads_flush(threads, SECOND + 1, true), 0);
	expect(0, 110, FUNC_OS_WATCH, ALL);
	expect(0, 110, FUNC_OS_SYSCALL_RETURN, 220);
	expect(0, 200, FUNC_OS_SYSCALL, 115);
	expect(0, 210, FUNC_OS_SWITCH_OUT, 1);
	expect_end(0);
	expect(1, 300, FUNC_OS_WATCH, ALL);
	expect(1, 300, FUNC_OS_SYSCALL_RETURN, 220);
	expect(1, 310, FUNC_OS_SWITCH_OUT, 0x10);
	expect_end(1);
	/* Its tid is another thread's now. */
	push(OS_RETURN, SECOND + 5, 21, 0, 220);
	assert_int_equal(os_threads_set_row(threads, 21, 3), 0);
	assert_int_equal(os_threads_stop(threads, SECOND + 9), 0);
	expect_end(1);
	expect(3, SECOND + 5, FUNC_OS_WATCH, ALL);
	expect(3, SECOND + 5, FUNC_OS_SYSCALL_RETURN, 220);
	expect(3, SECOND + 9, FUNC_OS_WATCH, 0);
	expect_end(3);
	expect(0, SECOND + 9, FUNC_OS_WATCH, 0);
}

/* What is from before it was watched is not its own, unless the kernel had followed it earlier. */
static void test_before(void **state)
{
	(void)state;
	begin();
	os_threads_watch(threads, 7, 1000);
	os_threads_set_row(threads, 7, 0);
	push(OS_SWITCH, 100, 7, 0, 1);
	push(OS_WAKING, 150, 7, 9, 0);
	push(OS_SWITCH, 200, 0, 7, 0);
	push(OS_RETURN, 300, 7, 0, 63);
	push(OS_SWITCH, 400, 7, 0, 1);
	os_threads_watch(threads, 8, 1000);
	os_threads_set_row(threads, 8, 1);
	push(OS_SWITCH, 500, 8, 0, 1);
	push(OS_SWITCH, 1500, 0, 8, 0);
	assert_int_equal(os_threads_flush(threads, 2000, true), 0);
	expect(0, 300, FUNC_OS_WATCH, ALL);
	expect(0, 300, FUNC_OS_SYSCALL_RETURN, 63);
	expect(0, 400, FUNC_OS_SWITCH_OUT, 1);
	expect_end(0);
	expect(1, 1000, FUNC_OS_WATCH, ALL);
	expect(1, 1500, FUNC_OS_SWITCH_IN, 1);
	expect_end(1);
}

/* What is held too long leaves what it says about now: by true records, in their order. */
static void test_folded(void **state)
{
	uint64_t i;

	(void)state;
	begin();
	push(OS_RETURN, 50, 20, 0, 220);
	for (i = 0; i < 3 * OS_HELD_MAX; i++) {
		push(OS_SYSCALL, 100 + 20 * i, 20, 0, i);
		push(OS_RETURN, 110 + 20 * i, 20, 0, i);
		if (i % 100 == 0)
			os_threads_flush(threads, 110 + 20 * i, false);
	}
	push(OS_SWITCH, SECOND, 1, 20, 0);
	push(OS_SYSCALL, SECOND + 10, 20, 0, 73);
	push(OS_SWITCH, SECOND + 20, 20, 1, 2);
	push(OS_WAKING, SECOND + 30, 20, 1, 0);
	assert_int_equal(os_threads_flush(threads, 9 * SECOND, false), 1);
	assert_int_equal(os_threads_flush(threads, 9 * SECOND, false), 0);
	push(OS_SWITCH, 10 * SECOND, 1, 20, 0);
	assert_int_equal(os_threads_set_row(threads, 20, 4), 0);
	assert_int_equal(os_threads_flush(threads, 10 * SECOND, true), 0);
	expect(4, SECOND + 30, FUNC_OS_WATCH, ALL);
	expect(4, SECOND + 10, FUNC_OS_SYSCALL, 73);
	expect(4, SECOND + 20, FUNC_OS_SWITCH_OUT, 2);
	expect(4, SECOND + 30, FUNC_OS_WAKING, 1);
	expect(4, 10 * SECOND, FUNC_OS_SWITCH_IN, 1);
	expect_end(4);
	/* Another program in the same thread: what it is doing goes over. */
	push(OS_SYSCALL, 11 * SECOND, 20, 0, 221);
	assert_int_equal(os_threads_watch(threads, 20, 11 * SECOND + 1), 1);
	push(OS_RETURN, 12 * SECOND, 20, 0, 221);
	os_threads_remove(threads, 20, 4, 12 * SECOND);
	assert_int_equal(os_threads_set_row(threads, 20, 5), 0);
	assert_int_equal(os_threads_flush(threads, 12 * SECOND, true), 0);
	expect(4, 11 * SECOND, FUNC_OS_SYSCALL, 221);
	expect_end(4);
	expect(5, 11 * SECOND, FUNC_OS_WATCH, ALL);
	expect(5, 10 * SECOND, FUNC_OS_SWITCH_IN, 1);
	expect(5, 11 * SECOND, FUNC_OS_SYSCALL, 221);
	expect(5, 12 * SECOND, FUNC_OS_SYSCALL_RETURN, 221);
	expect_end(5);
}

static void push_calls(int32_t tid, uint64_t from_ns, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		push(i % 2 ? OS_SYSCALL : OS_RETURN, from_ns + i, tid, 0, i % 400);
}

static void expect_calls(uint32_t row, uint64_t from_ns, uint64_t n)
{
	uint64_t i;

	expect(row, from_ns, FUNC_OS_WATCH, ALL);
	for (i = 0; i < n; i++)
		expect(row, from_ns + i, i % 2 ? FUNC_OS_SYSCALL : FUNC_OS_SYSCALL_RETURN, i % 400);
	expect_end(row);
}

/* Before anything of a thread is forgotten its row is asked for; one that gets it keeps all. */
static void test_asks(void **state)
{
	const uint64_t n = OS_HELD_MAX + 1000;

	(void)state;
	begin();
	push_calls(20, 100, n);
	assert_int_equal(os_threads_flush(threads, 10000, false), 1);
	assert_int_equal(os_threads_set_row(threads, 20, 4), 0);
	assert_int_equal(os_threads_flush(threads, 10000, true), 0);
	expect_calls(4, 100, n);
	/* One that has none is asked for again when there are as many again, but not for its age. */
	push_calls(21, SECOND, n);
	assert_int_equal(os_threads_flush(threads, 2 * SECOND, false), 1);
	assert_int_equal(os_threads_flush(threads, 2 * SECOND, false), 0);
	push_calls(21, 2 * SECOND, n);
	assert_int_equal(os_threads_flush(threads, 3 * SECOND, false), 1);
	assert_int_equal(os_threads_flush(threads, 3 * SECOND, false), 0);
	assert_int_equal(os_threads_flush(threads, 9 * SECOND, false), 1);
	assert_int_equal(os_threads_flush(threads, 9 * SECOND, false), 0);
	push(OS_SYSCALL, 9 * SECOND, 21, 0, 5);
	assert_int_equal(os_threads_flush(threads, 19 * SECOND, false), 0);
	push(OS_SYSCALL, 19 * SECOND, 21, 0, 6);
	assert_int_equal(os_threads_flush(threads, 29 * SECOND, false), 0);
	assert_int_equal(os_threads_set_row(threads, 21, 5), 0);
	assert_int_equal(os_threads_flush(threads, 29 * SECOND, true), 0);
	expect(5, 19 * SECOND, FUNC_OS_WATCH, ALL);
	expect(5, 19 * SECOND, FUNC_OS_SYSCALL, 6);
	expect_end(5);
}

/* The same when each has few, but all together have no room. */
static void test_asks_for_room(void **state)
{
	int32_t tid;

	(void)state;
	begin();
	for (tid = 20; tid < 36; tid++)
		push_calls(tid, (uint64_t)tid * 1000, 1000);
	while (os_threads_has_room(threads))
		push(OS_WAKING, 40000, 20, 1, 0);
	assert_int_equal(os_threads_flush(threads, 50000, true), 1);
	assert_false(os_threads_has_room(threads)); /* nothing was forgotten */
	for (tid = 21; tid < 24; tid++)
		assert_int_equal(os_threads_set_row(threads, tid, (uint32_t)tid - 21), 0);
	assert_int_equal(os_threads_flush(threads, 50000, true), 0);
	assert_true(os_threads_has_room(threads));
	for (tid = 21; tid < 24; tid++)
		expect_calls((uint32_t)tid - 21, (uint64_t)tid * 1000, 1000);
}

/* The number is told once; that there is a gap, by all. */
static void test_gap(void **state)
{
	const struct os_record lost = { .kind = OS_LOST, .ns = 500, .cpu = 1, .value = 42 };
	const struct os_record again = {
		.kind = OS_LOST, .ns = 600, .cpu = 1, .value = 1, .other = 1
	};
	const struct os_record found = { .kind = OS_FOUND, .ns = 900, .cpu = 1 };

	(void)state;
	begin();
	os_threads_watch(threads, 7, 100);
	os_threads_set_row(threads, 7, 0);
	os_threads_watch(threads, 8, 100);
	os_threads_set_row(threads, 8, 1);
	push(OS_SWITCH, 400, 0, 7, 0);
	os_threads_push(threads, &lost, true);
	os_threads_push(threads, &again, true);
	push(OS_RETURN, 700, 9, 0, 220); /* one that begins inside of it */
	os_threads_push(threads, &found, true);
	os_threads_set_row(threads, 9, 2);
	assert_int_equal(os_threads_stop(threads, 1000), 0);
	expect(0, 100, FUNC_OS_WATCH, ALL);
	expect(0, 400, FUNC_OS_SWITCH_IN, 1);
	expect(0, 500, FUNC_OS_WATCH, 0);
	assert_int_equal(run->rows[0].lost_at, seen[0]);
	assert_int_equal(run->rows[0].lost, 43);
	assert_int_equal(run->rows[1].lost, 0);
	expect(0, 900, FUNC_OS_WATCH, ALL);
	expect(0, 1000, FUNC_OS_WATCH, 0);
	expect_end(0);
	expect(1, 100, FUNC_OS_WATCH, ALL);
	expect(1, 500, FUNC_OS_WATCH, 0);
	expect(1, 900, FUNC_OS_WATCH, ALL);
	expect(2, 700, FUNC_OS_WATCH, 0);
	expect(2, 700, FUNC_OS_SYSCALL_RETURN, 220);
	expect(2, 900, FUNC_OS_WATCH, ALL);
}

/* A full spool keeps everything here, until there is no room; nothing comes twice. */
static void test_full(void **state)
{
	uint64_t i = 0, n;

	(void)state;
	begin();
	os_threads_watch(threads, 7, 1);
	os_threads_set_row(threads, 7, 0);
	run->is_full = true;
	for (; os_threads_has_room(threads); i++) {
		push(i % 2 ? OS_RETURN : OS_SYSCALL, 10 + i, 7, 0, i * 7919 % 400);
		if (i % 1000 == 0)
			assert_true(os_threads_flush(threads, 10 + i, true) == -ENOSPC);
	}
	assert_true(i > OS_POOL_RECORDS / 2);
	assert_int_equal(os_threads_stop(threads, 50000), -ENOSPC);
	run->is_full = false;
	assert_int_equal(os_threads_stop(threads, 50000), 0);
	expect(0, 1, FUNC_OS_WATCH, ALL);
	for (n = 0; n < i; n++)
		expect(0, 10 + n, n % 2 ? FUNC_OS_SYSCALL_RETURN : FUNC_OS_SYSCALL, n * 7919 % 400);
	expect(0, 50000, FUNC_OS_WATCH, 0);
	expect_end(0);
	assert_true(os_threads_has_room(threads));
}

/* More threads than there is room for: those with a row stay. */
static void test_many(void **state)
{
	int32_t tids[OS_THREADS_MAX], tid;
	uint32_t n;

	(void)state;
	begin();
	os_threads_watch(threads, 7, 1);
	os_threads_set_row(threads, 7, 0);
	for (tid = 100; tid < 100 + 3 * (int32_t)OS_THREADS_MAX; tid++)
		push(OS_RETURN, (uint64_t)tid, tid, 0, 220);
	n = os_threads_get_tids(threads, tids);
	assert_int_equal(n, OS_THREADS_MAX);
	assert_int_equal(os_threads_set_row(threads, 100, 1), -ENOENT);
	assert_int_equal(os_threads_set_row(threads, tid - 1, 1), 0);
	assert_int_equal(os_threads_stop(threads, 20000), 0);
	expect(0, 1, FUNC_OS_WATCH, ALL);
	expect(1, (uint64_t)tid - 1, FUNC_OS_WATCH, ALL);
	assert_int_equal(os_threads_watch(threads, 0, 1), -EINVAL);
}

/* Kernels that do not follow: nobody is watched who was not named. */
static void test_not_followed(void **state)
{
	const struct os_record r = { .kind = OS_RETURN, .ns = 5, .tid = 9, .value = 220 };

	(void)state;
	os_threads_push(threads, &r, false);
	assert_int_equal(os_threads_set_row(threads, 9, 0), -ENOENT);
}

/* The agent was started again: what was between is marked, and told as lost if one had died. */
static void test_again(void **state)
{
	struct os_threads_options o = { .clock = &os_clock, .run = run, .is_heir = true };

	(void)state;
	begin();
	os_threads_watch(threads, 7, 100);
	os_threads_set_row(threads, 7, 0);
	push(OS_SYSCALL, 200, 7, 0, 63);
	assert_int_equal(os_threads_flush(threads, 300, true), 0);
	os_threads_free(threads);
	assert_int_equal(os_threads_new(&threads, &o, NULL), 0);
	os_threads_watch(threads, 7, 900);
	os_threads_set_row(threads, 7, 0);
	assert_int_equal(os_threads_flush(threads, 1000, true), 0);
	expect(0, 100, FUNC_OS_WATCH, ALL);
	expect(0, 200, FUNC_OS_SYSCALL, 63);
	expect(0, 200, FUNC_OS_WATCH, 0);
	expect(0, 900, FUNC_OS_WATCH, ALL);
	expect_end(0);
	assert_true(run->rows[0].lost_unknown);
	assert_int_equal(run->rows[0].lost_at, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plain), TEST(test_held),	    TEST(test_folded),
		TEST(test_gap),	  TEST(test_before),	    TEST(test_full),
		TEST(test_many),  TEST(test_again),	    TEST(test_not_followed),
		TEST(test_asks),  TEST(test_asks_for_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
