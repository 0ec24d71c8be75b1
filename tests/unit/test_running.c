/* SPDX-License-Identifier: MIT */
/*
 * running: traces of a dozen events whose sums were worked out by hand.
 *
 * Every test ends with the invariant of the report: on each CPU, busy + idle + unknown is the
 * length of the trace, and the tasks' times are the CPUs' busy time.
 */
#include "scenario.h"

#include "analysis/running.h"
#include "trace/filter_parse.h"

static int add(void *report, const struct trace_item *item, struct error *e)
{
	return running_add(report, item, e);
}

static struct running *begin(struct scenario *s, uint32_t cpus)
{
	struct running *r = NULL;

	scenario_init(s, cpus);
	assert_int_equal(running_new(&r, &s->info), 0);
	s->report = r;
	s->add = add;
	return r;
}

static void finish(struct running *r)
{
	const struct running_total *t;
	const struct running_cpu *c;
	struct error e = ERROR_INIT;
	size_t n, i;

	assert_int_equal(running_finish(r, &e), 0);
	t = running_get_total(r);
	c = running_get_cpus(r, &n);
	for (i = 0; i < n; i++)
		assert_int_equal(c[i].busy_ns + c[i].idle_ns + c[i].unknown_ns,
				 t->to_ns - t->from_ns);
	assert_int_equal(t->task.cpu_ns, t->cpu.busy_ns);
}

static void end(struct scenario *s, struct running *r)
{
	running_free(r);
	info_done(&s->info);
}

static const struct running_task *task(const struct running *r, int32_t pid)
{
	const struct running_task *t;
	size_t n, i;

	t = running_get_tasks(r, &n);
	for (i = 0; i < n; i++)
		if (t[i].pid == pid)
			return &t[i];
	fail_msg("task %d is missing", pid);
	return NULL;
}

/* The pid's task that is the nth by birth. */
static const struct running_task *life(struct running *r, int32_t pid, size_t nth)
{
	const struct running_task *t;
	size_t n, i, k = 0;

	running_sort(r, RUNNING_BY_PID);
	t = running_get_tasks(r, &n);
	for (i = 0; i < n; i++)
		if (t[i].pid == pid && k++ == nth)
			return &t[i];
	fail_msg("task %d has only %zu lives", pid, k);
	return NULL;
}

static const struct running_cpu *cpu(const struct running *r, size_t i)
{
	size_t n;
	const struct running_cpu *c = running_get_cpus(r, &n);

	assert_true(i < n);
	return &c[i];
}

/* CPU 0: a 1000, b 1000-1300, a -1500, b -1700, c -2000. CPU 1: idle -1100, c -1600, idle. */
static void feed_plain(struct scenario *s)
{
	switches(s, 1000, 0, 10, SLEEPING, 20);
	switches(s, 1100, 1, 0, RUNNABLE, 30);
	wakes(s, 1200, 0, 20, SCHED_WAKING, 10, 0);
	wakes(s, 1201, 0, 20, SCHED_WAKEUP, 10, 0);
	switches(s, 1300, 0, 20, RUNNABLE, 10);
	switches(s, 1500, 0, 10, SLEEPING, 20);
	switches(s, 1600, 1, 30, PREEMPTED, 0);
	switches(s, 1700, 0, 20, SLEEPING, 30);
	wakes(s, 2000, 1, 0, SCHED_WAKEUP, 20, 1);
	wakes(s, 2000, 0, 30, SCHED_WAKING, 40, 1);
}

