/* SPDX-License-Identifier: MIT */
/* boot_exact: traces of a few events whose spans were worked out by hand, alone and over samples. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/boot_exact.h"
#include "tools/boot_story.h"
#include "tools/sched_story.h"

#define MS BOOT_STORY_MS

struct made {
	struct boot_story *samples;
	struct sched_story *events;
	struct boot *boot;
};

static int setup(void **state)
{
	static struct made m;

	m.samples = boot_story_new();
	m.events = sched_story_new(2);
	m.boot = NULL;
	*state = &m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	boot_free(m->boot);
	boot_story_free(m->samples);
	sched_story_free(m->events);
	return 0;
}

/* Whatever was made: spans lie side by side, and their states sum up to the lifetime. */
static void check(const struct boot *b)
{
	uint64_t sum, ns;
	size_t i, k;

	for (i = 0; i < b->n_processes; i++) {
		const struct boot_process *p = &b->processes[i];

		assert_true(p->n_names >= 1);
		for (sum = k = 0; k < BOOT_STATES; k++)
			sum += p->state_ns[k];
		assert_int_equal(sum, p->to_ns - p->from_ns);
		for (ns = p->from_ns, k = 0; k < p->n_spans; k++) {
			assert_int_equal(p->spans[k].from_ns, ns);
			assert_true(p->spans[k].to_ns > ns);
			ns = p->spans[k].to_ns;
		}
		assert_int_equal(ns, p->to_ns);
	}
}

static const struct boot *make_alone(struct made *m)
{
	struct error e = ERROR_INIT;

	assert_int_equal(boot_new_from_sched(&m->boot, sched_story_open(m->events), &e), 0);
	check(m->boot);
	assert_true(m->boot->is_exact);
	return m->boot;
}

static const struct boot *make_both(struct made *m)
{
	CLEANUP(boot_source) struct boot_source *source = NULL;
	struct error e = ERROR_INIT;
	int r;

	boot_story_open(m->samples, &source);
	assert_int_equal(boot_new(&m->boot, source, &e), 0);
	r = boot_make_exact(m->boot, sched_story_open(m->events), &e);
	if (r < 0)
		fail_msg("%s", e.text);
	check(m->boot);
	assert_true(m->boot->is_exact);
	return m->boot;
}

static const struct boot_process *find(const struct boot *b, int32_t pid, size_t n)
{
	size_t i;

	for (i = 0; i < b->n_processes; i++)
		if (b->processes[i].pid == pid && !n--)
			return &b->processes[i];
	fail_msg("no process %d", pid);
	return NULL;
}

/* The span that begins there. */
static const struct boot_span *at(const struct boot_process *p, uint64_t ns)
{
	size_t i;

	for (i = 0; i < p->n_spans; i++)
		if (p->spans[i].from_ns == ns)
			return &p->spans[i];
	fail_msg("no span of %d begins at %llu", p->pid, (unsigned long long)ns);
	return NULL;
}

static void is(const struct boot_process *p, uint64_t from_ns, uint64_t to_ns, uint8_t state)
{
	const struct boot_span *s = at(p, from_ns);

	assert_int_equal(s->to_ns, to_ns);
	assert_int_equal(s->state, state);
	assert_int_equal(s->share, state == BOOT_RUNNING ? 1000 : 0);
}

/* Init forks 10, which runs, waits for the disk, runs and ends; init waits for it. */
static void tell_child(struct sched_story *s)
{
	sched_story_fork(s, 1000, 0, 0, 1);
	sched_story_switch(s, 1100, 0, 0, 'R', 1);
	sched_story_fork(s, 2000, 0, 1, 10);
	sched_story_switch(s, 2500, 0, 1, 'S', 10);
	sched_story_exec(s, 2600, 0, 10, "mount", "/bin/mount");
	sched_story_switch(s, 3000, 0, 10, 'D', 0);
	sched_story_wake_irq(s, 5000, 0, 0, 10);
	sched_story_switch(s, 5200, 0, 0, 'R', 10);
	sched_story_exit(s, 6000, 0, 10, true);
	sched_story_wake(s, 6100, 0, 10, 1);
	sched_story_switch(s, 6200, 0, 10, 'X', 1);
	sched_story_switch(s, 7000, 0, 1, 'S', 0);
}

