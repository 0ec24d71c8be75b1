/* SPDX-License-Identifier: MIT */
/* boot: the model: processes, spans, names, tree, rows and marks out of records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/boot.h"
#include "tools/boot_story.h"
#include "unit/boot_check.h"

#define MS BOOT_STORY_MS

/* Every test: a story, and the boot that it makes. */
struct made {
	struct boot_story *story;
	struct boot *boot;
};

static int setup(void **state)
{
	static struct made m;

	m.story = boot_story_new();
	m.boot = NULL;
	*state = &m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	boot_free(m->boot);
	boot_story_free(m->story);
	return 0;
}

static const struct boot *make(struct made *m)
{
	CLEANUP(boot_source) struct boot_source *source = NULL;
	struct error e = ERROR_INIT;

	boot_story_open(m->story, &source);
	assert_int_equal(boot_new(&m->boot, source, &e), 0);
	return m->boot;
}

/* The n-th process with this pid. */
static const struct boot_process *find(const struct boot *b, int32_t pid, size_t n)
{
	size_t i;

	for (i = 0; i < b->n_processes; i++)
		if (b->processes[i].pid == pid && !n--)
			return &b->processes[i];
	fail_msg("no process %d", pid);
	return NULL;
}

static void assert_span(const struct boot_process *p, size_t i, uint64_t from_ms, uint64_t to_ms,
			enum boot_state state)
{
	assert_true(i < p->n_spans);
	assert_int_equal(p->spans[i].from_ns, from_ms * MS);
	assert_int_equal(p->spans[i].to_ns, to_ms * MS);
	assert_int_equal(p->spans[i].state, state);
}

static void test_states_change_in_the_middle(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	const struct boot *b;

	boot_story_pass(s, 100 * MS);
	boot_story_found(s, 100 * MS, 1, 0, 0);
	boot_story_task(s, 100 * MS, 1, 'S', 50 * MS);
	boot_story_pass(s, 120 * MS);
	boot_story_pass(s, 140 * MS);
	boot_story_task(s, 140 * MS, 1, 'R', 55 * MS);
	boot_story_pass(s, 160 * MS);
	boot_story_task(s, 160 * MS, 1, 'D', 55 * MS);
	boot_story_pass(s, 180 * MS);
	b = make(*state);
	boot_check(b);
	p = find(b, 1, 0);
	assert_true(p->was_there && p->is_alive);
	assert_int_equal(p->before_ns, 100 * MS);
	assert_int_equal(p->n_spans, 4);
	assert_span(p, 0, 100, 130, BOOT_SLEEPING);
	assert_span(p, 1, 130, 140, BOOT_RUNNING);
	assert_int_equal(p->spans[1].share, 500);
	assert_span(p, 2, 140, 150, BOOT_RUNNING);
	assert_int_equal(p->spans[2].share, 0);
	assert_span(p, 3, 150, 180, BOOT_DISK_WAIT);
	assert_int_equal(p->cpu_ns, 5 * MS);
	assert_int_equal(boot_process_ran(p), 5 * MS);
	assert_int_equal(b->interval_ns, 20 * MS);
}

/* It runs whenever it looks at itself; what it did is what its CPU time says. */
static void test_recorder_looks_at_itself(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	uint64_t i, k;

	for (i = 0; i <= 10; i++) {
		boot_story_pass(s, (100 + 20 * i) * MS);
		if (!i)
			boot_story_recorder(s, 100 * MS, 3);
		boot_story_task(s, (100 + 20 * i) * MS, 3, 'R', i * MS);
	}
	p = find(make(*state), 3, 0);
	assert_true(p->is_self);
	for (k = 0; k < p->n_spans; k++)
		assert_int_equal(p->spans[k].state, BOOT_SLEEPING);
	assert_int_equal(p->state_ns[BOOT_RUNNING], 10 * MS);
	assert_int_equal(p->state_ns[BOOT_SLEEPING], 190 * MS);
	assert_int_equal(p->cpu_ns, 10 * MS);
}

