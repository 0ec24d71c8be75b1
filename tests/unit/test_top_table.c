/* SPDX-License-Identifier: MIT */
/* top_table: every known nanosecond of a CPU is charged once, over any number of looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/top_table.h"

static struct top *top;

static void add(struct trace_item *i)
{
	struct error e = ERROR_INIT;

	assert_int_equal(top_add(top, i, &e), 0);
}

static void switches(uint64_t ns, uint32_t cpu, int32_t prev, int32_t next)
{
	struct trace_item i = { .type = ITEM_EVENT, .cpu = cpu };

	i.event.kind = SCHED_SWITCH;
	i.event.tick = ns;
	i.event.task.pid = prev;
	i.event.other.pid = next;
	snprintf(i.event.task.comm, SCHED_COMM_LEN, "t%d", prev);
	snprintf(i.event.other.comm, SCHED_COMM_LEN, "t%d", next);
	add(&i);
}

static void wakes(uint64_t ns, uint32_t cpu, enum sched_kind kind, int32_t pid)
{
	struct trace_item i = { .type = ITEM_EVENT, .cpu = cpu };

	i.event.kind = (uint8_t)kind;
	i.event.tick = ns;
	i.event.task.pid = pid;
	snprintf(i.event.task.comm, SCHED_COMM_LEN, "t%d", pid);
	add(&i);
}

static void loses(uint64_t from, uint64_t to, uint32_t cpu, uint64_t count)
{
	struct trace_item i = { .type = ITEM_LOSS, .cpu = cpu };

	i.loss.from_tick = from;
	i.loss.to_tick = to;
	i.loss.count = count;
	add(&i);
}

static struct top_task task(int32_t pid)
{
	static const struct top_task none;
	const struct top_task *t;
	size_t n, i;

	t = top_look(top, TOP_BY_CPU, &n);
	for (i = 0; i < n; i++)
		if (t[i].pid == pid)
			return t[i];
	return none;
}

static int begin(void **state)
{
	struct error e = ERROR_INIT;

	(void)state;
	return top_new(&top, &e);
}

static int end(void **state)
{
	(void)state;
	top_free(top);
	return 0;
}

static void test_charge(void **state)
{
	const struct top_total *total = top_get_total(top);

	(void)state;
	switches(1000, 0, 0, 10);
	switches(1000, 1, 20, 0);
	switches(1300, 0, 10, 30);
	switches(2000, 1, 0, 20);
	assert_int_equal(task(10).cpu_ns, 300);
	assert_int_equal(task(30).cpu_ns, 700); /* still running, up to CPU 1's last event */
	assert_int_equal(task(20).cpu_ns, 0);	/* what it did before 1000 is not known */
	assert_int_equal(task(20).switches, 1);
	assert_int_equal(top_get_cpu(top, 0)->busy_ns, 1000);
	assert_int_equal(top_get_cpu(top, 1)->idle_ns, 1000);
	assert_int_equal(total->to_ns - total->from_ns, 1000);
	assert_int_equal(total->cpus, 2);
	assert_int_equal(task(0).switches, 0); /* idle is no task */
	top_next(top);
	assert_int_equal(total->events, 0);
	switches(2500, 0, 30, 10);
	switches(2600, 0, 10, 0);
	assert_int_equal(task(30).cpu_ns, 500);
	assert_int_equal(task(10).cpu_ns, 100);
	assert_int_equal(task(20).cpu_ns, 600); /* no event of CPU 1 at all */
	assert_int_equal(top_get_cpu(top, 1)->busy_ns, 600);
	assert_int_equal(total->from_ns, 2000);
	assert_string_equal(task(20).comm, "t20");
}