static void spans_to_the_tick(void **state)
{
	struct made *m = *state;
	const struct boot *b;
	const struct boot_process *init, *child;

	tell_child(m->events);
	b = make_alone(m);
	init = find(b, 1, 0);
	child = find(b, 10, 0);
	assert_int_equal(b->n_processes, 2);
	assert_int_equal(b->from_ns, 1000);
	assert_int_equal(b->to_ns, 7000);
	assert_true(b->has_events);
	assert_int_equal(init->n_spans, 5);
	is(init, 1000, 1100, BOOT_RUNNABLE);
	is(init, 1100, 2500, BOOT_RUNNING);
	is(init, 2500, 6100, BOOT_SLEEPING);
	is(init, 6100, 6200, BOOT_RUNNABLE);
	is(init, 6200, 7000, BOOT_RUNNING);
	assert_int_equal(at(init, 2500)->whom, (uint32_t)(child - b->processes));
	assert_int_equal(child->parent, (uint32_t)(init - b->processes));
	assert_int_equal(child->n_spans, 5);
	is(child, 2000, 2500, BOOT_RUNNABLE);
	is(child, 2500, 3000, BOOT_RUNNING);
	is(child, 3000, 5000, BOOT_DISK_WAIT);
	assert_int_equal(at(child, 3000)->whom, BOOT_INTERRUPT);
	assert_true(b->tells_interrupts);
	is(child, 5000, 5200, BOOT_RUNNABLE);
	is(child, 5200, 6200, BOOT_RUNNING);
	assert_int_equal(child->to_ns, 6200);
	assert_false(child->is_alive);
	assert_true(init->is_alive);
	assert_int_equal(child->cpu_ns, 1500);
	assert_int_equal(child->n_names, 2);
	assert_string_equal(child->names[0].comm, "swapper");
	assert_string_equal(child->names[1].comm, "mount");
	assert_string_equal(child->names[1].args, "/bin/mount");
	assert_int_equal(child->names[1].from_ns, 2600);
	assert_int_equal(b->n_points, 1);
	assert_int_equal(b->points[0].user_ns, 1400 + 500 + 1000 + 800);
}

/* Two threads: one works while the other sleeps, both at once, one waits for the disk. */
/* A wakeup of pid 10 by whoever `by` is; it goes to CPU 0. */
struct wakeup {
	uint32_t kind, cpu;
	int32_t by;
	uint8_t flags;
	uint32_t features;
	uint32_t whom; /* expected: an index, or what stands for one */
};

static void wake_by(struct made *m, const struct wakeup *w)
{
	struct trace_item i = { .type = ITEM_EVENT, .cpu = w->cpu };
	struct sched_story *s = m->events;
	const struct boot_process *p;

	sched_story_fork(s, 1000, 0, 0, 1);
	sched_story_fork(s, 1000, 1, 0, 10);
	sched_story_switch(s, 1100, 0, 0, 'R', 1);
	sched_story_switch(s, 1100, 1, 0, 'R', 10);
	sched_story_switch(s, 2000, 1, 10, 'S', 0);
	if (!w->by)
		sched_story_switch(s, 2500, 0, 1, 'S', 0);
	i.event = (struct sched_event){ .tick = 3000, .kind = w->kind, .pid = w->by };
	i.event.flags = w->flags;
	i.event.task = (struct sched_task){ .comm = "task10", .pid = 10 };
	sched_story_put(s, &i);
	sched_story_switch(s, 4000, 1, 0, 'R', 10);
	sched_story_switch(s, 5000, 1, 10, 'S', 0);
	sched_story_open(s)->info.dialect.features |= w->features;
	p = find(make_alone(m), 10, 0);
	is(p, 2000, 3000, BOOT_SLEEPING);
	assert_int_equal(at(p, 2000)->whom, w->whom);
	assert_int_equal(m->boot->tells_interrupts, w->features != DIALECT_NO_FLAGS);
}

