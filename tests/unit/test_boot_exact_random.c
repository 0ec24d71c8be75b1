/* SPDX-License-Identifier: MIT */
/*
 * boot_exact against a machine that is simulated: whatever it did in each tick is written down beside the events, and
 * compared tick by tick with what was made of the events, alone and laid over samples of the same boot.
 *
 * The machine has a few CPUs and tasks that fork, execute, sleep, wait, stop, preempt, wake each other and end,
 * all by a seeded generator. A second round drops stretches of events and tells of a loss: then what is said must
 * still be true wherever it is not said to be unknown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/boot_exact.h"
#include "tools/boot_story.h"
#include "tools/sched_random.h"
#include "tools/sched_story.h"

#define TICK 1000U
#define TICKS 2000U
#define TASKS 60U
#define CPUS 4U
#define PASS 50U /* ticks between two samples */
#define NOT_THERE 0xff

enum wake_by { NOBODY = 0, INTERRUPT = -1 };

struct machine {
	struct sched_random random;
	struct sched_story *events;
	struct boot_story *samples; /* or NULL */
	uint64_t ran[TASKS];	    /* ticks */
	uint32_t cpus, n_tasks, tick;
	uint32_t running[CPUS];		       /* task + 1 */
	int group[TASKS];		       /* task that is its process */
	uint8_t now[TASKS];		       /* enum boot_state, NOT_THERE */
	uint8_t was[TASKS][TICKS];	       /* at the end of each tick */
	int woken[TASKS][TICKS];	       /* by task + 1, enum wake_by */
	bool is_lost[TICKS];		       /* on some CPU */
	uint32_t lost_cpu, lost_from, lost_to; /* events of it are dropped there */
	uint64_t lost;
	bool blurred[TASKS]; /* its start or its end was lost */
};

/* None is that of kthreadd, whose children are kernel threads. */
static int32_t pid_of(uint32_t task)
{
	return (int32_t)task + 100;
}

static uint32_t task_of(int32_t pid)
{
	return (uint32_t)pid - 100;
}

static uint32_t below(struct machine *m, uint32_t n)
{
	return sched_random_below(&m->random, n);
}

static uint64_t now_ns(const struct machine *m)
{
	return (uint64_t)(m->tick + 1) * TICK;
}

/* Whether an event of this CPU gets lost now. */
static bool loses(struct machine *m, uint32_t cpu)
{
	if (!m->lost_to || cpu != m->lost_cpu || m->tick < m->lost_from || m->tick >= m->lost_to)
		return false;
	m->lost++;
	return true;
}

static void change(struct machine *m, uint32_t cpu, char state, uint32_t next)
{
	uint32_t prev = m->running[cpu];
	static const char letters[] = "RSDTX";
	static const uint8_t states[] = { BOOT_RUNNABLE, BOOT_SLEEPING, BOOT_DISK_WAIT,
					  BOOT_STOPPED, NOT_THERE };

	if (prev)
		m->now[prev - 1] = states[strchr(letters, state) - letters];
	if (next)
		m->now[next - 1] = BOOT_RUNNING;
	m->running[cpu] = next;
	if (m->samples && prev && state == 'X' && m->group[prev - 1] == (int)prev - 1)
		boot_story_exit(m->samples, now_ns(m), (uint32_t)pid_of(prev - 1), 0);
	if (loses(m, cpu)) {
		if (state == 'X' && prev)
			m->blurred[prev - 1] = true;
		return;
	}
	sched_story_switch(m->events, now_ns(m), cpu, prev ? pid_of(prev - 1) : 0,
			   prev ? state : 'R', next ? pid_of(next - 1) : 0);
}

static uint32_t pick(struct machine *m, uint8_t state, uint8_t or_state)
{
	uint32_t i, at = below(m, m->n_tasks ? m->n_tasks : 1);

	for (i = 0; i < m->n_tasks; i++, at = (at + 1) % m->n_tasks)
		if (m->now[at] == state || m->now[at] == or_state)
			return at + 1;
	return 0;
}