static void test_process_between_two_passes(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	const struct boot *b;

	boot_story_pass(s, 100 * MS);
	boot_story_found(s, 100 * MS, 1, 0, 0);
	boot_story_name(s, 100 * MS, 1, "init");
	boot_story_task(s, 100 * MS, 1, 'S', 0);
	boot_story_start(s, 102 * MS, 7, 1);
	boot_story_exec(s, 103 * MS, 7, "/bin/true -x");
	boot_story_name(s, 103 * MS, 7, "true");
	boot_story_exit(s, 106 * MS, 7, 256);
	boot_story_account(s, 106 * MS, 7, 3 * MS, 0);
	boot_story_start(s, 110 * MS, 8, 1);
	boot_story_exit(s, 111 * MS, 8, 0);
	boot_story_pass(s, 120 * MS);
	b = make(*state);
	boot_check(b);
	assert_true(b->has_events);
	p = find(b, 7, 0);
	assert_int_equal(p->n_spans, 1);
	assert_span(p, 0, 102, 106, BOOT_RUNNING);
	assert_int_equal(p->spans[0].share, 750);
	assert_int_equal(p->cpu_ns, 3 * MS);
	assert_int_equal(p->exit_code, 256);
	assert_true(p->account.is_complete);
	assert_int_equal(p->n_names, 2);
	assert_string_equal(p->names[0].comm, "init"); /* its parent's */
	assert_string_equal(p->names[1].comm, "true");
	assert_string_equal(p->names[1].args, "/bin/true -x");
	assert_int_equal(p->names[1].from_ns, 103 * MS);
	p = find(b, 8, 0);
	assert_int_equal(p->n_spans, 1);
	assert_int_equal(p->spans[0].state, BOOT_UNKNOWN);
}

static void test_pid_is_used_again(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot *b;

	boot_story_pass(s, 100 * MS);
	boot_story_found(s, 100 * MS, 7, 0, 0);
	boot_story_name(s, 100 * MS, 7, "old");
	boot_story_task(s, 100 * MS, 7, 'S', 0);
	boot_story_pass(s, 120 * MS);
	boot_story_start(s, 130 * MS, 7, 0); /* nobody told of the end */
	boot_story_name(s, 130 * MS, 7, "new");
	boot_story_pass(s, 140 * MS);
	boot_story_task(s, 140 * MS, 7, 'S', 0);
	b = make(*state);
	boot_check(b);
	assert_int_equal(b->n_processes, 2);
	assert_string_equal(boot_process_name(find(b, 7, 0))->comm, "old");
	assert_int_equal(find(b, 7, 0)->to_ns, 125 * MS);
	assert_int_equal(find(b, 7, 0)->to_error_ns, 5 * MS);
	assert_false(find(b, 7, 0)->is_alive);
	assert_string_equal(boot_process_name(find(b, 7, 1))->comm, "new");
	assert_int_equal(boot_find(b, 7, 110 * MS), 0);
	assert_int_equal(boot_find(b, 7, 135 * MS), 1);
	assert_int_equal(boot_find(b, 9, 135 * MS), BOOT_NONE);
}

/* A pass with one process that is there and sleeps. */
static void put_init(struct boot_story *s, uint64_t ns)
{
	boot_story_pass(s, ns);
	boot_story_found(s, ns, 1, 0, 0);
	boot_story_name(s, ns, 1, "init");
	boot_story_task(s, ns, 1, 'S', 0);
}

static void test_counters_are_told_late(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	const struct boot *b;

	put_init(s, 100 * MS);
	boot_story_start(s, 110 * MS, 7, 1);
	boot_story_pass(s, 120 * MS);
	boot_story_task(s, 120 * MS, 7, 'R', 0);
	boot_story_pass(s, 140 * MS);
	boot_story_pass(s, 160 * MS);
	boot_story_task(s, 160 * MS, 7, 'R', 30 * MS); /* 20 of them fit behind the last pass */
	boot_story_pass(s, 180 * MS);
	b = make(*state);
	boot_check(b);
	p = find(b, 7, 0);
	assert_int_equal(p->cpu_ns, 30 * MS);
	assert_int_equal(boot_process_ran(p), 30 * MS);
	assert_int_equal(p->n_spans, 4);
	assert_span(p, 0, 110, 120, BOOT_RUNNING);
	assert_int_equal(p->spans[0].share, 0);
	assert_span(p, 1, 120, 140, BOOT_RUNNING);
	assert_int_equal(p->spans[1].share, 500);
	assert_span(p, 2, 140, 160, BOOT_RUNNING);
	assert_int_equal(p->spans[2].share, 1000);
	assert_span(p, 3, 160, 180, BOOT_RUNNING);
	assert_int_equal(p->state_ns[BOOT_RUNNING], 30 * MS);
	assert_int_equal(p->state_ns[BOOT_RUNNABLE], 40 * MS);
}