/* Who ended a wait, as far as the recording tells. */
static void wakers_are_told_from_interrupts(void **state)
{
	static const uint32_t bpf = DIALECT_NO_FLAGS | DIALECT_WAKER_CONTEXT;
	const struct wakeup wakeups[] = {
		{ SCHED_WAKING, 0, 1, 0, 0, 0 },
		{ SCHED_WAKING, 0, 1, 0x01, 0, 0 },		 /* they were off, that is all */
		{ SCHED_WAKING, 0, 1, 0x08, 0, BOOT_INTERRUPT }, /* hard, soft, not maskable */
		{ SCHED_WAKING, 0, 1, 0x11, 0, BOOT_INTERRUPT },
		{ SCHED_WAKING, 0, 1, 0x40, 0, BOOT_INTERRUPT },
		{ SCHED_WAKING, 0, 0, 0, 0,
		  BOOT_INTERRUPT }, /* the idle task wakes nobody itself */
		{ SCHED_WAKING, 0, 1, 0, DIALECT_NO_FLAGS, 0 },
		{ SCHED_WAKING, 0, 0, 0, DIALECT_NO_FLAGS, BOOT_INTERRUPT },
		{ SCHED_WAKING, 0, 1, 0, bpf, 0 },
		{ SCHED_WAKING, 0, 1, 0x08, bpf, BOOT_INTERRUPT },
		{ SCHED_WAKING, 0, 1, 0, DIALECT_NO_CUR, BOOT_NONE },
		/* Without sched_waking: one that comes from another CPU is made complete here. */
		{ SCHED_WAKEUP, 0, 1, 0, 0, 0 },
		{ SCHED_WAKEUP, 0, 1, 0x08, 0, BOOT_NONE },
		{ SCHED_WAKEUP, 0, 1, 0x10, 0, BOOT_INTERRUPT },
		{ SCHED_WAKEUP, 0, 0, 0, 0, BOOT_NONE },
		{ SCHED_WAKEUP, 1, 0, 0x08, 0, BOOT_INTERRUPT },
	};
	size_t i;

	for (i = 0; i < sizeof(wakeups) / sizeof(wakeups[0]); i++) {
		print_message("wakeup %zu\n", i);
		wake_by(*state, &wakeups[i]);
		teardown(state);
		setup(state);
	}
}

static void threads_are_laid_together(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;
	const struct boot_process *p;

	sched_story_fork(s, 1000, 0, 0, 1);
	sched_story_switch(s, 1000, 0, 0, 'R', 1);
	sched_story_fork(s, 2000, 0, 1, 2002);
	sched_story_switch(s, 2100, 1, 0, 'R', 2002);
	sched_story_switch(s, 3000, 0, 1, 'S', 0);
	sched_story_switch(s, 4000, 1, 2002, 'D', 0);
	sched_story_wake(s, 4500, 1, 0, 1);
	sched_story_switch(s, 4600, 1, 0, 'R', 1);
	sched_story_switch(s, 5000, 1, 1, 'S', 0);
	sched_story_wake_irq(s, 6000, 1, 0, 2002);
	sched_story_switch(s, 6000, 1, 0, 'R', 2002);
	sched_story_exit(s, 6500, 1, 2002, false);
	sched_story_switch(s, 7000, 1, 2002, 'X', 0);
	p = find(make_alone(m), 1, 0);
	assert_int_equal(m->boot->n_processes, 1);
	is(p, 1000, 4000, BOOT_RUNNING);
	is(p, 4000, 4500, BOOT_DISK_WAIT);
	is(p, 4500, 4600, BOOT_RUNNABLE);
	is(p, 4600, 5000, BOOT_RUNNING);
	is(p, 5000, 6000, BOOT_DISK_WAIT);
	is(p, 6000, 7000, BOOT_RUNNING);
	assert_int_equal(p->n_spans, 6);
	assert_int_equal(p->cpu_ns, 2000 + 1900 + 400 + 1000);
	assert_int_equal(p->threads, 2);
}

/* The table says whose thread it is, even if its process's own task is never told of. */
static void the_table_knows_groups(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;
	struct trace_info *info = &sched_story_open(s)->info;
	const char comm[SCHED_COMM_LEN] = "server";
	const struct boot_process *p;

	assert_int_equal(info_add_task(info, 50, 50, comm), 0);
	assert_int_equal(info_add_task(info, 51, 50, comm), 0);
	assert_int_equal(info_add_task(info, 52, 50, comm), 0);
	sched_story_switch(s, 1000, 0, 0, 'R', 51);
	sched_story_switch(s, 2000, 0, 51, 'S', 52);
	sched_story_switch(s, 3000, 0, 52, 'S', 0);
	p = find(make_alone(m), 50, 0);
	assert_int_equal(m->boot->n_processes, 1);
	assert_string_equal(p->names[0].comm, "server");
	is(p, 1000, 3000, BOOT_RUNNING);
	assert_true(p->was_there);
}