static void test_plain(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 2);

	(void)state;
	feed_plain(&s);
	finish(r);
	assert_int_equal(task(r, 10)->cpu_ns, 200);
	assert_int_equal(task(r, 10)->switches, 2);
	assert_int_equal(task(r, 10)->preemptions, 0);
	assert_int_equal(task(r, 10)->wakeups, 1);
	assert_int_equal(task(r, 10)->waits, 1);
	assert_int_equal(task(r, 10)->wait_ns, 100);
	assert_int_equal(task(r, 20)->cpu_ns, 500);
	assert_int_equal(task(r, 20)->switches, 2);
	assert_int_equal(task(r, 20)->preemptions, 1);
	assert_int_equal(task(r, 20)->preempted_waits, 1);
	assert_int_equal(task(r, 20)->preempted_ns, 200);
	assert_int_equal(task(r, 20)->wakeups, 1);
	assert_int_equal(task(r, 20)->waits, 0);
	assert_int_equal(task(r, 20)->waits_unknown, 1);
	assert_int_equal(task(r, 30)->cpu_ns, 800);
	assert_int_equal(task(r, 30)->migrations, 1);
	assert_int_equal(task(r, 30)->preempted_max_ns, 100);
	assert_int_equal(cpu(r, 0)->busy_ns, 1000);
	assert_int_equal(cpu(r, 0)->switches, 4);
	assert_int_equal(cpu(r, 1)->busy_ns, 500);
	assert_int_equal(cpu(r, 1)->idle_ns, 500);
	assert_int_equal(cpu(r, 1)->inferred_ns, 100); /* idle since the trace began */
	assert_int_equal(task(r, 40)->waits_unknown, 1);
	assert_int_equal(running_get_total(r)->cpu.unknown_ns, 0);
	end(&s, r);
}

/* Some tasks only: their figures and the CPUs' are what they are among all. */
static void test_select(void **state)
{
	struct trace_filter only;
	struct scenario s;
	struct running *r = begin(&s, 2);
	struct error e = ERROR_INIT;
	size_t n;

	(void)state;
	filter_init(&only);
	assert_int_equal(filter_add_pid(&only, 40), 0);
	assert_int_equal(filter_add_pid(&only, 10), 0);
	assert_int_equal(filter_add_comm(&only, "[bx]", 4), 0);
	filter_settle(&only);
	running_select(r, &only);
	feed_plain(&s);
	assert_int_equal(running_finish(r, &e), 0);
	running_get_tasks(r, &n);
	assert_int_equal(n, 3);
	assert_int_equal(task(r, 10)->wait_ns, 100);
	assert_int_equal(task(r, 20)->cpu_ns, 500);
	assert_int_equal(task(r, 40)->waits_unknown, 1);
	assert_int_equal(running_get_total(r)->task.cpu_ns, 700);
	assert_int_equal(running_get_total(r)->cpu.busy_ns, 1500);
	end(&s, r);
	filter_done(&only);
}

/* The tasks of one thread group left out: nobody else's figures change, nor the CPUs'. */
static void test_leave_out(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 2);
	const char name[SCHED_COMM_LEN] = "a";
	struct error e = ERROR_INIT;
	size_t n;

	(void)state;
	assert_int_equal(info_add_task(&s.info, 10, 20, name), 0);
	running_leave_out(r, 20);
	feed_plain(&s);
	assert_int_equal(running_finish(r, &e), 0);
	running_get_tasks(r, &n);
	assert_int_equal(n, 2); /* without 10, which is of it, and 20 itself */
	assert_int_equal(task(r, 30)->migrations, 1);
	assert_int_equal(task(r, 40)->waits_unknown, 1);
	assert_int_equal(running_get_total(r)->cpu.busy_ns, 1500);
	end(&s, r);
}