static void test_zombie_of_which_the_kernel_told(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	const struct boot *b;

	put_init(s, 100 * MS);
	boot_story_start(s, 103 * MS, 7, 1);
	boot_story_pass(s, 120 * MS);
	boot_story_task(s, 120 * MS, 7, 'S', 1 * MS);
	boot_story_pass(s, 140 * MS);
	boot_story_task(s, 129 * MS, 7, 'Z', 2 * MS); /* its end, found behind the pass */
	boot_story_account(s, 140 * MS, 7, 4 * MS, 0);
	boot_story_pass(s, 160 * MS);
	boot_story_gone(s, 180 * MS, 7);
	boot_story_pass(s, 180 * MS);
	b = make(*state);
	boot_check(b);
	p = find(b, 7, 0);
	assert_int_equal(p->to_ns, 170 * MS);
	assert_int_equal(p->to_error_ns, 10 * MS);
	assert_int_equal(p->exit_code, 0);
	assert_span(p, p->n_spans - 1, 129, 170, BOOT_ZOMBIE);
	assert_int_equal(p->spans[p->n_spans - 1].share, 0);
	assert_int_equal(p->state_ns[BOOT_ZOMBIE], 41 * MS);
	assert_int_equal(p->cpu_ns, 4 * MS);
}

static void test_zombie_that_was_found(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	const struct boot *b;

	put_init(s, 100 * MS);
	boot_story_found(s, 100 * MS, 7, 1, 50 * MS);
	boot_story_task(s, 100 * MS, 7, 'S', 0);
	boot_story_pass(s, 120 * MS);
	boot_story_task(s, 120 * MS, 7, 'Z', 0);
	boot_story_pass(s, 140 * MS);
	b = make(*state);
	boot_check(b);
	p = find(b, 7, 0);
	assert_true(p->is_alive); /* nobody asked for it */
	assert_span(p, 0, 100, 110, BOOT_SLEEPING);
	assert_span(p, 1, 110, 140, BOOT_ZOMBIE);
	assert_int_equal(p->exit_code, -1);
}

static void test_zombie_after_its_exit(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	const struct boot *b;

	put_init(s, 100 * MS);
	boot_story_start(s, 105 * MS, 7, 1);
	boot_story_exit(s, 111 * MS, 7, 9);
	boot_story_pass(s, 120 * MS);
	boot_story_task(s, 120 * MS, 7, 'Z', 0);
	boot_story_pass(s, 140 * MS);
	boot_story_gone(s, 140 * MS, 7);
	b = make(*state);
	boot_check(b);
	p = find(b, 7, 0);
	assert_false(p->is_alive);
	assert_int_equal(p->to_ns, 130 * MS);
	assert_int_equal(p->exit_code, 9);
	assert_span(p, p->n_spans - 1, 111, 130, BOOT_ZOMBIE);
}

static void test_zombie_before_its_exit_was_told(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	const struct boot *b;

	put_init(s, 100 * MS);
	boot_story_start(s, 105 * MS, 7, 1);
	boot_story_task(s, 120 * MS, 7, 'Z', 0); /* the event had not been read */
	boot_story_pass(s, 120 * MS);
	boot_story_pass(s, 140 * MS);
	boot_story_exit(s, 111 * MS, 7, 0); /* it is gone */
	boot_story_pass(s, 160 * MS);
	b = make(*state);
	boot_check(b);
	p = find(b, 7, 0);
	assert_false(p->is_alive);
	assert_int_equal(p->to_ns, 130 * MS);
	assert_int_equal(p->to_error_ns, 10 * MS);
	assert_span(p, p->n_spans - 1, 111, 130, BOOT_ZOMBIE);
}

static void test_start_from_two_places(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot *b;

	put_init(s, 100 * MS);
	boot_story_start(s, 108 * MS, 7, 1);
	boot_story_found(s, 120 * MS, 7, 1, 100 * MS); /* to a hundredth of a second */
	boot_story_task(s, 120 * MS, 7, 'S', 0);
	boot_story_pass(s, 120 * MS);
	b = make(*state);
	boot_check(b);
	assert_int_equal(b->n_processes, 2);
	assert_int_equal(find(b, 7, 0)->from_ns, 108 * MS);
	assert_int_equal(find(b, 7, 0)->from_error_ns, 0);
}

