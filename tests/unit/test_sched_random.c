/* SPDX-License-Identifier: MIT */
/*
 * sched_random: property tests are worth what their events are worth, so the events are checked
 * themselves: valid by sched_event.h, repeatable, and as varied as each style promises.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/sched_random.h"

#define EVENTS 200000

static struct sched_random a, b;

static bool comm_canonical(const char comm[SCHED_COMM_LEN])
{
	char again[SCHED_COMM_LEN];

	sched_comm_set(again, comm, SCHED_COMM_LEN);
	return !memcmp(again, comm, SCHED_COMM_LEN);
}

static bool task_zero(const struct sched_task *t)
{
	static const struct sched_task zero;

	return !memcmp(t, &zero, sizeof(zero));
}

static bool comm_zero(const char comm[SCHED_COMM_LEN])
{
	static const char zero[SCHED_COMM_LEN];

	return !memcmp(comm, zero, SCHED_COMM_LEN);
}

/* The table at the head of sched_event.h. */
static void assert_valid(const struct sched_event *e)
{
	bool wakeup = e->kind >= SCHED_WAKING && e->kind <= SCHED_WAKEUP_NEW;
	uint8_t k = e->kind;

	assert_true(k < SCHED_KINDS);
	assert_true(comm_canonical(e->task.comm) && comm_canonical(e->other.comm));
	if (k != SCHED_SWITCH)
		assert_true(e->state == 0);
	if (!wakeup && k != SCHED_EXEC && k != SCHED_RENAME)
		assert_int_equal(e->value, 0);
	if (!wakeup && k != SCHED_EXIT)
		assert_int_equal(e->extra, 0);
	if (k != SCHED_EXEC)
		assert_true(!e->filename && !e->filename_len);
	else
		assert_true(e->filename_len <= SCHED_FILENAME_MAX &&
			    (e->filename || !e->filename_len));
	if (wakeup || k == SCHED_EXEC || k == SCHED_EXIT)
		assert_true(task_zero(&e->other));
	if (k == SCHED_FORK || k == SCHED_EXEC || k == SCHED_RENAME)
		assert_int_equal(e->task.prio, 0);
	if (k == SCHED_EXEC)
		assert_true(comm_zero(e->task.comm));
	if (k == SCHED_FORK)
		assert_int_equal(e->other.prio, 0);
	if (k == SCHED_RENAME || k == SCHED_SETPRIO)
		assert_int_equal(e->other.pid, 0);
	if (k == SCHED_RENAME)
		assert_int_equal(e->other.prio, 0);
	if (k == SCHED_SETPRIO)
		assert_true(comm_zero(e->other.comm));
}

static void test_valid_and_varied(void **state)
{
	uint32_t count[SCHED_KINDS];
	struct sched_event e;
	unsigned style, i, k;

	(void)state;
	for (style = 0; style < SCHED_RANDOM_STYLES; style++) {
		memset(count, 0, sizeof(count));
		sched_random_init(&a, 1 + style, style);
		for (i = 0; i < EVENTS; i++) {
			sched_random_next(&a, &e);
			assert_valid(&e);
			count[e.kind]++;
		}
		for (k = 0; k < SCHED_KINDS; k++)
			assert_true(count[k] > 10);
	}
}

static void test_repeatable(void **state)
{
	struct sched_event x, y;
	unsigned style, i, same = 0;

	(void)state;
	for (style = 0; style < SCHED_RANDOM_STYLES; style++) {
		sched_random_init(&a, 7, style);
		sched_random_init(&b, 7, style);
		for (i = 0; i < 1000; i++) {
			sched_random_next(&a, &x);
			sched_random_next(&b, &y);
			assert_true(sched_event_equal(&x, &y));
		}
		sched_random_init(&b, 8, style);
		for (i = 0; i < 1000; i++) {
			sched_random_next(&a, &x);
			sched_random_next(&b, &y);
			same += sched_event_equal(&x, &y);
		}
	}
	assert_int_equal(same, 0);
}

/* How often a switch leaves another task than the last one entered, in 1000 switches. */
static unsigned breaks_per_1000(unsigned style)
{
	unsigned switches = 0, breaks = 0;
	struct sched_task last = { 0 };
	uint64_t tick = 0;
	struct sched_event e;

	sched_random_init(&a, 3, style);
	while (switches < EVENTS) {
		sched_random_next(&a, &e);
		if (style != SCHED_RANDOM_HOSTILE)
			assert_true(e.tick >= tick);
		tick = e.tick;
		if (e.kind == SCHED_RENAME && e.task.pid == last.pid)
			memcpy(last.comm, e.other.comm, SCHED_COMM_LEN);
		if (e.kind == SCHED_SETPRIO && e.task.pid == last.pid)
			last.prio = e.other.prio;
		if (e.kind != SCHED_SWITCH)
			continue;
		if (switches++ && (e.task.pid != last.pid || e.task.prio != last.prio ||
				   memcmp(e.task.comm, last.comm, SCHED_COMM_LEN)))
			breaks++;
		last = e.other;
	}
	return breaks * 1000ULL / switches;
}

static void test_chain(void **state)
{
	(void)state;
	assert_int_equal(breaks_per_1000(SCHED_RANDOM_REAL), 0);
	assert_int_equal(breaks_per_1000(SCHED_RANDOM_IDLE), 0);
	assert_in_range(breaks_per_1000(SCHED_RANDOM_BROKEN), 150, 700);
	assert_in_range(breaks_per_1000(SCHED_RANDOM_HOSTILE), 900, 1000);
}

static void test_hostile_reaches(void **state)
{
	enum {
		BACK = 1,
		JUMP = 2,
		NEGATIVE = 4,
		HIGH = 8,
		OFFSET = 16,
		LONG = 32,
		NONE = 64,
		FULL = 128
	};
	uint64_t tick = 0;
	struct sched_event e;
	unsigned seen = 0, i;

	(void)state;
	sched_random_init(&a, 11, SCHED_RANDOM_HOSTILE);
	for (i = 0; i < EVENTS; i++, tick = e.tick) {
		sched_random_next(&a, &e);
		seen |= (int64_t)(e.tick - tick) < 0 ? BACK : 0;
		seen |= (int64_t)(e.tick - tick) > INT64_MAX / 4 ? JUMP : 0;
		seen |= e.task.pid < 0 && e.pid < 0 && e.task.prio < 0 ? NEGATIVE : 0;
		seen |= e.state >> 63 ? HIGH : 0;
		seen |= e.tick_off_ns ? OFFSET : 0;
		seen |= e.filename_len == SCHED_FILENAME_MAX ? LONG : 0;
		seen |= e.kind == SCHED_EXEC && !e.filename_len ? NONE : 0;
		seen |= e.task.comm[SCHED_COMM_LEN - 1] ? FULL : 0;
	}
	assert_int_equal(seen, 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid_and_varied),
		cmocka_unit_test(test_repeatable),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_hostile_reaches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