static void fork_one(struct machine *m, uint32_t cpu, bool is_thread)
{
	uint32_t parent = m->running[cpu], child = m->n_tasks;
	const char comm[SCHED_COMM_LEN] = "x";
	struct trace_info *info = &sched_story_open(m->events)->info;

	if (child == TASKS)
		return;
	m->n_tasks++;
	m->group[child] = is_thread ? m->group[parent - 1] : (int)child;
	m->now[child] = BOOT_RUNNABLE;
	if (m->samples) { /* the kernel tells of processes: what it does not tell of are threads */
		if (!is_thread)
			boot_story_start(m->samples, now_ns(m), (uint32_t)pid_of(child),
					 parent ? (uint32_t)pid_of((uint32_t)m->group[parent - 1])
						: 0);
		sched_story_fork(m->events, now_ns(m), cpu, parent ? pid_of(parent - 1) : 0,
				 pid_of(child));
		return;
	}
	assert_int_equal(info_add_task(info, pid_of(child), pid_of((uint32_t)m->group[child]),
				       comm),
			 0);
	if (loses(m, cpu))
		m->blurred[child] = true;
	else
		sched_story_fork(m->events, now_ns(m), cpu, parent ? pid_of(parent - 1) : 0,
				 pid_of(child));
}

static void wake_one(struct machine *m, uint32_t cpu)
{
	uint32_t by = m->running[cpu], task = pick(m, BOOT_SLEEPING, BOOT_DISK_WAIT);
	bool is_irq = !by || below(m, 4) == 0;

	if (!task && below(m, 3) == 0)
		task = pick(m, BOOT_STOPPED, BOOT_STOPPED);
	if (!task)
		return;
	m->now[task - 1] = BOOT_RUNNABLE;
	m->woken[task - 1][m->tick] = is_irq ? INTERRUPT : (int)by;
	if (loses(m, cpu))
		return;
	if (is_irq)
		sched_story_wake_irq(m->events, now_ns(m), cpu, by ? pid_of(by - 1) : 0,
				     pid_of(task - 1));
	else
		sched_story_wake(m->events, now_ns(m), cpu, pid_of(by - 1), pid_of(task - 1));
}

/* A process ends with its last thread, its own task last, as most do. */
static bool may_exit(const struct machine *m, uint32_t task)
{
	uint32_t i;

	if (!task)
		return false;
	for (i = 0; i < m->n_tasks; i++)
		if (i != task && m->group[i] == (int)task && m->now[i] != NOT_THERE)
			return false;
	return true;
}

static void act(struct machine *m, uint32_t cpu)
{
	uint32_t what = below(m, 20), next = 0;

	if (!m->running[cpu]) {
		next = what < 10 ? pick(m, BOOT_RUNNABLE, BOOT_RUNNABLE) : 0;
		if (next)
			change(m, cpu, 'R', next);
		else if (what < 14)
			wake_one(m, cpu);
		return;
	}
	if (what < 5)
		next = pick(m, BOOT_RUNNABLE, BOOT_RUNNABLE);
	if (what < 3)
		change(m, cpu, what < 2 ? 'S' : 'D', next);
	else if (what == 3 && next)
		change(m, cpu, 'R', next);
	else if (what == 4)
		change(m, cpu, below(m, 4) ? 'S' : 'T', next);
	else if (what < 8)
		wake_one(m, cpu);
	else if (what == 8)
		fork_one(m, cpu, below(m, 3) == 0);
	else if (what == 9 && below(m, 6) == 0 && may_exit(m, m->running[cpu] - 1))
		change(m, cpu, 'X', 0);
}

static uint8_t truth(const struct machine *m, uint32_t process, uint32_t tick);