static void test_names(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	const struct boot *b;

	put_init(s, 100 * MS);
	boot_story_exec(s, 100 * MS, 1, "/sbin/init splash");
	boot_story_start(s, 104 * MS, 7, 1); /* forked, never executed anything */
	boot_story_name(s, 104 * MS, 7, "init");
	boot_story_start(s, 105 * MS, 8, 1);
	boot_story_exec(s, 106 * MS, 8, "/bin/sh -e"); /* its name comes a pass later */
	boot_story_pass(s, 120 * MS);
	boot_story_name(s, 120 * MS, 8, "sh");
	boot_story_name(s, 200 * MS, 8, "renamed");
	boot_story_pass(s, 220 * MS);
	boot_story_start(s, 221 * MS, 9, 1); /* gone before anything could be read */
	boot_story_exec(s, 222 * MS, 9, "");
	boot_story_exit(s, 223 * MS, 9, 0);
	boot_story_name(s, 240 * MS, 9, "quick");
	boot_story_account(s, 240 * MS, 9, MS, 0);
	boot_story_pass(s, 240 * MS);
	b = make(*state);
	boot_check(b);
	assert_int_equal(find(b, 1, 0)->n_names, 1);
	assert_string_equal(find(b, 1, 0)->names[0].args, "/sbin/init splash");
	p = find(b, 7, 0);
	assert_int_equal(p->n_names, 1);
	assert_string_equal(p->names[0].args, "/sbin/init splash");
	p = find(b, 8, 0);
	assert_int_equal(p->n_names, 3);
	assert_string_equal(p->names[0].comm, "init");
	assert_string_equal(p->names[1].comm, "sh");
	assert_int_equal(p->names[1].from_ns, 106 * MS);
	assert_string_equal(p->names[2].comm, "renamed");
	assert_string_equal(p->names[2].args, "/bin/sh -e");
	p = find(b, 9, 0);
	assert_string_equal(boot_process_name(p)->comm, "quick");
	assert_true(boot_process_name(p)->from_ns < p->to_ns);
}

static void test_said_again_changes_nothing(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	const struct boot *b;

	put_init(s, 100 * MS);
	boot_story_exec(s, 100 * MS, 1, "/sbin/init");
	boot_story_mark(s, 100 * MS, BOOT_MARK_FACT, "release=Test 1");
	boot_story_start(s, 110 * MS, 7, 1);
	boot_story_name(s, 110 * MS, 7, "x");
	boot_story_pass(s, 120 * MS);
	boot_story_task(s, 120 * MS, 7, 'S', MS);
	boot_story_found(s, 140 * MS, 1, 0, 0);
	boot_story_name(s, 140 * MS, 1, "init");
	boot_story_exec(s, 140 * MS, 1, "/sbin/init");
	boot_story_task(s, 140 * MS, 1, 'S', 0);
	boot_story_put(s, &(struct boot_event){ .tick = 140 * MS,
						.kind = BOOT_START,
						.key = 7,
						.number = { 5, 7, 110 * MS, BOOT_BY_EVENT } });
	boot_story_name(s, 140 * MS, 7, "x");
	boot_story_task(s, 140 * MS, 7, 'S', MS);
	boot_story_mark(s, 100 * MS, BOOT_MARK_FACT, "release=Test 1");
	boot_story_pass(s, 140 * MS);
	b = make(*state);
	boot_check(b);
	assert_int_equal(b->n_processes, 2);
	assert_int_equal(find(b, 1, 0)->n_names, 1);
	assert_int_equal(find(b, 1, 0)->n_spans, 1);
	p = find(b, 7, 0);
	assert_int_equal(p->parent_pid, 1); /* who started it, not who has it now */
	assert_int_equal(p->n_names, 1);
	assert_int_equal(p->from_ns, 110 * MS);
	assert_int_equal(p->cpu_ns, MS);
	assert_int_equal(b->n_marks, 1);
	assert_string_equal(b->release, "Test 1");
}