static void a_pid_twice_is_two(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;
	const struct boot_process *p;

	sched_story_fork(s, 1000, 0, 0, 1);
	sched_story_switch(s, 1000, 0, 0, 'R', 1);
	sched_story_fork(s, 2000, 0, 1, 9);
	sched_story_switch(s, 2000, 0, 1, 'R', 9);
	sched_story_exit(s, 2500, 0, 9, true);
	sched_story_switch(s, 2600, 0, 9, 'X', 1);
	sched_story_fork(s, 4000, 0, 1, 9);
	sched_story_switch(s, 4100, 0, 1, 'R', 9);
	sched_story_switch(s, 5000, 0, 9, 'S', 0);
	make_alone(m);
	p = find(m->boot, 9, 0);
	assert_int_equal(p->from_ns, 2000);
	assert_int_equal(p->to_ns, 2600);
	p = find(m->boot, 9, 1);
	assert_int_equal(p->from_ns, 4000);
	assert_true(p->is_alive);
	is(p, 4000, 4100, BOOT_RUNNABLE);
}

static void what_was_lost_is_unknown(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;
	const struct boot_process *p;

	sched_story_fork(s, 1000, 0, 0, 1);
	sched_story_switch(s, 1000, 0, 0, 'R', 1);
	sched_story_fork(s, 1500, 0, 1, 9);
	sched_story_switch(s, 2000, 0, 1, 'S', 9);
	sched_story_wake(s, 3000, 0, 9, 9); /* any event: it runs still */
	sched_story_loss(s, 3000, 5000, 0, 17);
	sched_story_switch(s, 5000, 0, 9, 'S', 0);
	sched_story_wake(s, 6000, 0, 0, 1);
	sched_story_switch(s, 6100, 0, 0, 'R', 1);
	sched_story_switch(s, 7000, 0, 1, 'S', 0);
	p = find(make_alone(m), 1, 0);
	is(p, 2000, 3000, BOOT_SLEEPING);
	is(p, 3000, 5000, BOOT_UNKNOWN);
	is(p, 5000, 6000, BOOT_SLEEPING);
	is(p, 6000, 6100, BOOT_RUNNABLE);
	p = find(m->boot, 9, 0);
	is(p, 2000, 3000, BOOT_RUNNING);
	is(p, 3000, 5000, BOOT_UNKNOWN);
	is(p, 5000, 7000, BOOT_SLEEPING);
	assert_int_equal(m->boot->n_gaps, 1);
	assert_int_equal(m->boot->gaps[0].from_ns, 3000);
	assert_int_equal(m->boot->gaps[0].to_ns, 5000);
	assert_string_equal(m->boot->gaps[0].why, "17 events of the scheduler were lost on CPU 0");
	assert_false(m->boot->has_events);
}

/* Samples every 20 ms of init and a daemon. */
static void tell_samples(struct boot_story *s)
{
	uint64_t ns;

	for (ns = 20 * MS; ns <= 200 * MS; ns += 20 * MS) {
		boot_story_pass(s, ns);
		if (ns == 20 * MS) {
			boot_story_found(s, ns, 1, 0, 0);
			boot_story_name(s, ns, 1, "init");
			boot_story_found(s, ns, 30, 1, 10 * MS);
			boot_story_name(s, ns, 30, "syslogd");
			boot_story_task(s, ns, 1, 'S', 0);
			boot_story_task(s, ns, 30, 'D', 0);
			boot_story_wait(s, ns, 30, "do_wait");
		}
		if (ns == 180 * MS)
			boot_story_task(s, ns, 1, 'R', 10 * MS);
	}
}