/* Looks at all processes, as the recorder does. */
static void sample(struct machine *m)
{
	static const char letters[] = { [BOOT_RUNNING] = 'R',
					[BOOT_RUNNABLE] = 'R',
					[BOOT_DISK_WAIT] = 'D',
					[BOOT_SLEEPING] = 'S',
					[BOOT_STOPPED] = 'T' };
	uint64_t ran[TASKS] = { 0 };
	uint32_t i;
	uint8_t is;

	boot_story_pass(m->samples, now_ns(m));
	for (i = 0; i < m->n_tasks; i++)
		ran[m->group[i]] += m->ran[i];
	for (i = 0; i < m->n_tasks; i++) {
		is = m->group[i] == (int)i ? truth(m, i, m->tick) : NOT_THERE;
		if (is != NOT_THERE)
			boot_story_task(m->samples, now_ns(m), (uint32_t)pid_of(i), letters[is],
					ran[i] * TICK);
	}
}

static void note(struct machine *m)
{
	uint32_t i;

	for (i = 0; i < TASKS; i++)
		m->was[i][m->tick] = i < m->n_tasks ? m->now[i] : NOT_THERE;
	if (m->samples && m->tick % PASS == PASS - 1)
		sample(m);
	for (i = 0; i < m->n_tasks; i++)
		m->ran[i] += m->now[i] == BOOT_RUNNING;
	m->is_lost[m->tick] = false;
}

/* After the loss, the CPU speaks again: its first event is at that tick. */
static void end_loss(struct machine *m)
{
	if (!m->lost_to || m->tick != m->lost_to)
		return;
	sched_story_loss(m->events, (uint64_t)(m->lost_from) * TICK, now_ns(m), m->lost_cpu,
			 m->lost);
}

static void live(struct machine *m, uint64_t seed, uint32_t cpus, bool with_loss)
{
	struct boot_story *samples = m->samples;
	uint32_t i;

	memset(m, 0, sizeof(*m));
	m->samples = samples;
	sched_random_init(&m->random, seed, SCHED_RANDOM_REAL);
	m->cpus = cpus;
	m->events = sched_story_new(cpus);
	m->lost_cpu = below(m, cpus);
	if (with_loss) {
		m->lost_from = TICKS / 4 + below(m, TICKS / 4);
		m->lost_to = m->lost_from + 1 + below(m, TICKS / 8);
	}
	for (m->tick = 0; m->tick < TICKS; m->tick++) {
		if (m->tick == 0) {
			fork_one(m, 0, false);
			change(m, 0, 'R', 1);
		}
		/* So that the loss begins and ends where it is said to. */
		if (with_loss && m->tick + 1 == m->lost_from)
			change(m, m->lost_cpu, 'R', m->running[m->lost_cpu] ? 0 : pick(m, 1, 1));
		end_loss(m);
		if (with_loss && m->tick == m->lost_to)
			change(m, m->lost_cpu, 'R', m->running[m->lost_cpu] ? 0 : pick(m, 1, 1));
		for (i = 0; m->tick && m->tick + 1 < TICKS && i < cpus; i++)
			if (!with_loss || i != m->lost_cpu ||
			    (m->tick + 1 != m->lost_from && m->tick != m->lost_to))
				act(m, i);
		/* All CPUs speak last, so that none counts as cut off. */
		for (i = 0; m->tick + 1 == TICKS && i < cpus; i++)
			change(m, i, 'R', 0);
		note(m);
		m->is_lost[m->tick] =
			with_loss && m->tick + 1 >= m->lost_from && m->tick < m->lost_to;
	}
}

/* What a process did in a tick, by the rules of boot_exact.h. */
static uint8_t truth(const struct machine *m, uint32_t process, uint32_t tick)
{
	static const uint8_t order[] = { BOOT_RUNNING, BOOT_RUNNABLE, BOOT_DISK_WAIT, BOOT_SLEEPING,
					 BOOT_STOPPED };
	uint32_t i, k;

	for (k = 0; k < sizeof(order); k++)
		for (i = 0; i < m->n_tasks; i++)
			if (m->group[i] == (int)process && m->was[i][tick] == order[k])
				return order[k];
	return NOT_THERE;
}

static const struct boot_span *span_at(const struct boot_process *p, uint64_t ns)
{
	size_t i;

	for (i = 0; i < p->n_spans; i++)
		if (p->spans[i].from_ns <= ns && ns < p->spans[i].to_ns)
			return &p->spans[i];
	return NULL;
}

