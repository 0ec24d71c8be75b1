/* SPDX-License-Identifier: MIT */
/* sched_event: two events are the same if every field is; words of kinds; names that are cut and padded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/sched_event.h"

static struct sched_event whole(void)
{
	return (struct sched_event){ .tick = 1,
				     .state = 2,
				     .filename = "/bin/true",
				     .filename_len = 9,
				     .tick_off_ns = 3,
				     .pid = 4,
				     .value = 5,
				     .kind = SCHED_EXEC,
				     .flags = 6,
				     .preempt_count = 7,
				     .extra = 1,
				     .task = { 8, 120, "editor" },
				     .other = { 9, 98, "shell" } };
}

/* With one of its fields another one; false: it has no more. */
static bool change(struct sched_event *ev, uint32_t n)
{
	int32_t *const numbers[] = { &ev->tick_off_ns, &ev->pid,       &ev->value,
				     &ev->task.pid,    &ev->task.prio, &ev->other.pid,
				     &ev->other.prio };
	uint8_t *const bytes[] = { &ev->kind,
				   &ev->flags,
				   &ev->preempt_count,
				   &ev->extra,
				   (uint8_t *)&ev->tick,
				   (uint8_t *)&ev->state,
				   (uint8_t *)ev->task.comm,
				   (uint8_t *)&ev->other.comm[15] };

	if (n < 7)
		(*numbers[n])++;
	else if (n < 15)
		(*bytes[n - 7])++;
	else if (n == 15)
		ev->filename_len--;
	else if (n == 16)
		ev->filename = "/bin/tree";
	else
		return false;
	return true;
}

static void test_each_field(void **state)
{
	struct sched_event a = whole(), b;
	uint32_t n;

	(void)state;
	for (n = 0; b = a, change(&b, n); n++) {
		assert_false(sched_event_equal(&a, &b));
		assert_false(sched_event_equal(&b, &a));
	}
	assert_int_equal(n, 17);
	assert_true(sched_event_equal(&a, &b));
	a.filename_len = b.filename_len = 0;
	b.filename = NULL;
	assert_true(sched_event_equal(&a, &b));
}

static void test_words(void **state)
{
	uint32_t kind;

	(void)state;
	for (kind = 0; kind < SCHED_KINDS; kind++) {
		assert_non_null(sched_kind_word(kind));
		assert_non_null(strstr(sched_kind_event(kind), sched_kind_word(kind)));
	}
	assert_null(sched_kind_word(SCHED_KINDS));
	assert_null(sched_kind_event(SCHED_KINDS));
}

static void test_comm(void **state)
{
	char comm[SCHED_COMM_LEN];

	(void)state;
	sched_comm_set(comm, "0123456789abcdefg", 17);
	assert_memory_equal(comm, "0123456789abcdef", 16);
	sched_comm_set(comm, "ab\0cd", 5);
	assert_memory_equal(comm, "ab\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	sched_comm_set(comm, "abcd", 3);
	assert_memory_equal(comm, "abc\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_field),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_comm),
	};

	return cmocka_run_group_tests_name("sched_event", tests, NULL, NULL);
}