static void test_waits(void **state)
{
	(void)state;
	wakes(1000, 0, SCHED_WAKING, 10);
	wakes(1010, 1, SCHED_WAKEUP, 10);
	switches(1100, 1, 0, 10);
	switches(1200, 1, 10, 0);
	wakes(2000, 0, SCHED_WAKEUP, 10); /* a kernel that records no waking */
	wakes(2000, 0, SCHED_WAKEUP_NEW, 11);
	top_next(top);
	switches(2300, 1, 0, 10); /* the wait crosses the look */
	assert_int_equal(task(10).waits, 1);
	assert_int_equal(task(10).wait_ns, 300);
	assert_int_equal(task(10).wait_max_ns, 300);
	assert_int_equal(task(10).wakeups, 0); /* they were before it */
	assert_int_equal(task(11).waits, 0);
	top_next(top);
	wakes(3000, 0, SCHED_WAKING, 12);
	wakes(3001, 0, SCHED_WAKEUP, 12);
	assert_int_equal(task(12).wakeups, 1);
}

static void test_loss(void **state)
{
	(void)state;
	switches(1000, 0, 0, 10);
	loses(1400, 2000, 0, 7);
	assert_int_equal(task(10).cpu_ns, 400);
	assert_int_equal(top_get_total(top)->lost, 7);
	switches(2500, 0, 10, 20); /* whether it ran since 2000 nobody knows */
	switches(2600, 0, 20, 0);
	assert_int_equal(task(10).cpu_ns, 400);
	assert_int_equal(task(20).cpu_ns, 100);
	loses(0, 2700, 0, LOSS_UNKNOWN);
	assert_int_equal(top_get_total(top)->losses, 2);
	assert_int_equal(top_get_total(top)->lost, 7);
	/* A switch whose prev is not who ran: a loss that nobody told us of. */
	switches(2800, 0, 0, 30);
	switches(2900, 0, 40, 0);
	assert_int_equal(task(30).cpu_ns, 0);
}

static void test_order(void **state)
{
	const struct top_task *t;
	size_t n;

	(void)state;
	switches(1000, 0, 0, 30);
	switches(1100, 0, 30, 10);
	switches(1150, 0, 10, 20);
	switches(1160, 0, 20, 10);
	switches(1170, 0, 10, 0);
	t = top_look(top, TOP_BY_CPU, &n);
	assert_int_equal(n, 3);
	assert_int_equal(t[0].pid, 30);
	t = top_look(top, TOP_BY_SWITCHES, &n);
	assert_int_equal(t[0].pid, 10);
	assert_int_equal(t[1].pid, 20); /* of equal ones the smaller pid */
	t = top_look(top, TOP_BY_PID, &n);
	assert_int_equal(t[0].pid, 10);
	assert_int_equal(t[2].pid, 30);
	t = top_look(top, TOP_BY_COMM, &n);
	assert_string_equal(t[1].comm, "t20");
}

/* Tasks that are over leave; one that sleeps long is forgotten; one that runs is not. */
/* One pid, two tasks between two looks, the first of which exits while it still runs. */
static void test_lives(void **state)
{
	struct trace_item exits = { .type = ITEM_EVENT }, forks = exits, third = exits;
	const struct top_task *t;
	size_t n;

	(void)state;
	exits.event.kind = SCHED_EXIT;
	exits.event.tick = 1250;
	exits.event.pid = exits.event.task.pid = 10;
	forks.event.kind = SCHED_FORK;
	forks.event.tick = 1400;
	forks.event.pid = forks.event.task.pid = 20;
	forks.event.other.pid = 10;
	third.event.kind = SCHED_SWITCH;
	third.event.tick = 1700;
	third.event.pid = third.event.task.pid = 20;
	third.event.other.pid = 10;
	switches(1000, 0, 20, 10);
	add(&exits);
	switches(1300, 0, 10, 20);
	add(&forks);
	switches(1500, 0, 20, 10);
	switches(1600, 0, 10, 20);
	add(&exits);
	third.event.other.comm[0] = 'z'; /* its fork is lost */
	add(&third);
	switches(1750, 0, 10, 20);
	t = top_look(top, TOP_BY_PID, &n);
	assert_int_equal(n, 4);
	assert_int_equal(t[0].pid, 10);
	assert_int_equal(t[2].pid, 10);
	assert_int_equal(t[3].pid, 20);
	assert_int_equal(t[0].cpu_ns + t[1].cpu_ns + t[2].cpu_ns, 450);
	t = top_look(top, TOP_BY_CPU, &n);
	assert_int_equal(t[0].cpu_ns, 300);
	assert_int_equal(t[3].cpu_ns, 50);
	top_next(top);
	top_look(top, TOP_BY_PID, &n);
	assert_int_equal(n, 0);
}