/* a runs from 100; lost between 300 and 700; then b is running and leaves at 800. */
static void test_loss(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 1);

	(void)state;
	switches(&s, 100, 0, 0, RUNNABLE, 10);
	wakes(&s, 250, 0, 10, SCHED_WAKING, 20, 0);
	wakes(&s, 300, 0, 10, SCHED_WAKING, 30, 0);
	loses(&s, 0, 300, 700, 7);
	wakes(&s, 700, 0, 20, SCHED_WAKING, 40, 0);
	switches(&s, 800, 0, 20, SLEEPING, 40);
	switches(&s, 900, 0, 40, SLEEPING, 30);
	finish(r);
	assert_int_equal(cpu(r, 0)->unknown_ns, 400);
	assert_int_equal(cpu(r, 0)->lost, 7);
	assert_int_equal(task(r, 10)->cpu_ns, 200);
	assert_int_equal(task(r, 20)->cpu_ns, 100);
	assert_int_equal(task(r, 20)->waits, 0); /* it started within the loss */
	assert_int_equal(task(r, 20)->waits_unknown, 1);
	assert_int_equal(task(r, 40)->wait_ns, 100);
	assert_int_equal(task(r, 30)->waits, 0); /* its wait crosses the loss */
	assert_int_equal(task(r, 30)->waits_unknown, 1);
	end(&s, r);
}

/* The first thing on CPU 1 is a loss, CPU 0 ends in one, and CPU 2 has no event. */
static void test_loss_at_the_ends(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 3);

	(void)state;
	loses(&s, 1, 0, 400, LOSS_UNKNOWN);
	switches(&s, 100, 0, 0, RUNNABLE, 10);
	switches(&s, 300, 0, 10, SLEEPING, 20);
	loses(&s, 0, 300, 300, 5);
	switches(&s, 400, 1, 30, SLEEPING, 0);
	switches(&s, 600, 1, 0, RUNNABLE, 30);
	finish(r);
	assert_int_equal(cpu(r, 0)->busy_ns, 200);
	assert_int_equal(cpu(r, 0)->unknown_ns, 300);
	assert_int_equal(cpu(r, 1)->unknown_ns, 300);
	assert_int_equal(cpu(r, 1)->idle_ns, 200);
	assert_int_equal(cpu(r, 1)->lost_unknown, 1);
	assert_int_equal(cpu(r, 2)->unknown_ns, 500);
	assert_int_equal(task(r, 30)->cpu_ns, 0);
	end(&s, r);
}

/* CPU 0 has events from 100 to 900; CPU 1 from 300, with a running, to 400, with b running; CPU 2
 * from 500, idle, to 600, idle. */
static void test_edges(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 3);

	(void)state;
	wakes(&s, 100, 0, 30, SCHED_WAKING, 10, 1);
	wakes(&s, 200, 0, 30, SCHED_WAKING, 40, 1);
	switches(&s, 300, 1, 10, SLEEPING, 20);
	switches(&s, 400, 1, 20, SLEEPING, 40);
	switches(&s, 500, 2, 0, RUNNABLE, 50);
	switches(&s, 600, 2, 50, SLEEPING, 0);
	switches(&s, 900, 0, 30, SLEEPING, 0);
	finish(r);
	assert_int_equal(cpu(r, 0)->busy_ns, 800);
	assert_int_equal(cpu(r, 1)->busy_ns, 100);
	assert_int_equal(cpu(r, 1)->unknown_ns, 700); /* 100-300 and 400-900 */
	assert_int_equal(cpu(r, 2)->busy_ns, 100);
	assert_int_equal(cpu(r, 2)->idle_ns, 700);
	assert_int_equal(cpu(r, 2)->inferred_ns, 700);
	assert_int_equal(task(r, 10)->cpu_ns, 0);
	assert_int_equal(task(r, 40)->waits,
			 0); /* CPU 1 was not yet to be seen when it was woken */
	assert_int_equal(task(r, 40)->waits_unknown, 1);
	end(&s, r);
}

/* CPU 1 never records switches out of idle: a starts at its wakeup, b at the end of its run on
 * CPU 0, c (seen by its own event only) right after the CPU's last event. */
