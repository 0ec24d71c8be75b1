/* SPDX-License-Identifier: MIT */
/* boot_path: boots of which one can say by hand what had to happen, exact and sampled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/boot_exact.h"
#include "analysis/boot_path.h"
#include "tools/boot_story.h"
#include "tools/sched_random.h"
#include "tools/sched_story.h"

#define MS BOOT_STORY_MS

struct made {
	struct boot_story *samples;
	struct sched_story *events;
	struct boot *boot;
	struct boot_path *path;
};

static int setup(void **state)
{
	static struct made m;

	memset(&m, 0, sizeof(m));
	m.samples = boot_story_new();
	m.events = sched_story_new(2);
	*state = &m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	boot_path_free(m->path);
	boot_free(m->boot);
	boot_story_free(m->samples);
	sched_story_free(m->events);
	return 0;
}

static uint32_t find(const struct boot *b, int32_t pid)
{
	uint32_t i;

	for (i = 0; i < b->n_processes; i++)
		if (b->processes[i].pid == pid)
			return i;
	fail_msg("no process %d", pid);
	return BOOT_NONE;
}

/* Whatever the path is: steps lie side by side, back from the moment. */
static void check(const struct boot *b, const struct boot_path *p)
{
	uint64_t sum;
	size_t i, k;

	for (i = 0; i < p->n_steps; i++) {
		const struct boot_step *s = &p->steps[i];

		assert_true(s->process < b->n_processes);
		assert_true(s->from_ns < s->to_ns);
		assert_true(i == 0 || s->from_ns == s[-1].to_ns);
		for (sum = k = 0; k < BOOT_STATES; k++)
			sum += s->state_ns[k];
		assert_int_equal(sum, s->to_ns - s->from_ns);
	}
	assert_true(!p->n_steps || p->steps[p->n_steps - 1].to_ns <= p->to_ns);
}

static void walk(struct made *m, int32_t pid, uint64_t ns)
{
	assert_int_equal(boot_path_new(&m->path, m->boot, pid ? find(m->boot, pid) : BOOT_NONE, ns),
			 0);
	check(m->boot, m->path);
}

static void make_exact(struct made *m)
{
	struct error e = ERROR_INIT;

	assert_int_equal(boot_new_from_sched(&m->boot, sched_story_open(m->events), &e), 0);
}

static void make_sampled(struct made *m)
{
	CLEANUP(boot_source) struct boot_source *source = NULL;
	struct error e = ERROR_INIT;

	boot_story_open(m->samples, &source);
	assert_int_equal(boot_new(&m->boot, source, &e), 0);
}

struct expected {
	int32_t pid;
	uint64_t from_ns, to_ns;
	uint8_t state;
};

static void is(const struct made *m, const struct expected *x, size_t n)
{
	size_t i;

	for (i = 0; i < n && i < m->path->n_steps; i++) {
		const struct boot_step *s = &m->path->steps[i];

		assert_int_equal(m->boot->processes[s->process].pid, x[i].pid);
		assert_int_equal(s->from_ns, x[i].from_ns);
		assert_int_equal(s->to_ns, x[i].to_ns);
		assert_int_equal(s->state, x[i].state);
	}
	assert_int_equal(m->path->n_steps, n);
}
#define IS(m, ...)                                                                                 \
	is(m, (const struct expected[]){ __VA_ARGS__ },                                            \
	   sizeof((const struct expected[]){ __VA_ARGS__ }) / sizeof(struct expected))

static void begin(struct sched_story *s)
{
	sched_story_fork(s, 1 * MS, 0, 0, 1);
	sched_story_switch(s, 1 * MS, 0, 0, 'R', 1);
}

/* Init forks a child and waits until it ends. What another one did at the same time is not on the path. */
static void a_child_is_waited_for(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;

	begin(s);
	sched_story_fork(s, 5 * MS, 0, 1, 8);
	sched_story_fork(s, 6 * MS, 0, 1, 9);
	sched_story_switch(s, 6 * MS, 1, 0, 'R', 8);
	sched_story_switch(s, 10 * MS, 0, 1, 'S', 9);
	sched_story_switch(s, 20 * MS, 1, 8, 'S', 0);
	sched_story_exit(s, 39 * MS, 0, 9, true);
	sched_story_wake(s, 39 * MS, 0, 9, 1);
	sched_story_switch(s, 40 * MS, 0, 9, 'X', 1);
	sched_story_switch(s, 50 * MS, 0, 1, 'S', 0);
	sched_story_switch(s, 50 * MS, 1, 0, 'R', 0);
	make_exact(m);
	walk(m, 1, 50 * MS);
	IS(m, { 1, 1 * MS, 6 * MS, BOOT_RUNNING }, { 9, 6 * MS, 39 * MS, BOOT_RUNNING },
	   { 1, 39 * MS, 50 * MS, BOOT_RUNNING });
	assert_int_equal(m->path->steps[1].state_ns[BOOT_RUNNABLE], 4 * MS);
	assert_false(m->path->steps[1].is_inferred);
	boot_path_free(m->path);
	m->path = NULL;
	walk(m, 0, 50 * MS); /* init ran last */
	assert_int_equal(m->path->n_steps, 3);
}

