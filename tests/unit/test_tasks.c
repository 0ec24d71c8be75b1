/* SPDX-License-Identifier: MIT */
/* tasks: names over time, lives that end and begin again, thread groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/tasks.h"

static struct trace_info info;
static struct tasks *t;

static int set_up(void **state)
{
	(void)state;
	assert_int_equal(info_init(&info), 0);
	assert_int_equal(info_add_task(&info, 10, 7, (const char[SCHED_COMM_LEN]){ "given" }), 0);
	t = tasks_new(&info);
	return t ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	tasks_free(t);
	info_done(&info);
	return 0;
}

static struct trace_item event(uint64_t ns, enum sched_kind kind, int32_t pid, const char *comm)
{
	struct trace_item i;

	memset(&i, 0, sizeof(i));
	i.event.tick = ns;
	i.event.kind = (uint8_t)kind;
	i.event.pid = pid;
	i.event.task.pid = pid;
	sched_comm_set(i.event.task.comm, comm, strlen(comm));
	return i;
}

static void feed(struct trace_item i, int32_t other, const char *comm)
{
	i.event.other.pid = other;
	sched_comm_set(i.event.other.comm, comm, strlen(comm));
	assert_int_equal(tasks_add(t, &i), 0);
}

static const char *name_at(int32_t pid, uint64_t ns)
{
	const struct task_name *n = tasks_at(t, pid, ns);

	return n ? n->comm : NULL;
}

static void test_names(void **state)
{
	(void)state;
	feed(event(90, SCHED_SWITCH, 0, "swapper/1"), 10, "sh");
	feed(event(100, SCHED_SWITCH, 10, "sh"), 20, "make");
	feed(event(200, SCHED_RENAME, 10, "sh"), 0, "cc1");
	feed(event(300, SCHED_SWITCH, 20, "make"), 10, "cc1");
	assert_string_equal(name_at(10, 50), "sh");
	assert_string_equal(name_at(10, 199), "sh");
	assert_string_equal(name_at(10, 200), "cc1");
	assert_string_equal(name_at(20, 1000), "make");
	assert_null(name_at(30, 100));
	assert_null(name_at(0, 100)); /* every CPU has its own */
	assert_int_equal(tasks_count(t), 3);
	assert_int_equal(tasks_at(t, 10, 300)->tgid, 7);
	assert_int_equal(tasks_at(t, 20, 300)->tgid, -1);
	assert_int_equal(tasks_at(t, 20, 300)->to_ns, 300);
}

static void test_lives(void **state)
{
	(void)state;
	feed(event(1, SCHED_FORK, 10, "sh"), 50, "sh");
	feed(event(2, SCHED_EXIT, 50, "sh"), 0, "");
	feed(event(3, SCHED_FORK, 10, "sh"), 50, "sh");
	assert_int_equal(tasks_count(t), 3);
	assert_true(tasks_at(t, 50, 2)->exited);
	assert_true(tasks_at(t, 50, 3)->forked);
	assert_false(tasks_at(t, 50, 3)->exited);
	feed(event(4, SCHED_EXEC, 50, ""), 0, "");
	assert_int_equal(tasks_at(t, 50, 4)->tgid, 50);
	assert_int_equal(tasks_at(t, 50, 2)->tgid, -1);
}

/* The next task of a pid is another one, also where its fork or the exit before it are missing; what
 * nobody names stays without a name. */
static void test_lives_do_not_share_names(void **state)
{
	struct trace_item i = event(20, SCHED_SWITCH, 60, "old");

	(void)state;
	feed(event(10, SCHED_SWITCH, 0, "swapper/0"), 60, "old");
	dialect_from_release(&info.dialect, "6.18.0");
	tasks_set_info(t, &info);
	i.event.state = 0x20; /* Z */
	feed(i, 0, "swapper/0");
	feed(event(40, SCHED_WAKING, 60, "new"), 0, "");
	assert_string_equal(name_at(60, 5), "old");
	assert_string_equal(name_at(60, 20), "old");
	assert_string_equal(name_at(60, 21), "new");
	assert_int_equal(tasks_at(t, 60, 20)->life, 0);
	assert_int_equal(tasks_at(t, 60, 40)->life, 1);
	feed(event(90, SCHED_FORK, 10, "sh"), 70, "sh");
	assert_null(name_at(70, 89));
	assert_string_equal(name_at(70, 90), "sh");
	feed(event(95, SCHED_FORK, 10, "sh"), 60, "sh");
	assert_string_equal(name_at(60, 94), "new");
	assert_string_equal(name_at(60, 95), "sh");
	assert_int_equal(tasks_at(t, 60, 95)->life, 2);
}

/* The name of the event itself, of the moment, of the table: in this order. */
static void test_runner(void **state)
{
	struct trace_item i = event(50, SCHED_WAKING, 11, "woken");

	(void)state;
	feed(event(100, SCHED_SWITCH, 20, "make"), 30, "cc1");
	i.event.pid = 30;
	assert_string_equal(tasks_runner(t, &i.event), "cc1");
	i.event.pid = 11;
	assert_string_equal(tasks_runner(t, &i.event), "woken");
	i.event.pid = 10;
	assert_string_equal(tasks_runner(t, &i.event), "given");
	i.event.pid = 12;
	assert_null(tasks_runner(t, &i.event));
	i.event.pid = 0;
	assert_null(tasks_runner(t, &i.event));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lives, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lives_do_not_share_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_runner, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