static void test_threads_go_into_their_process(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	const struct boot *b;

	put_init(s, 100 * MS);
	boot_story_thread(s, 100 * MS, 5, 1);
	boot_story_task(s, 100 * MS, 5, 'S', 0);
	boot_story_pass(s, 120 * MS);
	boot_story_task(s, 120 * MS, 5, 'R', 8 * MS);
	boot_story_pass(s, 140 * MS);
	boot_story_exit(s, 141 * MS, 5, 0);
	boot_story_pass(s, 160 * MS);
	b = make(*state);
	boot_check(b);
	assert_int_equal(b->n_processes, 1);
	p = find(b, 1, 0);
	assert_int_equal(p->threads, 2);
	assert_int_equal(p->cpu_ns, 8 * MS);
	assert_span(p, 0, 100, 110, BOOT_SLEEPING);
	assert_span(p, 1, 110, 120, BOOT_RUNNING);
	assert_int_equal(p->spans[1].share, 800);
	assert_int_equal(p->spans[p->n_spans - 1].state, BOOT_SLEEPING);
}

static void test_more_cpu_time_than_time(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	const struct boot *b;

	put_init(s, 100 * MS);
	boot_story_start(s, 100 * MS, 7, 1);
	boot_story_pass(s, 120 * MS);
	boot_story_task(s, 120 * MS, 7, 'R', 70 * MS); /* of four threads */
	b = make(*state);
	boot_check(b);
	p = find(b, 7, 0);
	assert_int_equal(boot_process_ran(p), 20 * MS);
	assert_int_equal(p->cpu_ns, 70 * MS);
	assert_int_equal(boot_process_cpu(p), 70 * MS);
}

static void test_lost_records(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	const struct boot *b;

	put_init(s, 100 * MS);
	boot_story_start(s, 101 * MS, 7, 1);
	boot_story_start(s, 102 * MS, 8, 1);
	boot_story_pass(s, 120 * MS);
	boot_story_task(s, 120 * MS, 7, 'S', 0);
	boot_story_task(s, 120 * MS, 8, 'S', 0);
	boot_story_loss(s, &(struct trace_loss){ .from_tick = 120 * MS,
						 .to_tick = 200 * MS,
						 .count = 12,
						 .cause = LOSS_SPOOL });
	put_init(s, 200 * MS); /* all is said again, but 8 */
	boot_story_put(s, &(struct boot_event){ .tick = 200 * MS,
						.kind = BOOT_START,
						.key = 7,
						.number = { 1, 7, 101 * MS, BOOT_BY_EVENT } });
	boot_story_task(s, 200 * MS, 7, 'S', 10 * MS);
	boot_story_pass(s, 220 * MS);
	boot_story_pass(s, 240 * MS);
	b = make(*state);
	boot_check(b);
	assert_int_equal(b->n_gaps, 1);
	assert_non_null(strstr(b->gaps[0].why, "12 records lost"));
	p = find(b, 7, 0);
	assert_true(p->is_alive);
	assert_int_equal(p->state_ns[BOOT_UNKNOWN] + p->state_ns[BOOT_RUNNING], 80 * MS);
	assert_int_equal(p->cpu_ns, 10 * MS);
	p = find(b, 8, 0);
	assert_false(p->is_alive);
	assert_int_equal(p->to_ns, 160 * MS);
	assert_int_equal(p->to_error_ns, 40 * MS);
	assert_true(b->has_events);
}

static void test_lost_process_events(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot *b;

	put_init(s, 100 * MS);
	boot_story_start(s, 105 * MS, 7, 1);
	boot_story_loss(s, &(struct trace_loss){ .from_tick = 105 * MS,
						 .to_tick = 120 * MS,
						 .count = LOSS_UNKNOWN,
						 .cause = LOSS_RING });
	boot_story_pass(s, 120 * MS);
	boot_story_pass(s, 140 * MS);
	boot_story_pass(s, 160 * MS);
	b = make(*state);
	boot_check(b);
	assert_false(b->has_events);
	assert_int_equal(b->n_gaps, 1);
	assert_int_equal(find(b, 1, 0)->state_ns[BOOT_UNKNOWN], 0); /* it was looked at */
	assert_true(find(b, 1, 0)->is_alive);
}

static void put_clock(struct boot_story *s, uint64_t ns, int64_t off)
{
	boot_story_put(s, &(struct boot_event){ .tick = ns,
						.kind = BOOT_MARK,
						.key = BOOT_MARK_CLOCK,
						.number = { ns, 0, (uint64_t)off },
						.text = "set",
						.text_len = 3 });
}