static void test_forget(void **state)
{
	int32_t pid;
	int i;

	(void)state;
	for (pid = 100; pid < 200; pid++) {
		switches((uint64_t)pid, 0, pid - 1, pid);
		wakes((uint64_t)pid, 0, SCHED_EXIT, pid);
	}
	switches(1000, 0, 199, 50);
	switches(1000, 1, 0, 60);
	switches(1001, 1, 60, 0);
	for (i = 0; i < (int)TOP_QUIET_LOOKS + 5; i++)
		top_next(top);
	switches(5000, 1, 0, 60);
	switches(5001, 1, 60, 0);
	assert_int_equal(task(50).cpu_ns, 5001 - 1000);
	assert_int_equal(task(60).cpu_ns, 1);
	assert_int_equal(task(150).cpu_ns, 0);
	top_forget(top);
	top_next(top);
	switches(70, 0, 50, 0); /* another clock */
	assert_int_equal(task(50).cpu_ns, 0);
	assert_int_equal(top_get_total(top)->to_ns, 70);
}

/* However the same events are cut into looks, the sums are the same. */
static void test_any_looks(void **state)
{
	uint64_t sums[2] = { 0, 0 };
	int pass, i;

	for (pass = 0; pass < 2; pass++) {
		uint64_t ns = 1000;
		int32_t on[2] = { 0, 0 };

		srand(7);
		for (i = 0; i < 20000; i++) {
			uint32_t cpu = (uint32_t)rand() & 1;
			int32_t next = on[cpu] ? 0 : 1 + 2 * (rand() % 40) + (int32_t)cpu;
			bool cut = rand() % 10 == 0;

			ns += (uint64_t)(rand() % 1000);
			switches(ns, cpu, on[cpu], next);
			on[cpu] = next;
			if (pass && cut) {
				sums[pass] += task(5).cpu_ns;
				top_next(top);
			}
		}
		sums[pass] += task(5).cpu_ns;
		end(state);
		assert_int_equal(begin(state), 0);
	}
	assert_true(sums[0] > 0);
	assert_int_equal(sums[0], sums[1]);
}

/* The events of a CPU may come after a look at a time that the other one has reached already: what
 * was settled then is not charged again. */
static void test_late_cpu(void **state)
{
	(void)state;
	switches(0 + 1, 0, 0, 10);
	switches(0 + 1, 1, 0, 20);
	switches(1000, 0, 10, 11);
	assert_int_equal(task(20).cpu_ns, 999);
	top_next(top);
	switches(800, 1, 20, 21); /* 21 has run since then, but those 200 are 20's by now */
	switches(2000, 0, 11, 10);
	assert_int_equal(task(21).cpu_ns, 1000);
	assert_int_equal(top_get_cpu(top, 1)->busy_ns, 1000);
	top_next(top);
	top_forget(top); /* another clock may be behind this one */
	switches(50, 1, 0, 30);
	switches(60, 1, 30, 0);
	assert_int_equal(task(30).cpu_ns, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_charge, begin, end),
		cmocka_unit_test_setup_teardown(test_waits, begin, end),
		cmocka_unit_test_setup_teardown(test_loss, begin, end),
		cmocka_unit_test_setup_teardown(test_order, begin, end),
		cmocka_unit_test_setup_teardown(test_lives, begin, end),
		cmocka_unit_test_setup_teardown(test_forget, begin, end),
		cmocka_unit_test_setup_teardown(test_late_cpu, begin, end),
		cmocka_unit_test_setup_teardown(test_any_looks, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