/* The target waits for a daemon that was started first, by somebody else. */
static void a_daemon_is_waited_for(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;

	begin(s);
	sched_story_fork(s, 2 * MS, 0, 1, 20); /* the daemon */
	sched_story_switch(s, 2 * MS, 1, 0, 'R', 20);
	sched_story_fork(s, 10 * MS, 0, 1, 30); /* the target */
	sched_story_switch(s, 11 * MS, 0, 1, 'S', 30);
	sched_story_switch(s, 15 * MS, 0, 30, 'S', 0);
	sched_story_wake(s, 60 * MS, 1, 20, 30); /* ready at last */
	sched_story_switch(s, 61 * MS, 0, 0, 'R', 30);
	sched_story_switch(s, 65 * MS, 1, 20, 'S', 0);
	sched_story_switch(s, 70 * MS, 0, 30, 'S', 0);
	make_exact(m);
	walk(m, 30, 70 * MS);
	IS(m, { 1, 1 * MS, 2 * MS, BOOT_RUNNING }, { 20, 2 * MS, 60 * MS, BOOT_RUNNING },
	   { 30, 60 * MS, 70 * MS, BOOT_RUNNING });
}

static void a_disk_is_waited_for(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;

	begin(s);
	sched_story_switch(s, 5 * MS, 0, 1, 'D', 0);
	sched_story_wake_irq(s, 25 * MS, 0, 0, 1);
	sched_story_switch(s, 25 * MS, 0, 0, 'R', 1);
	sched_story_switch(s, 30 * MS, 0, 1, 'S', 0);
	make_exact(m);
	walk(m, 1, 30 * MS);
	IS(m, { 1, 1 * MS, 5 * MS, BOOT_RUNNING }, { 1, 5 * MS, 25 * MS, BOOT_DISK_WAIT },
	   { 1, 25 * MS, 30 * MS, BOOT_RUNNING });
}

/* A timer ends the wait while another one has the CPU, and a child ended during it: neither is to blame. */
static void a_timer_is_waited_for(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;

	begin(s);
	sched_story_fork(s, 2 * MS, 0, 1, 8);
	sched_story_fork(s, 3 * MS, 0, 1, 9);
	sched_story_switch(s, 3 * MS, 1, 0, 'R', 9);
	sched_story_switch(s, 5 * MS, 0, 1, 'S', 8);
	sched_story_exit(s, 9 * MS, 1, 9, true);
	sched_story_switch(s, 10 * MS, 1, 9, 'X', 0);
	sched_story_wake_irq(s, 25 * MS, 0, 8, 1); /* while 8 ran */
	sched_story_switch(s, 25 * MS, 1, 0, 'R', 1);
	sched_story_switch(s, 29 * MS, 0, 8, 'S', 0);
	sched_story_switch(s, 30 * MS, 1, 1, 'S', 0);
	make_exact(m);
	walk(m, 1, 30 * MS);
	IS(m, { 1, 1 * MS, 5 * MS, BOOT_RUNNING }, { 1, 5 * MS, 25 * MS, BOOT_SLEEPING },
	   { 1, 25 * MS, 30 * MS, BOOT_RUNNING });
}

/* The same wakeup in a trace without flags: who was on the CPU is the best there is, and no more than that. */
static void who_may_be_interrupted_is_inferred(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;

	begin(s);
	sched_story_fork(s, 2 * MS, 0, 1, 8);
	sched_story_switch(s, 5 * MS, 0, 1, 'S', 8);
	sched_story_wake(s, 25 * MS, 0, 8, 1);
	sched_story_switch(s, 25 * MS, 1, 0, 'R', 1);
	sched_story_switch(s, 29 * MS, 0, 8, 'S', 0);
	sched_story_switch(s, 30 * MS, 1, 1, 'S', 0);
	sched_story_open(s)->info.dialect.features |= DIALECT_NO_FLAGS;
	make_exact(m);
	assert_false(m->boot->tells_interrupts);
	walk(m, 1, 30 * MS);
	IS(m, { 1, 1 * MS, 2 * MS, BOOT_RUNNING }, { 8, 2 * MS, 25 * MS, BOOT_RUNNING },
	   { 1, 25 * MS, 30 * MS, BOOT_RUNNING });
	assert_true(m->path->steps[1].is_inferred);
	assert_false(m->path->steps[2].is_inferred);
}

