/* SPDX-License-Identifier: MIT */
/*
 * ftrace_line: the numbers print as printf's, every kind of event prints as its kernel does, in
 * old and new dialects, and the task column follows info->tasks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "convert/ftrace_header.h"
#include "convert/ftrace_line.h"
#include "convert/ftrace_put.h"

static struct trace_info info;
static struct ftrace_line line;

static int setup(void **state)
{
	(void)state;
	assert_int_equal(info_init(&info), 0);
	info.cpus = 4;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	info_done(&info);
	return 0;
}

static void add_task(int32_t pid, int32_t tgid, const char *name)
{
	char comm[SCHED_COMM_LEN];

	sched_comm_set(comm, name, strlen(name));
	assert_int_equal(info_add_task(&info, pid, tgid, comm), 0);
}

static size_t format(uint32_t cpu, const struct sched_event *e, char *buf)
{
	struct trace_item item = { .type = ITEM_EVENT, .cpu = cpu, .event = *e };

	return ftrace_line_format(&line, &item, buf);
}

static void check(uint32_t cpu, const struct sched_event *e, const char *expected)
{
	char buf[FTRACE_LINE_MAX + 1];
	size_t len = format(cpu, e, buf);

	assert_true(len <= FTRACE_LINE_MAX);
	buf[len] = 0;
	assert_string_equal(buf, expected);
}

static struct sched_event make_switch(void)
{
	struct sched_event e = { .kind = SCHED_SWITCH, .tick = 797027593500, .pid = 42 };

	e.task.pid = 42;
	e.task.prio = 120;
	sched_comm_set(e.task.comm, "bash", 4);
	e.other.pid = -7;
	e.other.prio = -1;
	sched_comm_set(e.other.comm, "sixteen bytes ab", 16);
	e.state = 1;
	return e;
}

static void check_number(uint64_t v)
{
	char got[64], want[64];

	*put_u64(got, v) = 0;
	snprintf(want, sizeof(want), "%llu", (unsigned long long)v);
	assert_string_equal(got, want);
	*put_u64_right(got, v, 5) = 0;
	snprintf(want, sizeof(want), "%5llu", (unsigned long long)v);
	assert_string_equal(got, want);
	*put_i32(got, (int32_t)v) = 0;
	snprintf(want, sizeof(want), "%d", (int32_t)v);
	assert_string_equal(got, want);
	*put_i32_zero3(got, (int32_t)v) = 0;
	snprintf(want, sizeof(want), "%03d", (int32_t)v);
	assert_string_equal(got, want);
	*put_i32_right(got, (int32_t)v, 7) = 0;
	snprintf(want, sizeof(want), "%7d", (int32_t)v);
	assert_string_equal(got, want);
}

static void numbers_print_as_printf(void **state)
{
	uint64_t v, power = 1;
	uint32_t i;

	(void)state;
	for (i = 0; i < 20; i++, power *= 10)
		for (v = power - 2; v != power + 3; v++)
			check_number(v);
	for (v = 0; v < 2000; v++)
		check_number(v);
	for (v = 1; v < 2000; v++)
		check_number(0 - v);
	for (i = 0, v = 88172645463325252ULL; i < 20000; i++) {
		v ^= v << 13;
		v ^= v >> 7;
		v ^= v << 17;
		check_number(v >> (i % 64));
	}
}

static void a_switch_prints_all_its_fields(void **state)
{
	struct sched_event e = make_switch();

	(void)state;
	add_task(42, 40, "make");
	ftrace_line_init(&line, &info);
	e.flags = 0x01 | 0x24 | 0x10;
	e.preempt_count = 0x12;
	check(3, &e,
	      "            make-42      [003] dNs21   797.027594: sched_switch: prev_comm=bash "
	      "prev_pid=42 prev_prio=120 prev_state=S ==> next_comm=sixteen bytes ab next_pid=-7 "
	      "next_prio=-1\n");
	info.dialect.features |= DIALECT_TGID;
	ftrace_line_init(&line, &info);
	e.pid = 43;
	e.tick = 797027593499;
	check(3, &e,
	      "           <...>-43      (-------) [003] dNs21   797.027593: sched_switch: "
	      "prev_comm=bash prev_pid=42 prev_prio=120 prev_state=S ==> next_comm=sixteen bytes "
	      "ab "
	      "next_pid=-7 next_prio=-1\n");
}

static void the_task_column_follows_the_tasks(void **state)
{
	struct sched_event e = { .kind = SCHED_FORK, .pid = 500 };

	(void)state;
	info.dialect.features |= DIALECT_TGID;
	ftrace_line_init(&line, &info);
	check(0, &e,
	      "           <...>-500     (-------) [000] .....     0.000000: "
	      "sched_process_fork: comm= pid=0 child_comm= child_pid=0\n");
	add_task(500, 12345678, "a-1 [0]");
	check(0, &e,
	      "         a-1 [0]-500     (12345678) [000] .....     0.000000: "
	      "sched_process_fork: comm= pid=0 child_comm= child_pid=0\n");
	add_task(3, 3, "moves the index");
	add_task(500, -1, "");
	check(0, &e,
	      "                -500     (-------) [000] .....     0.000000: "
	      "sched_process_fork: comm= pid=0 child_comm= child_pid=0\n");
	e.pid = 0;
	check(0, &e,
	      "          <idle>-0       (-------) [000] .....     0.000000: "
	      "sched_process_fork: comm= pid=0 child_comm= child_pid=0\n");
	info.dialect.pid_width = 5;
	ftrace_line_init(&line, &info);
	e.pid = -1;
	check(1000, &e,
	      "           <XXX>--1    (-----) [1000] .....     0.000000: "
	      "sched_process_fork: comm= pid=0 child_comm= child_pid=0\n");
}

static void check_state(uint64_t value, const char *expected)
{
	struct sched_event e = make_switch();
	char buf[FTRACE_LINE_MAX + 1], want[64];
	size_t len;

	e.state = value;
	len = format(0, &e, buf);
	buf[len] = 0;
	snprintf(want, sizeof(want), " prev_state=%s ==> ", expected);
	if (!strstr(buf, want))
		fail_msg("state 0x%llx is not%sin %s", (unsigned long long)value, want, buf);
}

static void states_print_by_the_dialect(void **state)
{
	(void)state;
	ftrace_line_init(&line, &info);
	check_state(0, "R");
	check_state(0x100, "R+");
	check_state(0x80, "I");
	check_state(0x30, "X|Z");
	check_state(0x102, "D+");
	check_state(0xffffffff00000202, "D");
	info.dialect.state_mask = 0x3fff;
	info.dialect.state_preempt = 0x4000;
	check_state(0x3a01, "S|0x3a00");
	check_state(0x7a00, "0x3a00+");
	dialect_from_release(&info.dialect, "4.4.302");
	check_state(0x40, "x");
	check_state(0x82, "D|K");
	check_state(0x800, "R+");
}

static void check_flags(uint8_t flags, uint8_t count, const char *expected)
{
	struct sched_event e = { .kind = SCHED_EXEC, .flags = flags, .preempt_count = count };
	char buf[FTRACE_LINE_MAX + 1], want[64];
	size_t len = format(0, &e, buf);

	buf[len] = 0;
	snprintf(want, sizeof(want), "[000] %s     0.000000: sched_process_exec", expected);
	if (!strstr(buf, want))
		fail_msg("flags 0x%x %x are not %s in %s", flags, count, expected, buf);
}

static void flags_print_by_the_dialect(void **state)
{
	(void)state;
	ftrace_line_init(&line, &info);
	check_flags(0x00, 0x00, ".....");
	check_flags(0x81, 0x0f, "D..f.");
	check_flags(0x80, 0xf0, "b...f");
	check_flags(0x04, 0, ".n...");
	check_flags(0x20, 0, ".p...");
	check_flags(0x24, 0, ".N...");
	check_flags(0x02, 0, ".l...");
	check_flags(0x22, 0, ".L...");
	check_flags(0x06, 0, ".b...");
	check_flags(0x26, 0, ".B...");
	check_flags(0x08, 0, "..h..");
	check_flags(0x18, 0, "..H..");
	check_flags(0x40, 0, "..z..");
	check_flags(0x48, 0, "..Z..");
	check_flags(0x50, 0, "..z..");
	dialect_from_release(&info.dialect, "6.1");
	ftrace_line_init(&line, &info);
	check_flags(0x02, 0, "X....");
	check_flags(0x03, 0, "d....");
	dialect_from_release(&info.dialect, "4.19");
	ftrace_line_init(&line, &info);
	check_flags(0x01, 0x00, "d...");
	check_flags(0x01, 0x03, "d..3");
	check_flags(0x01, 0x10, "d..10");
}

static void every_kind_has_its_body(void **state)
{
	struct sched_event e = { .kind = SCHED_WAKING, .tick = 12345678901000, .value = 2 };

	(void)state;
	ftrace_line_init(&line, &info);
	e.task.pid = 9;
	e.task.prio = 98;
	sched_comm_set(e.task.comm, "a b", 3);
	sched_comm_set(e.other.comm, "new", 3);
	e.other.pid = 10;
	e.other.prio = 50;
#define HEAD "          <idle>-0       [001] ..... 12345.678901: "
	check(1, &e, HEAD "sched_waking: comm=a b pid=9 prio=98 target_cpu=002\n");
	e.kind = SCHED_WAKEUP;
	check(1, &e, HEAD "sched_wakeup: comm=a b pid=9 prio=98 target_cpu=002\n");
	e.kind = SCHED_WAKEUP_NEW;
	check(1, &e, HEAD "sched_wakeup_new: comm=a b pid=9 prio=98 target_cpu=002\n");
	e.kind = SCHED_FORK;
	check(1, &e, HEAD "sched_process_fork: comm=a b pid=9 child_comm=new child_pid=10\n");
	e.kind = SCHED_EXIT;
	check(1, &e, HEAD "sched_process_exit: comm=a b pid=9 prio=98 group_dead=false\n");
	e.extra = 1;
	check(1, &e, HEAD "sched_process_exit: comm=a b pid=9 prio=98 group_dead=true\n");
	e.kind = SCHED_EXEC;
	e.filename = "/bin/x y";
	e.filename_len = 8;
	check(1, &e, HEAD "sched_process_exec: filename=/bin/x y pid=9 old_pid=2\n");
	e.kind = SCHED_SETPRIO;
	check(1, &e, HEAD "sched_pi_setprio: comm=a b pid=9 oldprio=98 newprio=50\n");
	e.kind = SCHED_RENAME;
	e.value = -1000;
	check(1, &e, HEAD "task_rename: pid=9 oldcomm=a b newcomm=new oom_score_adj=-1000\n");
	info.dialect.features |= DIALECT_RENAME_NO_PID | DIALECT_NO_FLAGS | DIALECT_SUCCESS;
	info.dialect.features &= ~(uint32_t)DIALECT_GROUP_DEAD;
#undef HEAD
#define HEAD "          <idle>-0       [001]  12345.678901: "
	check(1, &e, HEAD "task_rename: oldcomm=a b newcomm=new oom_score_adj=-1000\n");
	e.kind = SCHED_EXIT;
	check(1, &e, HEAD "sched_process_exit: comm=a b pid=9 prio=98\n");
	e.kind = SCHED_WAKEUP;
	check(1, &e, HEAD "sched_wakeup: comm=a b pid=9 prio=98 success=1 target_cpu=-1000\n");
#undef HEAD
}

static void the_longest_line_fits(void **state)
{
	struct sched_event e = { .kind = SCHED_EXEC, .tick = UINT64_MAX, .pid = INT32_MIN };
	static char path[SCHED_FILENAME_MAX];
	char *buf = malloc(FTRACE_LINE_MAX);
	size_t len;

	(void)state;
	memset(path, 'p', sizeof(path));
	info.dialect.features |= DIALECT_TGID;
	add_task(INT32_MIN, INT32_MAX, "sixteen bytes ab");
	ftrace_line_init(&line, &info);
	line.digits = 9;
	e.filename = path;
	e.filename_len = SCHED_FILENAME_MAX;
	e.task.pid = e.value = INT32_MIN;
	len = format(UINT32_MAX, &e, buf);
	assert_true(len > SCHED_FILENAME_MAX && len <= FTRACE_LINE_MAX);
	assert_int_equal(buf[len - 1], '\n');
	free(buf);
}

static void clocks_print_their_stamps(void **state)
{
	struct sched_event e = { .kind = SCHED_EXEC, .tick = 1234567890123 };

	(void)state;
	ftrace_line_init(&line, &info);
	line.digits = 9;
	check(0, &e,
	      "          <idle>-0       [000] .....  1234.567890123: sched_process_exec: "
	      "filename= pid=0 old_pid=0\n");
	info.clock.print_digits = 0;
	ftrace_line_init(&line, &info);
	check(0, &e,
	      "          <idle>-0       [000] ..... 1234567890123: sched_process_exec: "
	      "filename= pid=0 old_pid=0\n");
	e.tick = 5;
	check(0, &e,
	      "          <idle>-0       [000] .....            5: sched_process_exec: "
	      "filename= pid=0 old_pid=0\n");
	info.clock.print_digits = 6;
	info.clock.mult = 1000;
	e.tick_off_ns = 500;
	ftrace_line_init(&line, &info);
	check(0, &e,
	      "          <idle>-0       [000] .....     0.000006: sched_process_exec: "
	      "filename= pid=0 old_pid=0\n");
}

static void losses_print_as_the_kernel_does(void **state)
{
	struct trace_loss loss = { .count = 12345 };
	char buf[FTRACE_LINE_MAX + 1];

	(void)state;
	buf[ftrace_line_format_loss(3, &loss, buf)] = 0;
	assert_string_equal(buf, "CPU:3 [LOST 12345 EVENTS]\n");
	loss.count = LOSS_UNKNOWN;
	buf[ftrace_line_format_loss(10, &loss, buf)] = 0;
	assert_string_equal(buf, "CPU:10 [LOST EVENTS]\n");
}

static void check_legend(const char *release, uint32_t features, const char *first,
			 const char *columns)
{
	char buf[FTRACE_HEADER_MAX + 1];

	dialect_from_release(&info.dialect, release);
	assert_int_equal(info_set(&info.kernel, release, strlen(release)), 0);
	info.dialect.features |= features;
	buf[ftrace_header_part(&info, 1, buf)] = 0;
	if (!strstr(buf, first) || !strstr(buf, columns))
		fail_msg("%s: no \"%s\" or \"%s\" in\n%s", release, first, columns, buf);
}

static void legends_fit_the_columns(void **state)
{
	(void)state;
	check_legend("6.18", 0, "#                                _-----=> irqs-off/BH-disabled\n",
		     "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
		     "#              | |         |   |||||     |         |\n");
	check_legend("6.18", DIALECT_TGID,
		     "#                                          _-----=> irqs-off/BH-disabled\n",
		     "#           TASK-PID       TGID    CPU#  |||||  TIMESTAMP  FUNCTION\n"
		     "#              | |           |       |   |||||     |         |\n");
	check_legend("5.16", 0, "#                                _-----=> irqs-off\n", "|||||");
	check_legend("4.19", 0, "#                              _-----=> irqs-off\n",
		     "#           TASK-PID   CPU#  ||||    TIMESTAMP  FUNCTION\n"
		     "#              | |       |   ||||       |         |\n");
	check_legend("5.4", DIALECT_TGID,
		     "#                                      _-----=> irqs-off\n",
		     "#           TASK-PID    TGID   CPU#  ||||    TIMESTAMP  FUNCTION\n"
		     "#              | |        |      |   ||||       |         |\n");
	check_legend("6.18", DIALECT_NO_FLAGS,
		     "#           TASK-PID     CPU#     TIMESTAMP  FUNCTION\n",
		     "#              | |         |         |         |\n");
	check_legend("4.4.302", DIALECT_NO_FLAGS,
		     "#           TASK-PID   CPU#      TIMESTAMP  FUNCTION\n",
		     "#              | |       |          |         |\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_print_as_printf),
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TEST(a_switch_prints_all_its_fields),
		TEST(the_task_column_follows_the_tasks),
		TEST(states_print_by_the_dialect),
		TEST(flags_print_by_the_dialect),
		TEST(every_kind_has_its_body),
		TEST(the_longest_line_fits),
		TEST(clocks_print_their_stamps),
		TEST(losses_print_as_the_kernel_does),
		TEST(legends_fit_the_columns),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