static void test_marks(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot *b;

	boot_story_mark(s, 5 * MS, BOOT_MARK_KERNEL, "Run /sbin/init as init process");
	put_init(s, 100 * MS);
	boot_story_put(s, &(struct boot_event){ .tick = 120 * MS,
						.kind = BOOT_MARK,
						.key = BOOT_MARK_TARGET,
						.number = { 115 * MS, 0, 0, 1 },
						.text = "up",
						.text_len = 2 });
	put_clock(s, 120 * MS, 1000);
	put_clock(s, 130 * MS, 1700000000LL * 1000000000);
	boot_story_mark(s, 130 * MS, BOOT_MARK_MISSING, "no pressure");
	boot_story_mark(s, 130 * MS, BOOT_MARK_FACT, "interval_ns=25000000");
	boot_story_mark(s, 130 * MS, BOOT_MARK_FACT, "command_line=quiet root=/dev/sda");
	boot_story_pass(s, 140 * MS);
	boot_story_set_cut(s);
	b = make(*state);
	boot_check(b);
	assert_int_equal(b->from_ns, 100 * MS); /* a mark of before does not begin the chart */
	assert_int_equal(b->to_ns, 140 * MS);	/* nor does the real time move anything */
	assert_true(b->is_cut);
	assert_int_equal(b->target_ns, 115 * MS);
	assert_string_equal(b->target, "up");
	assert_int_equal(b->realtime_ns, 1700000000LL * 1000000000);
	assert_int_equal(b->interval_ns, 25 * MS);
	assert_string_equal(b->command_line, "quiet root=/dev/sda");
	assert_int_equal(b->n_marks, 7);
	assert_int_equal(b->marks[0].ns, 5 * MS);
	assert_int_equal(b->marks[1].type, BOOT_MARK_TARGET);
	assert_int_equal(b->marks[1].process, 0);
	assert_int_equal(b->n_gaps, 1);
	assert_int_equal(b->gaps[0].to_ns, 140 * MS);
	assert_string_equal(b->gaps[0].why, "no pressure");
}

static void test_stop_is_no_cut(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;

	put_init(s, 100 * MS);
	boot_story_mark(s, 120 * MS, BOOT_MARK_STOP, "time is over");
	boot_story_set_cut(s);
	assert_false(make(*state)->is_cut);
}

static void put_pressure(struct boot_story *s, uint64_t ns, uint64_t some)
{
	boot_story_put(s, &(struct boot_event){ .tick = ns,
						.kind = BOOT_PRESSURE,
						.key = BOOT_RESOURCE_IO,
						.number = { some, some / 2 } });
}

static void test_rows_of_the_machine(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_disk *d;
	const struct boot *b;
	uint64_t i;

	boot_story_disk_name(s, 100 * MS, 0, "mmcblk0");
	boot_story_disk_name(s, 100 * MS, 1, "mmcblk0p2");
	for (i = 0; i <= 20; i++) { /* rows in each fifth pass, the CPUs in each */
		boot_story_cpu(s, (100 + 20 * i) * MS, 0, i * 5 * MS, i * 15 * MS);
		boot_story_cpu(s, (100 + 20 * i) * MS, 1, i * 10 * MS, i * 10 * MS);
		if (i % 5 == 0)
			boot_story_memory(s, (100 + 20 * i) * MS, 1000, 600 - i);
		if (i == 0 || i == 15)
			boot_story_disk(s, (100 + 20 * i) * MS, 0, i * 1000, i * MS);
		if (i % 5 == 0)
			put_pressure(s, (100 + 20 * i) * MS, i * 10 * MS);
		boot_story_pass(s, (100 + 20 * i) * MS);
	}
	b = make(*state);
	assert_int_equal(b->cpus, 2);
	assert_int_equal(b->n_points, 21);
	assert_int_equal(b->points[0].user_ns, 0);
	assert_int_equal(b->points[7].ns, 240 * MS);
	assert_int_equal(b->points[7].user_ns, 15 * MS);
	assert_int_equal(b->points[7].idle_ns, 25 * MS);
	assert_int_equal(b->points[7].memory_free_kib, 595);
	assert_int_equal(b->points[7].some_ns[BOOT_RESOURCE_IO], 10 * MS); /* spread over five */
	assert_int_equal(b->points[7].full_ns[BOOT_RESOURCE_IO], 5 * MS);
	assert_int_equal(b->n_disks, 2);
	d = &b->disks[0];
	assert_false(d->is_part);
	assert_true(b->disks[1].is_part);
	assert_int_equal(d->n_points, 3); /* nothing for long, then as much as in one round */
	assert_int_equal(d->points[1].ns, 300 * MS);
	assert_int_equal(d->points[1].read_bytes, 0);
	assert_int_equal(d->points[2].ns, 400 * MS);
	assert_int_equal(d->points[2].read_bytes, 15000);
}