/* A kernel thread that has slept since long before hands on what a disk has read. */
static void who_hands_on_is_not_to_blame(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;

	begin(s);
	sched_story_fork(s, 1 * MS, 0, 1, 40);
	sched_story_switch(s, 1 * MS, 1, 0, 'R', 40);
	sched_story_switch(s, 2 * MS, 1, 40, 'S', 0);
	sched_story_switch(s, 10 * MS, 0, 1, 'D', 0);
	sched_story_wake_irq(s, 50 * MS, 1, 0, 40);
	sched_story_switch(s, 51 * MS, 1, 0, 'R', 40);
	sched_story_wake(s, 52 * MS, 1, 40, 1);
	sched_story_switch(s, 53 * MS, 0, 0, 'R', 1);
	sched_story_switch(s, 54 * MS, 1, 40, 'S', 0);
	sched_story_switch(s, 60 * MS, 0, 1, 'S', 0);
	make_exact(m);
	walk(m, 1, 60 * MS);
	IS(m, { 1, 1 * MS, 10 * MS, BOOT_RUNNING }, { 1, 10 * MS, 50 * MS, BOOT_DISK_WAIT },
	   { 40, 50 * MS, 52 * MS, BOOT_RUNNING }, { 1, 52 * MS, 60 * MS, BOOT_RUNNING });
}

/* a | b | c: each wakes the next one. */
static void a_chain_over_pipes(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;
	int32_t pid;

	begin(s);
	for (pid = 11; pid <= 13; pid++) {
		sched_story_fork(s, (uint64_t)pid * MS, 0, 1, pid);
		sched_story_switch(s, (uint64_t)pid * MS, 1, 0, 'R', pid);
		sched_story_switch(s, (uint64_t)pid * MS + MS / 2, 1, pid, 'S', 0);
	}
	sched_story_wake(s, 20 * MS, 0, 1, 11);
	sched_story_switch(s, 20 * MS, 1, 0, 'R', 11);
	sched_story_switch(s, 21 * MS, 0, 1, 'S', 0);
	sched_story_wake(s, 30 * MS, 1, 11, 12);
	sched_story_switch(s, 30 * MS, 1, 11, 'S', 12);
	sched_story_wake(s, 45 * MS, 1, 12, 13);
	sched_story_switch(s, 45 * MS, 1, 12, 'S', 13);
	sched_story_switch(s, 60 * MS, 1, 13, 'S', 0);
	make_exact(m);
	walk(m, 0, 60 * MS);
	IS(m, { 1, 1 * MS, 20 * MS, BOOT_RUNNING }, { 11, 20 * MS, 30 * MS, BOOT_RUNNING },
	   { 12, 30 * MS, 45 * MS, BOOT_RUNNING }, { 13, 45 * MS, 60 * MS, BOOT_RUNNING });
}

/* Init starts a script that starts a program that starts the target. */
static void a_chain_of_forks(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;

	begin(s);
	sched_story_fork(s, 10 * MS, 0, 1, 2);
	sched_story_switch(s, 10 * MS, 0, 1, 'S', 2);
	sched_story_fork(s, 20 * MS, 0, 2, 3);
	sched_story_switch(s, 20 * MS, 0, 2, 'S', 3);
	sched_story_fork(s, 30 * MS, 0, 3, 4);
	sched_story_switch(s, 33 * MS, 0, 3, 'S', 4);
	sched_story_switch(s, 50 * MS, 0, 4, 'S', 0);
	make_exact(m);
	walk(m, 4, 40 * MS);
	IS(m, { 1, 1 * MS, 10 * MS, BOOT_RUNNING }, { 2, 10 * MS, 20 * MS, BOOT_RUNNING },
	   { 3, 20 * MS, 30 * MS, BOOT_RUNNING }, { 4, 30 * MS, 40 * MS, BOOT_RUNNING });
}

