/* SPDX-License-Identifier: MIT */
/*
 * slices: small traces by hand; and random ones against `report sched`, which gets the same times by
 * another way: over all CPUs together, and without buckets.
 */
#include "scenario.h"

#include <stdlib.h>

#include "analysis/running.h"
#include "analysis/slices.h"
#include "tools/sched_random.h"
#include "tools/trace_random.h"

#define WIDTH 1000
#define FINE_NS 1000000ULL /* fewer tasks in it than are kept */

static struct slices slices;
static struct bucket got[64];
static size_t n_got;

static int keep(void *context, struct bucket *b)
{
	(void)context;
	assert_true(n_got < 64);
	got[n_got++] = *b;
	return 0;
}

static int add(void *report, const struct trace_item *item, struct error *e)
{
	(void)e;
	return slices_add(report, item);
}

static void begin(struct scenario *s)
{
	scenario_init(s, 1);
	slices_init(&slices, &s->info, WIDTH);
	slices.put = keep;
	s->report = &slices;
	s->add = add;
	n_got = 0;
}

static uint64_t ran(const struct bucket *b, int32_t pid)
{
	uint32_t i;

	for (i = 0; i < b->n_tasks; i++)
		if (b->tasks[i].pid == pid)
			return b->tasks[i].ns;
	return 0;
}

/* a from 1200 to 5300, without any event between, then idle to 6100. */
static void test_long_run(void **state)
{
	struct scenario s;

	(void)state;
	begin(&s);
	switches(&s, 1200, 0, 0, RUNNABLE, 10);
	switches(&s, 5300, 0, 10, SLEEPING, 0);
	assert_int_equal(slices_end(&slices, 6100), 0);
	assert_int_equal(n_got, 3);
	assert_int_equal(got[0].index, 1);
	assert_int_equal(got[0].before.type, HOLDER_NONE);
	assert_int_equal(ran(&got[0], 10), 800);
	assert_int_equal(got[0].counts.idle_ns, 0);
	assert_int_equal(got[1].index, 5);
	assert_int_equal(got[1].before.type, HOLDER_TASK); /* 2000 to 5000 */
	assert_int_equal(got[1].before.pid, 10);
	assert_int_equal(ran(&got[1], 10), 300);
	assert_int_equal(got[1].counts.idle_ns, 700);
	assert_int_equal(got[2].index, 6);
	assert_int_equal(got[2].before.type, HOLDER_IDLE);
	assert_int_equal(got[2].counts.idle_ns, 100);
	assert_int_equal(slices_get_beginning(&slices.state)->type, HOLDER_IDLE);
	info_done(&s.info);
}

/* An event on the edge belongs to the bucket that starts there. */
static void test_edge(void **state)
{
	struct scenario s;

	(void)state;
	begin(&s);
	switches(&s, 1000, 0, 0, RUNNABLE, 10);
	switches(&s, 2000, 0, 10, SLEEPING, 20);
	switches(&s, 2999, 0, 20, SLEEPING, 0);
	assert_int_equal(slices_end(&slices, 3000), 0);
	assert_int_equal(n_got, 3);
	assert_int_equal(ran(&got[0], 10), 1000);
	assert_int_equal(got[0].counts.switches, 1);
	assert_int_equal(ran(&got[1], 10), 0);
	assert_int_equal(ran(&got[1], 20), 999);
	assert_int_equal(got[1].counts.idle_ns, 1);
	assert_int_equal(got[1].counts.switches, 2);
	assert_int_equal(got[2].counts.idle_ns, 0);
	info_done(&s.info);
}

/* After a loss nobody knows who had the CPU since the last event; the loss is where time goes on. */
static void test_loss(void **state)
{
	struct scenario s;

	(void)state;
	begin(&s);
	switches(&s, 1100, 0, 0, RUNNABLE, 10);
	wakes(&s, 1300, 0, 10, SCHED_WAKING, 20, 0);
	loses(&s, 0, 1300, 3200, 7);
	loses(&s, 0, 1300, 3200, LOSS_UNKNOWN);
	wakes(&s, 3200, 0, 20, SCHED_WAKEUP, 30, 0);
	forks(&s, 3250, 0, 20, 40);
	loses(&s, 0, 3250, 3250, 5);
	assert_int_equal(slices_end(&slices, 3300), 0);
	assert_int_equal(n_got, 2);
	assert_int_equal(ran(&got[0], 10), 200);
	assert_int_equal(got[0].counts.unknown_ns, 700);
	assert_int_equal(got[0].counts.lost, 0);
	assert_int_equal(got[0].counts.wakeups, 1);
	assert_int_equal(got[1].before.type, HOLDER_UNKNOWN);
	assert_int_equal(got[1].counts.unknown_ns, 250);
	assert_int_equal(ran(&got[1], 20), 50);
	assert_int_equal(got[1].counts.lost, 12);
	assert_int_equal(got[1].counts.uncounted, 1);
	assert_int_equal(got[1].counts.others, 1);
	info_done(&s.info);
}