static void test_where_it_waits(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	const struct boot_process *p;
	const struct boot *b;

	put_init(s, 100 * MS);
	boot_story_pass(s, 120 * MS);
	boot_story_task(s, 120 * MS, 1, 'D', 0);
	boot_story_wait(s, 120 * MS, 1, "io_schedule");
	boot_story_pass(s, 140 * MS);
	boot_story_task(s, 140 * MS, 1, 'S', 0);
	boot_story_wait(s, 140 * MS, 1, "");
	boot_story_pass(s, 160 * MS);
	b = make(*state);
	boot_check(b);
	p = find(b, 1, 0);
	assert_int_equal(p->n_spans, 3);
	assert_span(p, 1, 110, 130, BOOT_DISK_WAIT);
	assert_string_equal(b->texts[p->spans[1].where], "io_schedule");
	assert_int_equal(p->spans[0].where, 0);
	assert_int_equal(p->spans[2].where, 0);
}

static void test_kernel_helper_becomes_a_program(void **state)
{
	struct boot_story *s = ((struct made *)*state)->story;
	struct boot_event start = { .tick = 105 * MS, .kind = BOOT_START, .key = 7 };
	const struct boot *b;

	put_init(s, 100 * MS);
	start.number[BOOT_START_PARENT] = 2;
	start.number[BOOT_START_GROUP] = 7;
	start.number[BOOT_START_TICK] = 105 * MS;
	start.number[BOOT_START_FLAGS] = BOOT_START_KERNEL;
	boot_story_put(s, &start);
	start.number[BOOT_START_FLAGS] = 0;
	boot_story_put(s, &start);
	boot_story_pass(s, 120 * MS);
	b = make(*state);
	assert_int_equal(b->n_processes, 2);
	assert_false(find(b, 7, 0)->is_kernel);
	assert_int_equal(find(b, 7, 0)->parent, BOOT_NONE); /* its parent is not in the chart */
}

static void test_nothing_at_all(void **state)
{
	const struct boot *b = make(*state);

	assert_int_equal(b->n_processes, 0);
	assert_true(b->to_ns > b->from_ns);
}

/* Whatever a record says, it makes a boot that holds together. */
static void test_nonsense(void **state)
{
	struct made *m = *state;
	struct boot_event e;
	uint64_t x = 88172645463325252ULL;
	int i, k;

	for (i = 0; i < 20000; i++) {
		memset(&e, 0, sizeof(e));
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		e.kind = (uint8_t)(x % (BOOT_KINDS + 1));
		e.key = (uint32_t)(x >> 8) % 12;
		e.tick = (x >> 16) % 50 * 10 * MS + (uint64_t)i * MS;
		for (k = 0; k < 12; k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			e.number[k] = x % 5 ? x % (30 * 1000 * MS) : x % 9;
		}
		if (e.kind == BOOT_START)
			e.number[BOOT_START_GROUP] = x % 3 ? e.key : x % 12;
		if (e.kind == BOOT_TASK)
			e.number[BOOT_TASK_STATE] = (uint64_t) "RDSZTtIX?"[x % 9];
		e.text = "text";
		e.text_len = (uint32_t)(x % 5);
		boot_story_put(m->story, &e);
	}
	boot_check(make(m));
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(states_change_in_the_middle),
		TEST(recorder_looks_at_itself),
		TEST(process_between_two_passes),
		TEST(pid_is_used_again),
		TEST(counters_are_told_late),
		TEST(zombie_of_which_the_kernel_told),
		TEST(zombie_that_was_found),
		TEST(zombie_after_its_exit),
		TEST(zombie_before_its_exit_was_told),
		TEST(start_from_two_places),
		TEST(names),
		TEST(said_again_changes_nothing),
		TEST(threads_go_into_their_process),
		TEST(more_cpu_time_than_time),
		TEST(lost_records),
		TEST(lost_process_events),
		TEST(marks),
		TEST(stop_is_no_cut),
		TEST(rows_of_the_machine),
		TEST(where_it_waits),
		TEST(kernel_helper_becomes_a_program),
		TEST(nothing_at_all),
		TEST(nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