/* Two that wake each other at one time, by a clock that ticks slowly: the path still ends. */
static void no_circle_without_time(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;

	begin(s);
	sched_story_fork(s, 2 * MS, 0, 1, 5);
	sched_story_switch(s, 2 * MS, 1, 0, 'R', 5);
	sched_story_switch(s, 3 * MS, 0, 1, 'S', 0);
	sched_story_switch(s, 3 * MS, 1, 5, 'S', 0);
	sched_story_wake(s, 9 * MS, 0, 5, 1);
	sched_story_wake(s, 9 * MS, 1, 1, 5);
	sched_story_switch(s, 9 * MS, 0, 0, 'R', 1);
	sched_story_switch(s, 9 * MS, 1, 0, 'R', 5);
	sched_story_switch(s, 12 * MS, 0, 1, 'S', 0);
	sched_story_switch(s, 12 * MS, 1, 5, 'S', 0);
	make_exact(m);
	walk(m, 1, 12 * MS);
	assert_true(m->path->n_steps >= 1);
	assert_int_equal(m->path->steps[0].from_ns, 1 * MS);
}

/* Sampled: a script sleeps while its children run one after the other. */
static void sampled_children(void **state)
{
	struct made *m = *state;
	struct boot_story *s = m->samples;
	uint64_t ns;
	size_t i;

	for (ns = 20 * MS; ns <= 400 * MS; ns += 20 * MS) {
		if (ns == 100 * MS)
			boot_story_start(s, 90 * MS, 7, 1);
		if (ns == 200 * MS) {
			boot_story_exit(s, 190 * MS, 7, 0);
			boot_story_start(s, 195 * MS, 8, 1);
		}
		if (ns == 320 * MS)
			boot_story_exit(s, 310 * MS, 8, 0);
		boot_story_pass(s, ns);
		if (ns == 20 * MS) {
			boot_story_found(s, ns, 1, 0, 0);
			boot_story_name(s, ns, 1, "rcS");
			boot_story_task(s, ns, 1, 'R', 5 * MS);
		}
		if (ns == 100 * MS) {
			boot_story_task(s, ns, 1, 'S', 60 * MS);
			boot_story_task(s, ns, 7, 'R', 5 * MS);
		}
		if (ns == 200 * MS)
			boot_story_task(s, ns, 8, 'R', 5 * MS);
		if (ns == 340 * MS)
			boot_story_task(s, ns, 1, 'R', 70 * MS);
	}
	make_sampled(m);
	walk(m, 1, 400 * MS);
	assert_true(m->path->n_steps >= 5);
	for (i = 0; i < m->path->n_steps; i++) {
		int32_t pid = m->boot->processes[m->path->steps[i].process].pid;

		assert_int_equal(m->path->steps[i].is_inferred, pid != 1);
	}
	i = m->path->n_steps - 1;
	assert_int_equal(m->path->steps[i].from_ns, 310 * MS);
	assert_int_equal(m->path->steps[i].process, find(m->boot, 1));
	assert_int_equal(m->path->steps[i - 1].from_ns, 195 * MS);
	assert_int_equal(m->path->steps[i - 1].process, find(m->boot, 8));
	assert_int_equal(m->path->steps[i - 3].process, find(m->boot, 7));
	assert_int_equal(m->path->steps[i - 3].to_ns, 190 * MS);
}

/* Any boot has a path from any moment, and it ends. */
static void any_path_holds(void **state)
{
	struct made *m = *state;
	static struct sched_random r;
	struct error e = ERROR_INIT;
	uint32_t seed, i;

	for (seed = 1; seed <= 20; seed++) {
		struct sched_story *s = sched_story_new(1);

		sched_random_init(&r, seed, seed % 2 ? SCHED_RANDOM_REAL : SCHED_RANDOM_BROKEN);
		for (i = 0; i < 3000; i++) {
			struct trace_item item = { .type = ITEM_EVENT };

			sched_random_next(&r, &item.event);
			sched_story_put(s, &item);
		}
		assert_int_equal(boot_new_from_sched(&m->boot, sched_story_open(s), &e), 0);
		for (i = 0; i < 50; i++) {
			uint64_t ns = m->boot->from_ns +
				      (m->boot->to_ns - m->boot->from_ns) / 50 * (i + 1);
			uint32_t who =
				i % 2 ? BOOT_NONE
				      : sched_random_below(&r, (uint32_t)m->boot->n_processes);

			assert_int_equal(boot_path_new(&m->path, m->boot, who, ns), 0);
			check(m->boot, m->path);
			boot_path_free(m->path);
			m->path = NULL;
		}
		boot_free(m->boot);
		m->boot = NULL;
		sched_story_free(s);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_child_is_waited_for),
		T(a_daemon_is_waited_for),
		T(a_disk_is_waited_for),
		T(a_timer_is_waited_for),
		T(who_may_be_interrupted_is_inferred),
		T(who_hands_on_is_not_to_blame),
		T(a_chain_over_pipes),
		T(a_chain_of_forks),
		T(no_circle_without_time),
		T(sampled_children),
		T(any_path_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