/* Stamps that run backwards; a switch that is missing; a loss before the first event. */
static void test_odd(void **state)
{
	struct scenario s;

	(void)state;
	begin(&s);
	loses(&s, 0, 0, 0, 3);
	switches(&s, 1500, 0, 0, RUNNABLE, 10);
	switches(&s, 1400, 0, 10, SLEEPING, 20); /* at 1500 */
	wakes(&s, 1600, 0, 30, SCHED_WAKING, 20, 0);
	switches(&s, 1700, 0, 30, SLEEPING, 0);
	assert_int_equal(slices_end(&slices, 1650), 0);
	assert_int_equal(n_got, 1);
	assert_int_equal(ran(&got[0], 10), 0);
	assert_int_equal(ran(&got[0], 20), 0);
	assert_int_equal(ran(&got[0], 30), 200);
	assert_int_equal(got[0].counts.lost, 3);
	assert_int_equal(got[0].counts.busy_ns, 200);
	assert_int_equal(slices_get_beginning(&slices.state)->type, HOLDER_UNKNOWN);
	info_done(&s.info);
}

/* Who had a pid under one name is not given the time of whoever has it under another. */
static void test_names(void **state)
{
	struct trace_item i = { .type = ITEM_EVENT };
	struct scenario s;

	(void)state;
	begin(&s);
	switches(&s, 1000, 0, 0, RUNNABLE, 10);
	switches(&s, 1100, 0, 10, SLEEPING, 0);
	i.event.kind = SCHED_SWITCH; /* the next one of pid 10 */
	i.event.tick = 1200;
	i.event.other.pid = 10;
	i.event.other.comm[0] = 'z';
	scenario_push(&s, &i);
	i.event.tick = 1500;
	i.event.pid = 10;
	i.event.task = i.event.other;
	memset(&i.event.other, 0, sizeof(i.event.other));
	scenario_push(&s, &i);
	assert_int_equal(slices_end(&slices, 1500), 0);
	assert_int_equal(got[0].n_tasks, 2);
	assert_int_equal(got[0].tasks[0].comm[0], 'a');
	assert_int_equal(got[0].tasks[0].ns, 100);
	assert_int_equal(got[0].tasks[1].comm[0], 'z');
	assert_int_equal(got[0].tasks[1].ns, 300);
	info_done(&s.info);
}

/* A switch to pid 10 is missing. Its waking shows that it runs, its own switch then gives its name.
 * The earlier task with that pid must not get the time. */
static void test_unnamed(void **state)
{
	struct trace_item i = { .type = ITEM_EVENT };
	struct scenario s;

	(void)state;
	begin(&s);
	switches(&s, 1000, 0, 0, RUNNABLE, 10);
	switches(&s, 1100, 0, 10, SLEEPING, 20);
	wakes(&s, 1400, 0, 10, SCHED_WAKING, 30, 0);
	i.event.kind = SCHED_SWITCH;
	i.event.tick = 1500;
	i.event.pid = i.event.task.pid = 10;
	i.event.task.comm[0] = 'z';
	scenario_push(&s, &i);
	assert_int_equal(slices_end(&slices, 1500), 0);
	assert_int_equal(got[0].n_tasks, 2);
	assert_int_equal(got[0].tasks[0].comm[0], 'a');
	assert_int_equal(got[0].tasks[0].ns, 100);
	assert_int_equal(got[0].tasks[1].comm[0], 'z');
	assert_int_equal(got[0].tasks[1].ns, 400);
	info_done(&s.info);

	begin(&s); /* and it stays under no name where the run ends before */
	switches(&s, 1000, 0, 0, RUNNABLE, 10);
	switches(&s, 1100, 0, 10, SLEEPING, 20);
	wakes(&s, 1400, 0, 10, SCHED_WAKING, 30, 0);
	assert_int_equal(slices_end(&slices, 1400), 0);
	assert_int_equal(got[0].n_tasks, 2);
	assert_int_equal(got[0].tasks[0].ns, 100);
	assert_int_equal(got[0].tasks[1].pid, 10);
	assert_int_equal(got[0].tasks[1].comm[0], 0);
	assert_int_equal(got[0].tasks[1].ns, 300);
	info_done(&s.info);
}