static void test_inferred(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 2);

	(void)state;
	switches(&s, 100, 0, 0, RUNNABLE, 20);
	switches(&s, 100, 1, 10, SLEEPING, 0);
	wakes(&s, 200, 0, 20, SCHED_WAKING, 10, 1);
	switches(&s, 300, 1, 10, SLEEPING, 0); /* idle 100-200, a 200-300 */
	switches(&s, 400, 0, 20, RUNNABLE, 0);
	switches(&s, 600, 1, 20, SLEEPING, 0); /* idle 300-400, b 400-600 */
	forks(&s, 900, 1, 30, 40);	       /* c 600-1000 */
	switches(&s, 1000, 1, 30, SLEEPING, 0);
	finish(r);
	assert_int_equal(task(r, 10)->cpu_ns, 100);
	assert_int_equal(task(r, 10)->inferred_ns, 100);
	assert_int_equal(task(r, 10)->waits, 0);
	assert_int_equal(task(r, 10)->waits_unknown, 1);
	assert_int_equal(task(r, 20)->cpu_ns, 500);
	assert_int_equal(task(r, 20)->inferred_ns, 200);
	assert_int_equal(task(r, 20)->migrations, 1);
	assert_int_equal(task(r, 20)->preempted_unknown, 1);
	assert_int_equal(task(r, 30)->cpu_ns, 400);
	assert_int_equal(cpu(r, 1)->idle_ns, 200);
	assert_int_equal(cpu(r, 1)->busy_ns, 700);
	assert_int_equal(cpu(r, 0)->inferred_ns, 600); /* idle to the end of the trace */
	end(&s, r);
}

/* a is on CPU 0, and next seen to start on CPU 1 at 300; CPU 0's next event is b's, at 500. */
static void test_moved_unseen(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 2);

	(void)state;
	switches(&s, 100, 0, 0, RUNNABLE, 10);
	switches(&s, 100, 1, 20, SLEEPING, 0);
	switches(&s, 300, 1, 0, RUNNABLE, 10);
	wakes(&s, 400, 1, 10, SCHED_WAKING, 20, 0);
	switches(&s, 500, 0, 20, SLEEPING, 0);
	finish(r);
	/* CPU 0: a at most to 300, nobody knows to 400, b from its wakeup on. */
	assert_int_equal(task(r, 10)->cpu_ns, 200 + 100); /* on CPU 1 to its last event */
	assert_int_equal(task(r, 20)->cpu_ns, 100);
	assert_int_equal(cpu(r, 0)->unknown_ns, 100);
	end(&s, r);
}

/* A task is woken while it still leaves its CPU; and one is woken, but goes on running. */
static void test_woken_on_the_way_out(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 2);

	(void)state;
	switches(&s, 100, 0, 0, RUNNABLE, 10);
	switches(&s, 100, 1, 0, RUNNABLE, 20);
	wakes(&s, 190, 1, 20, SCHED_WAKING, 10, 0);
	switches(&s, 200, 0, 10, SLEEPING, 30);
	switches(&s, 250, 0, 30, SLEEPING, 10); /* waited 50, not 60 */
	wakes(&s, 300, 1, 20, SCHED_WAKING, 10, 0);
	wakes(&s, 301, 1, 20, SCHED_WAKEUP, 10, 0); /* complete: it keeps running */
	switches(&s, 400, 0, 10, SLEEPING, 0);
	switches(&s, 900, 0, 0, RUNNABLE, 10); /* slept; its wakeup is not in the trace */
	finish(r);
	assert_int_equal(task(r, 10)->wakeups, 2);
	assert_int_equal(task(r, 10)->waits, 1);
	assert_int_equal(task(r, 10)->wait_ns, 50);
	assert_int_equal(task(r, 10)->waits_unknown, 0);
	end(&s, r);
}

/* a is woken for CPU 1 after its last event, and d, too; both run on CPU 0 later. That CPU 1 lives on
 * is shown for a's wait by an event at 500, for d's by none. e is woken for CPU 2, which idles. */