static void samples_stay_outside(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;
	const struct boot_process *p;

	tell_samples(m->samples);
	sched_story_switch(s, 50 * MS, 0, 0, 'R', 1);
	sched_story_fork(s, 55 * MS, 0, 1, 77);
	sched_story_switch(s, 60 * MS, 0, 1, 'S', 77);
	sched_story_exit(s, 61 * MS, 0, 77, true);
	sched_story_switch(s, 62 * MS, 0, 77, 'X', 0);
	sched_story_wake(s, 99 * MS, 0, 0, 1);
	sched_story_switch(s, 100 * MS, 0, 0, 'R', 1);
	sched_story_switch(s, 110 * MS, 0, 1, 'S', 0);
	make_both(m);
	p = find(m->boot, 1, 0);
	is(p, 50 * MS, 60 * MS, BOOT_RUNNING);
	is(p, 60 * MS, 99 * MS, BOOT_SLEEPING);
	is(p, 100 * MS, 110 * MS, BOOT_RUNNING);
	assert_int_equal(p->spans[0].state, BOOT_SLEEPING);
	assert_int_equal(p->spans[0].to_ns, 50 * MS);
	assert_string_equal(p->names[0].comm, "init");
	/* It had been switched in, so it had wanted a CPU; no sample says since when. */
	assert_true(p->state_ns[BOOT_RUNNING] > 20 * MS);
	p = find(m->boot, 77, 0); /* between two looks */
	assert_int_equal(p->from_ns, 55 * MS);
	assert_int_equal(p->to_ns, 62 * MS);
	assert_int_equal(p->parent, (uint32_t)(find(m->boot, 1, 0) - m->boot->processes));
	p = find(m->boot, 30, 0); /* not told of: as sampled, and not on a CPU */
	for (size_t i = 0; i < p->n_spans; i++)
		assert_int_equal(p->spans[i].state, BOOT_DISK_WAIT);
	assert_true(p->spans[p->n_spans - 1].where != 0);
	assert_int_equal(m->boot->n_gaps, 1); /* behind it, samples only */
	assert_int_equal(m->boot->gaps[0].from_ns, 110 * MS);
}

/* The recorder's threads, whether they started before the trace or in it, are the recorder. */
static void the_recorder_is_one(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;
	struct trace_item i = { .type = ITEM_EVENT, .cpu = 1 };
	const struct boot_process *p;

	tell_samples(m->samples);
	boot_story_recorder(m->samples, 20 * MS, 3);
	boot_story_name(m->samples, 20 * MS, 3, "kiseki-boot");
	sched_story_fork(s, 50 * MS, 0, 3,
			 90); /* a thread, before anything else is told of itself */
	sched_story_fork(s, 53 * MS, 0, 3, 91); /* a program that it runs */
	sched_story_switch(s, 54 * MS, 0, 3, 'S', 90);
	sched_story_switch(s, 56 * MS, 0, 90, 'S', 91);
	sched_story_exec(s, 57 * MS, 0, 91, "insmod", "/sbin/insmod");
	i.event = (struct sched_event){ .tick = 58 * MS, .kind = SCHED_SWITCH };
	i.event.other = (struct sched_task){ .comm = "kiseki-boot", .pid = 92 };
	sched_story_put(s, &i); /* it was there before */
	sched_story_switch(s, 60 * MS, 1, 92, 'S', 0);
	sched_story_switch(s, 70 * MS, 0, 91, 'S', 0);
	make_both(m);
	p = find(m->boot, 3, 0);
	assert_true(p->is_self);
	is(p, 50 * MS, 56 * MS, BOOT_RUNNING);
	is(p, 58 * MS, 60 * MS, BOOT_RUNNING);
	assert_int_equal(p->threads, 3);
	assert_int_equal(find(m->boot, 91, 0)->parent, (uint32_t)(p - m->boot->processes));
	for (size_t k = 0; k < m->boot->n_processes; k++)
		assert_true(m->boot->processes[k].pid != 90 && m->boot->processes[k].pid != 92);
}

/* With the kernel's word on all processes, one that it did not tell of is a thread. */
static void threads_are_what_nobody_told_of(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;

	tell_samples(m->samples);
	boot_story_start(m->samples, 90 * MS, 77, 1);
	boot_story_exit(m->samples, 150 * MS, 77, 0);
	sched_story_switch(s, 10 * MS, 0, 0, 'R', 1);
	sched_story_fork(s, 80 * MS, 0, 1, 76);
	sched_story_fork(s, 90 * MS + 300, 0, 1, 77);
	sched_story_switch(s, 95 * MS, 0, 1, 'S', 77);
	sched_story_exit(s, 149 * MS, 0, 77, true);
	sched_story_switch(s, 151 * MS, 0, 77, 'X', 0);
	sched_story_switch(s, 190 * MS, 0, 0, 'R', 1);
	sched_story_switch(s, 199 * MS, 0, 1, 'S', 0);
	make_both(m);
	assert_int_equal(m->boot->n_processes, 3);
	assert_int_equal(find(m->boot, 77, 0)->from_ns, 90 * MS + 300);
	assert_int_equal(find(m->boot, 77, 0)->to_ns, 151 * MS);
	assert_int_equal(find(m->boot, 77, 0)->from_error_ns, 0);
	assert_int_equal(find(m->boot, 1, 0)->threads, 2);
}