static bool is_wait(uint8_t state)
{
	return state == BOOT_SLEEPING || state == BOOT_DISK_WAIT || state == BOOT_STOPPED;
}

/* Who ended a wait: one of those that woke a thread of it in that tick, or an interrupt if only those did. */
static void check_whom(const struct machine *m, const struct boot *b, uint32_t process,
		       const struct boot_span *s)
{
	uint32_t tick = (uint32_t)(s->to_ns / TICK) - 1, i;
	bool by_task = false, by_irq = false, matches = false;

	for (i = 0; i < m->n_tasks; i++) {
		int by = m->woken[i][tick];

		by_irq |= m->group[i] == (int)process && by == INTERRUPT;
		if (m->group[i] != (int)process || by <= 0)
			continue;
		by_task = true;
		matches |= s->whom < b->n_processes &&
			   b->processes[s->whom].pid == pid_of((uint32_t)m->group[by - 1]);
	}
	assert_true(by_task ? matches : s->whom == (by_irq ? BOOT_INTERRUPT : BOOT_NONE));
}

static uint64_t ticks_on_cpu(const struct machine *m, uint32_t process)
{
	uint64_t n = 0;
	uint32_t i, t;

	for (i = 0; i < m->n_tasks; i++)
		for (t = 0; t + 1 < TICKS && m->group[i] == (int)process; t++)
			n += m->was[i][t] == BOOT_RUNNING;
	return n;
}

static void check_process(const struct machine *m, const struct boot *b,
			  const struct boot_process *p)
{
	uint32_t process = task_of(p->pid), t;
	const struct boot_span *s;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < BOOT_STATES; i++)
		sum += p->state_ns[i];
	assert_int_equal(sum, p->to_ns - p->from_ns);
	assert_int_equal(p->state_ns[BOOT_RUNNING], boot_process_ran(p));
	for (t = 0; t + 1 < TICKS; t++) {
		uint8_t is = truth(m, process, t);

		s = span_at(p, (uint64_t)(t + 1) * TICK);
		if (is != (s ? s->state : NOT_THERE))
			fail_msg("process %d in tick %u: %d instead of %d", p->pid, t,
				 s ? s->state : NOT_THERE, is);
	}
	assert_int_equal(p->cpu_ns, ticks_on_cpu(m, process) * TICK);
	for (i = 0; i + 1 < p->n_spans; i++)
		if (is_wait(p->spans[i].state))
			check_whom(m, b, process, &p->spans[i]);
}

/* Within the chart, which ends with the last sample. */
static void check_over(const struct machine *m, const struct boot *b, const struct boot_process *p)
{
	uint32_t process = task_of(p->pid), t;
	const struct boot_span *s;
	uint64_t sum = 0, ns;
	size_t i;

	for (i = 0; i < BOOT_STATES; i++)
		sum += p->state_ns[i];
	assert_int_equal(sum, p->to_ns - p->from_ns);
	for (t = 0; t + 1 < TICKS; t++) {
		uint8_t is = truth(m, process, t);

		ns = (uint64_t)(t + 1) * TICK;
		if (ns < b->from_ns || ns >= b->to_ns)
			continue;
		s = span_at(p, ns);
		if (is != (s ? s->state : NOT_THERE))
			fail_msg("process %d in tick %u: %d instead of %d", p->pid, t,
				 s ? s->state : NOT_THERE, is);
	}
}

static void all_is_as_it_was(void **state)
{
	static struct machine m;
	struct error e = ERROR_INIT;
	uint64_t seed;
	size_t i, processes;
	uint32_t k;

	(void)state;
	for (seed = 1; seed <= 60; seed++) {
		CLEANUP(boot) struct boot *b = NULL;

		live(&m, seed, 1 + (uint32_t)seed % CPUS, false);
		assert_int_equal(boot_new_from_sched(&b, sched_story_open(m.events), &e), 0);
		for (processes = k = 0; k < m.n_tasks; k++)
			processes += m.group[k] == (int)k;
		assert_int_equal(b->n_processes, processes);
		assert_int_equal(b->n_gaps, 0);
		for (i = 0; i < b->n_processes; i++)
			check_process(&m, b, &b->processes[i]);
		sched_story_free(m.events);
	}
}