static void test_silent_cpu(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 3);

	(void)state;
	switches(&s, 100, 0, 0, RUNNABLE, 20);
	switches(&s, 100, 1, 0, RUNNABLE, 30);
	switches(&s, 100, 2, 50, SLEEPING, 0);
	wakes(&s, 200, 0, 20, SCHED_WAKING, 10, 1);
	switches(&s, 300, 0, 20, RUNNABLE, 10);
	switches(&s, 400, 0, 10, SLEEPING, 20);
	wakes(&s, 500, 1, 30, SCHED_WAKING, 60, 1);
	wakes(&s, 600, 0, 20, SCHED_WAKING, 40, 1);
	wakes(&s, 650, 0, 20, SCHED_WAKING, 50, 2);
	switches(&s, 800, 0, 20, RUNNABLE, 40);
	switches(&s, 900, 0, 40, SLEEPING, 50);
	finish(r);
	assert_int_equal(task(r, 10)->waits, 1);
	assert_int_equal(task(r, 10)->wait_ns, 100);
	assert_int_equal(task(r, 40)->waits, 0);
	assert_int_equal(task(r, 40)->waits_unknown, 1);
	assert_int_equal(task(r, 50)->wait_ns, 250);
	end(&s, r);
}

/* Woken twice without a run in between: the first wait has ended unseen. A reused pid waits for
 * nothing. */
static void test_woken_twice(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 1);

	(void)state;
	switches(&s, 100, 0, 10, SLEEPING, 20);
	wakes(&s, 200, 0, 20, SCHED_WAKING, 10, 0);
	wakes(&s, 400, 0, 20, SCHED_WAKING, 10, 0);
	wakes(&s, 450, 0, 20, SCHED_WAKING, 30, 0);
	switches(&s, 500, 0, 20, SLEEPING, 10);
	forks(&s, 600, 0, 10, 30);
	switches(&s, 700, 0, 10, SLEEPING, 30);
	finish(r);
	assert_int_equal(task(r, 10)->waits, 1);
	assert_int_equal(task(r, 10)->wait_ns, 100);
	assert_int_equal(task(r, 10)->waits_unknown, 1);
	assert_int_equal(life(r, 30, 0)->waits_unknown, 1); /* it never ran */
	assert_int_equal(life(r, 30, 1)->waits, 0);
	assert_int_equal(life(r, 30, 1)->waits_unknown, 0);
	end(&s, r);
}

#define DEAD 0x20 /* Z */

/* As forks(), but with other names for what a pid is each time. */
static void event(struct scenario *s, enum sched_kind kind, uint64_t ns, uint32_t cpu, int32_t pid,
		  const char *name)
{
	struct trace_item i = { .type = ITEM_EVENT, .cpu = cpu };

	i.event.kind = (uint8_t)kind;
	i.event.tick = ns;
	i.event.pid = 10;
	name_task(&i.event.task, kind == SCHED_FORK ? 10 : pid);
	if (kind == SCHED_FORK) {
		i.event.other.pid = pid;
		sched_comm_set(i.event.other.comm, name, strlen(name));
	} else if (kind == SCHED_RENAME) {
		sched_comm_set(i.event.other.comm, name, strlen(name));
	} else {
		sched_comm_set(i.event.task.comm, name, strlen(name));
	}
	scenario_push(s, &i);
}

/* A switch from 10 to `pid` and back after `length`, into `state`, on CPU 0. */
static void runs(struct scenario *s, uint64_t ns, int32_t pid, uint64_t length, uint64_t state,
		 const char *name)
{
	struct trace_item i = { .type = ITEM_EVENT };

	i.event.kind = SCHED_SWITCH;
	i.event.tick = ns;
	i.event.pid = 10;
	i.event.state = SLEEPING;
	name_task(&i.event.task, 10);
	i.event.other.pid = pid;
	sched_comm_set(i.event.other.comm, name, strlen(name));
	scenario_push(s, &i);
	i.event.tick = ns + length;
	i.event.pid = pid;
	i.event.state = state;
	i.event.task = i.event.other;
	memset(&i.event.other, 0, sizeof(i.event.other));
	name_task(&i.event.other, 10);
	scenario_push(s, &i);
}