/* Kernel threads: those that kthreadd forks, and those that sleep as no process does. */
static void kernel_threads_are_told_apart(void **state)
{
	struct made *m = *state;
	struct sched_story *s = m->events;

	sched_story_switch(s, 1000, 0, 0, 'R', 15);
	sched_story_switch(s, 2000, 0, 15, 'I', 2);
	sched_story_fork(s, 2100, 0, 2, 90);
	sched_story_switch(s, 2200, 0, 2, 'S', 40);
	sched_story_switch(s, 2300, 0, 40, 'S', 0);
	make_alone(m);
	assert_true(find(m->boot, 15, 0)->is_kernel);
	assert_true(find(m->boot, 2, 0)->is_kernel);
	assert_true(find(m->boot, 90, 0)->is_kernel);
	assert_false(find(m->boot, 40, 0)->is_kernel);
	is(find(m->boot, 15, 0), 2000, 2300, BOOT_SLEEPING);
}

static void clocks_must_meet(void **state)
{
	struct made *m = *state;
	CLEANUP(boot_source) struct boot_source *source = NULL;
	struct trace_source *sched = sched_story_open(m->events);
	struct error e = ERROR_INIT;

	tell_samples(m->samples);
	tell_child(m->events);
	boot_story_open(m->samples, &source);
	assert_int_equal(boot_new(&m->boot, source, &e), 0);
	memcpy(sched->info.clock.name, "local", 6);
	assert_int_equal(boot_make_exact(m->boot, sched, &e), -EXDEV);
	assert_non_null(strstr(e.text, "local"));
	/* Both know the real time: that of the trace's clock is 50 ms later. */
	m->boot->realtimes = calloc(1, sizeof(*m->boot->realtimes));
	m->boot->realtimes[0].off_ns = 1000000000;
	m->boot->n_realtimes = 1;
	sched->info.clock.has_realtime = true;
	sched->info.clock.realtime_off_ns = 1000000000 + (int64_t)(50 * MS);
	sched = sched_story_open(m->events);
	assert_int_equal(boot_make_exact(m->boot, sched, &e), 0);
	check(m->boot);
	assert_int_equal(find(m->boot, 10, 0)->from_ns, 50 * MS + 2000);
}

static void another_time_is_refused(void **state)
{
	struct made *m = *state;
	CLEANUP(boot_source) struct boot_source *source = NULL;
	struct error e = ERROR_INIT;

	tell_samples(m->samples);
	sched_story_switch(m->events, 5000 * MS, 0, 0, 'R', 1);
	sched_story_switch(m->events, 5001 * MS, 0, 1, 'S', 0);
	boot_story_open(m->samples, &source);
	assert_int_equal(boot_new(&m->boot, source, &e), 0);
	assert_int_equal(boot_make_exact(m->boot, sched_story_open(m->events), &e), -ENODATA);
	check(m->boot);
	assert_false(m->boot->is_exact);
}

static void nothing_is_refused(void **state)
{
	struct made *m = *state;
	struct error e = ERROR_INIT;

	assert_int_equal(boot_new_from_sched(&m->boot, sched_story_open(m->events), &e), -ENODATA);
	assert_null(m->boot);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(spans_to_the_tick),
		T(wakers_are_told_from_interrupts),
		T(threads_are_laid_together),
		T(the_table_knows_groups),
		T(a_pid_twice_is_two),
		T(what_was_lost_is_unknown),
		T(samples_stay_outside),
		T(the_recorder_is_one),
		T(threads_are_what_nobody_told_of),
		T(kernel_threads_are_told_apart),
		T(clocks_must_meet),
		T(another_time_is_refused),
		T(nothing_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