/* What is said, although events are missing, is true; behind a loss a sleep may be of another kind. */
static void check_lossy(const struct machine *m, const struct boot_process *p, size_t *ret_known)
{
	uint32_t process = task_of(p->pid), t, i;
	const struct boot_span *s;
	uint64_t sum = 0;

	for (i = 0; i < BOOT_STATES; i++)
		sum += p->state_ns[i];
	assert_int_equal(sum, p->to_ns - p->from_ns);
	for (i = 0; i < m->n_tasks; i++)
		if (m->group[i] == (int)process && m->blurred[i])
			return;
	for (t = 0; t + 1 < TICKS; t++) {
		uint8_t is = truth(m, process, t);

		s = span_at(p, (uint64_t)(t + 1) * TICK);
		if (s && s->state == BOOT_UNKNOWN)
			continue;
		(*ret_known)++;
		if (is == (s ? s->state : NOT_THERE) ||
		    (t >= m->lost_to && s && is_wait(is) && is_wait(s->state)))
			continue;
		fail_msg("process %d in tick %u: %d instead of %d (loss %u to %u)", p->pid, t,
			 s ? s->state : NOT_THERE, is, m->lost_from, m->lost_to);
	}
}

static void losses_make_nothing_wrong(void **state)
{
	static struct machine m;
	struct error e = ERROR_INIT;
	uint64_t seed;
	size_t i, known = 0;

	(void)state;
	for (seed = 1; seed <= 60; seed++) {
		CLEANUP(boot) struct boot *b = NULL;

		live(&m, seed, 1 + (uint32_t)seed % CPUS, true);
		assert_int_equal(boot_new_from_sched(&b, sched_story_open(m.events), &e), 0);
		assert_int_equal(b->n_gaps, 1);
		assert_false(b->has_events);
		for (i = 0; i < b->n_processes; i++)
			check_lossy(&m, &b->processes[i], &known);
		sched_story_free(m.events);
	}
	assert_true(known > 60 * TICKS); /* and much is said */
}

/* The same boot, sampled: what the scheduler's events say is laid over it, and the CPU times agree. */
static void both_agree(void **state)
{
	static struct machine m;
	struct error e = ERROR_INIT;
	uint64_t seed, sampled[TASKS] = { 0 };
	size_t i;

	(void)state;
	for (seed = 1; seed <= 40; seed++) {
		CLEANUP(boot_source) struct boot_source *source = NULL;
		CLEANUP(boot) struct boot *b = NULL;

		m.samples = boot_story_new();
		live(&m, seed, 1 + (uint32_t)seed % CPUS, false);
		boot_story_open(m.samples, &source);
		assert_int_equal(boot_new(&b, source, &e), 0);
		for (i = 0; i < b->n_processes; i++)
			sampled[task_of(b->processes[i].pid)] = boot_process_cpu(&b->processes[i]);
		assert_int_equal(boot_make_exact(b, sched_story_open(m.events), &e), 0);
		assert_true(b->is_exact);
		for (i = 0; i < b->n_processes; i++) {
			const struct boot_process *p = &b->processes[i];
			uint64_t cpu = boot_process_cpu(p), other = sampled[task_of(p->pid)];

			check_over(&m, b, p);
			/* Up to the last look the counters miss nothing; and each CPU has one. */
			assert_true((cpu > other ? cpu - other : other - cpu) <=
				    (uint64_t)(PASS + 1) * m.cpus * TICK);
		}
		sched_story_free(m.events);
		boot_story_free(m.samples);
		m.samples = NULL;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_as_it_was),
		cmocka_unit_test(losses_make_nothing_wrong),
		cmocka_unit_test(both_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