static void check_life(struct running *r, size_t nth, uint64_t cpu_ns, const char *first,
		       const char *last)
{
	const struct running_task *t = life(r, 50, nth);

	assert_int_equal(t->cpu_ns, cpu_ns);
	assert_int_equal(strncmp(t->first_comm, first, SCHED_COMM_LEN), 0);
	assert_int_equal(strncmp(t->comm, last, SCHED_COMM_LEN), 0);
}

/* One pid, five tasks: one from before the trace, one with fork and exit, one whose fork is not in the
 * trace, one that sleeps between its exit and its end, and one whose end is not in the trace. Times
 * and names are each one's own. */
static void test_lives(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 1);
	const char name[SCHED_COMM_LEN] = "python3";

	(void)state;
	assert_int_equal(info_add_task(&s.info, 50, 40, name), 0); /* when the trace began */
	runs(&s, 1000, 50, 100, SLEEPING, "python3");
	runs(&s, 1200, 50, 100, DEAD, "python3");
	event(&s, SCHED_FORK, 2000, 0, 50, "sh");
	runs(&s, 2100, 50, 30, SLEEPING, "sh");
	event(&s, SCHED_RENAME, 2150, 0, 50, "gzip");
	runs(&s, 2200, 50, 7, SLEEPING, "gzip");
	event(&s, SCHED_EXIT, 2300, 0, 50, "gzip");
	runs(&s, 2400, 50, 2, DEAD, "gzip");
	runs(&s, 3000, 50, 5, DEAD, "kiseki"); /* its fork is lost */
	event(&s, SCHED_FORK, 4000, 0, 50, "make");
	runs(&s, 4100, 50, 11, SLEEPING, "make");
	event(&s, SCHED_EXIT, 4200, 0, 50, "make");
	runs(&s, 4300, 50, 1, SLEEPING, "make");
	runs(&s, 4400, 50, 1, DEAD, "make");
	event(&s, SCHED_FORK, 5000, 0, 50, "cc1");
	runs(&s, 5100, 50, 900, SLEEPING, "cc1");
	event(&s, SCHED_FORK, 6100, 0, 50, "ld");
	runs(&s, 6200, 50, 300, SLEEPING, "ld");
	finish(r);
	check_life(r, 0, 200, "python3", "python3");
	check_life(r, 1, 39, "sh", "gzip");
	check_life(r, 2, 5, "kiseki", "kiseki");
	check_life(r, 3, 13, "make", "make");
	check_life(r, 4, 900, "cc1", "cc1");
	check_life(r, 5, 300, "ld", "ld");
	assert_false(life(r, 50, 0)->birth_seen);
	assert_int_equal(life(r, 50, 0)->tgid, 40); /* the table's row is this one's */
	assert_int_equal(life(r, 50, 1)->tgid, -1);
	assert_true(life(r, 50, 1)->birth_seen);
	assert_int_equal(life(r, 50, 1)->born_ns, 2000);
	assert_int_equal(life(r, 50, 1)->ended_ns, 2402);
	assert_int_equal(life(r, 50, 2)->born_ns, 3000);
	assert_false(life(r, 50, 2)->birth_seen);
	assert_int_equal(life(r, 50, 3)->ended_ns, 4401);
	assert_int_equal(life(r, 50, 4)->ended_ns, 6100);
	assert_false(life(r, 50, 5)->ended);
	end(&s, r);
}