/* --- against the report --- */

struct sums {
	struct bucket_counts counts;
	struct holder at; /* who had the CPU up to `next` */
	uint64_t next;	  /* index behind the last bucket */
	struct bucket tasks;
};

static int sum_up(void *context, struct bucket *b)
{
	struct sums *t = context;

	if (b->before.type != HOLDER_NONE)
		bucket_add_time(&t->tasks, &b->before, (b->index - t->next) * FINE_NS);
	bucket_add(&t->tasks, b);
	t->next = b->index + 1;
	return 0;
}

static void sum_cpu(const struct trace_random *t, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
		    struct sums *ret)
{
	uint64_t first_ns;
	size_t i;

	bucket_init(&ret->tasks, 0, NULL);
	slices_init(&slices, &t->info, FINE_NS);
	slices.put = sum_up;
	slices.context = ret;
	for (i = 0; i < t->n; i++)
		if (t->items[i].cpu == cpu)
			assert_int_equal(slices_add(&slices, &t->items[i]), 0);
	assert_int_equal(slices_end(&slices, to_ns), 0);
	first_ns = slices.state.begun ? slices.state.first_ns : to_ns;
	bucket_add_time(&ret->tasks, slices_get_beginning(&slices.state), first_ns - from_ns);
}

static void compare(const struct trace_random_options *o)
{
	static struct sums sums;
	struct running *r = NULL;
	struct error e = ERROR_INIT;
	const struct running_cpu *cpus;
	const struct running_task *tasks;
	uint64_t *task_ns = calloc(1U << 16, sizeof(*task_ns));
	struct trace_random t;
	uint64_t rest_ns = 0;
	size_t n, i;
	uint32_t cpu;

	assert_non_null(task_ns);
	trace_random_init(&t, o);
	assert_int_equal(running_new(&r, &t.info), 0);
	for (i = 0; i < t.n; i++)
		assert_int_equal(running_add(r, &t.items[i], &e), 0);
	assert_int_equal(running_finish(r, &e), 0);
	cpus = running_get_cpus(r, &n);
	for (cpu = 0; cpu < o->cpus; cpu++) {
		const struct bucket_counts *c = &sums.tasks.counts;

		sum_cpu(&t, cpu, running_get_total(r)->from_ns, running_get_total(r)->to_ns, &sums);
		assert_int_equal(c->busy_ns, cpus[cpu].busy_ns);
		assert_int_equal(c->idle_ns, cpus[cpu].idle_ns);
		assert_int_equal(c->unknown_ns, cpus[cpu].unknown_ns);
		assert_int_equal(c->switches, cpus[cpu].switches);
		assert_int_equal(c->switches + c->wakeups + c->others, cpus[cpu].events);
		assert_int_equal(c->lost, cpus[cpu].lost);
		assert_int_equal(c->uncounted, cpus[cpu].lost_unknown);
		rest_ns += sums.tasks.rest_ns;
		for (i = 0; i < sums.tasks.n_tasks; i++) {
			assert_in_range(sums.tasks.tasks[i].pid, 1, 65535);
			task_ns[sums.tasks.tasks[i].pid] += sums.tasks.tasks[i].ns;
		}
	}
	tasks = running_get_tasks(r, &n);
	for (i = 0; i < n; i++) /* all lives of a pid, under all their names */
		task_ns[tasks[i].pid] -= tasks[i].cpu_ns;
	for (i = 0; i < 1U << 16; i++)
		rest_ns += task_ns[i]; /* below zero by what is in the rest */
	assert_int_equal(rest_ns, 0);
	for (i = 0; i < 1U << 16; i++)
		assert_true((int64_t)task_ns[i] <= 0);
	running_free(r);
	trace_random_done(&t);
	free(task_ns);
}

static void test_as_report(void **state)
{
	struct trace_random_options o = { .cpus = 3, .events = 3000, .style = SCHED_RANDOM_REAL };

	(void)state;
	for (o.seed = 1; o.seed < 12; o.seed++) {
		o.loss_every = o.seed % 3 ? 0 : 200;
		compare(&o);
	}
	o.style = SCHED_RANDOM_IDLE; /* minutes between two events */
	for (; o.seed < 20; o.seed++) {
		o.loss_every = o.seed % 2 ? 0 : 50;
		compare(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_run),  cmocka_unit_test(test_edge),
		cmocka_unit_test(test_loss),	  cmocka_unit_test(test_odd),
		cmocka_unit_test(test_as_report), cmocka_unit_test(test_names),
		cmocka_unit_test(test_unnamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