/* pid@time: one of the tasks that had a pid, and the other ones are in no sum. */
static void test_select_life(void **state)
{
	static const struct {
		const char *pids;
		size_t tasks;
		uint64_t cpu_ns;
	} asked[] = {
		{ "50", 3, 200 + 30 + 5 },    { "50@0", 1, 200 },     { "50@1300ns", 1, 200 },
		{ "50@+1us", 1, 30 },	      { "50@2150ns", 1, 30 }, { "50@100000s", 1, 5 },
		{ "50@0,50@2999ns", 2, 230 }, { "50@2000ns", 1, 30 }, { "51@2000ns", 0, 0 },
	};
	struct error e = ERROR_INIT;
	struct trace_filter only;
	struct scenario s;
	struct running *r;
	size_t n, i, k;

	(void)state;
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		filter_init(&only);
		assert_int_equal(filter_parse_pids(&only, asked[i].pids, &e), 0);
		filter_settle(&only);
		r = begin(&s, 1);
		/* What filter_find_lives() finds, which test_filter looks at. */
		for (k = 0; k < only.n_lives; k++) {
			struct filter_life *l = &only.lives[k];
			uint64_t at = l->at.ns + (l->at.relative ? 1000 : 0);

			l->found = l->pid == 50;
			l->from_ns = at < 2000 ? 0 : at < 3000 ? 2000 : 3000;
			l->to_ns = at < 2000 ? 2000 : at < 3000 ? 3000 : UINT64_MAX;
		}
		running_select(r, &only);
		runs(&s, 1000, 50, 200, DEAD, "python3");
		event(&s, SCHED_FORK, 2000, 0, 50, "sh");
		runs(&s, 2100, 50, 30, DEAD, "sh");
		runs(&s, 3000, 50, 5, DEAD, "kiseki");
		assert_int_equal(running_finish(r, &e), 0);
		running_get_tasks(r, &n);
		assert_int_equal(n, asked[i].tasks);
		assert_int_equal(running_get_total(r)->task.cpu_ns, asked[i].cpu_ns);
		end(&s, r);
		filter_done(&only);
	}
}

/* The child's first events stand before its fork, which another CPU stamped: that is one life. A
 * wakeup_new without a fork begins one. */
static void test_births(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 2);

	(void)state;
	runs(&s, 1000, 50, 100, DEAD, "a");
	switches(&s, 1200, 1, 0, RUNNABLE, 30);
	runs(&s, 1500, 50, 10, SLEEPING, "b");
	forks(&s, 1500, 1, 30, 50);
	wakes(&s, 1500, 1, 30, SCHED_WAKEUP_NEW, 50, 0);
	runs(&s, 3000000, 50, 20, SLEEPING, "b");
	wakes(&s, 6000000, 1, 30, SCHED_WAKEUP_NEW, 50, 0);
	runs(&s, 6000100, 50, 40, SLEEPING, "c");
	finish(r);
	check_life(r, 0, 100, "a", "a");
	assert_int_equal(life(r, 50, 1)->cpu_ns, 30);
	assert_int_equal(life(r, 50, 2)->cpu_ns, 40);
	assert_int_equal(life(r, 50, 2)->born_ns, 6000000);
	running_sort(r, RUNNING_BY_PID);
	end(&s, r);
}

/* A thread that calls exec goes on as its leader. */
static void test_exec_of_thread(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 1);
	struct trace_item i = { .type = ITEM_EVENT };

	(void)state;
	runs(&s, 1000, 50, 100, SLEEPING, "leader");
	event(&s, SCHED_EXIT, 1150, 0, 50, "leader");
	runs(&s, 1200, 50, 10, DEAD, "leader");
	switches(&s, 1300, 0, 10, SLEEPING, 60);
	i.event.kind = SCHED_EXEC;
	i.event.tick = 1400;
	i.event.pid = i.event.task.pid = 50;
	i.event.value = 60;
	scenario_push(&s, &i);
	switches(&s, 1450, 0, 50, SLEEPING, 10);
	finish(r);
	assert_int_equal(life(r, 60, 0)->cpu_ns, 100);
	assert_int_equal(life(r, 50, 0)->cpu_ns, 160);
	assert_int_equal(life(r, 50, 0)->tgid, 50);
	assert_false(life(r, 50, 0)->ended);
	end(&s, r);
}

/* Many more lives than are kept apart: the sums stay, the lightest of those that ended are one row. */
static void test_folded(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 1);
	const struct running_total *t;
	uint64_t ns = 1000, listed_ns = 0, most_ns = 0;
	const struct running_task *k;
	uint32_t i;
	size_t n;

	(void)state;
	running_allow(r, 16);
	for (i = 0; i < 1000; i++, ns += 5000) {
		event(&s, SCHED_FORK, ns, 0, 50, "sh");
		runs(&s, ns + 100, 50, 100 + i * 7 % 1000, DEAD, "gzip");
	}
	finish(r);
	t = running_get_total(r);
	k = running_get_tasks(r, &n);
	assert_int_equal(t->tasks, 1001);
	assert_int_equal(t->folded + n, 1001);
	assert_in_range(n, 2, 16);
	for (i = 0; i < n; i++) {
		listed_ns += k[i].cpu_ns;
		if (k[i].pid == 50 && k[i].cpu_ns > most_ns)
			most_ns = k[i].cpu_ns;
	}
	assert_int_equal(listed_ns + t->others.cpu_ns, t->task.cpu_ns);
	assert_int_equal(most_ns, 1099); /* the heaviest is never folded */
	end(&s, r);
}

/* Stamps that go back on one CPU and many CPUs and tasks: the sums still hold (see finish). */
static void test_sums_of_noise(void **state)
{
	uint64_t x = 88172645463325252ULL, ns = 5000;
	struct scenario s;
	struct running *r = begin(&s, 8);
	int i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		ns += x % 1000;
		ns -= x % 7 ? 0 : x % 3000;
		if (x % 5 < 3)
			switches(&s, ns, x % 8, (int32_t)(x >> 20) % 400, (x >> 9) % 3, 40);
		else if (x % 5 == 3)
			wakes(&s, ns, x % 8, (int32_t)(x >> 30) % 400, SCHED_WAKING, 40, 3);
		else if (x % 11 == 3)
			loses(&s, x % 8, ns, ns, x % 3);
	}
	finish(r);
	end(&s, r);
}

static void test_order(void **state)
{
	struct scenario s;
	struct running *r = begin(&s, 2);
	const struct running_task *t;
	size_t n;

	(void)state;
	assert_int_equal(info_add_task(&s.info, 20, 17, "b\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), 0);
	feed_plain(&s);
	finish(r);
	t = running_get_tasks(r, &n);
	assert_int_equal(n, 4);
	assert_int_equal(t[0].pid, 30);
	assert_int_equal(t[1].pid, 20);
	assert_int_equal(t[1].tgid, 17);
	assert_int_equal(t[2].tgid, -1);
	running_sort(r, RUNNING_BY_WAIT_MAX);
	assert_int_equal(t[0].pid, 10);
	running_sort(r, RUNNING_BY_PREEMPTIONS);
	assert_int_equal(t[0].pid, 20); /* of equals, the lower pid first */
	assert_int_equal(t[1].pid, 30);
	running_sort(r, RUNNING_BY_PID);
	assert_int_equal(t[0].pid, 10);
	assert_string_equal(t[2].comm, "c");
	end(&s, r);
}

static void test_limits(void **state)
{
	struct trace_item item = { .type = ITEM_EVENT, .cpu = TRACE_CPUS_MAX };
	struct error e = ERROR_INIT;
	struct scenario s;
	struct running *r = begin(&s, 1);

	(void)state;
	assert_true(running_add(r, &item, &e) < 0);
	assert_non_null(strstr(e.text, "CPU number"));
	finish(r); /* of no events at all */
	assert_int_equal(running_get_total(r)->to_ns, 0);
	end(&s, r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_leave_out),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_loss_at_the_ends),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_inferred),
		cmocka_unit_test(test_moved_unseen),
		cmocka_unit_test(test_woken_on_the_way_out),
		cmocka_unit_test(test_silent_cpu),
		cmocka_unit_test(test_woken_twice),
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_select_life),
		cmocka_unit_test(test_births),
		cmocka_unit_test(test_exec_of_thread),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_sums_of_noise),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
