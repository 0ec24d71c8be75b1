/* SPDX-License-Identifier: MIT */
/* boot: processes, spans, names, tree, rows and marks out of records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/boot.h"
#include "tools/boot_story.h"

#define MS BOOT_STORY_MS

/* Every test: a script, and the boot that it makes. */
struct made {
	struct boot_story *script;
	struct boot *boot;
};

static int setup(void **state)
{
	static struct made m;

	m.script = boot_story_new();
	m.boot = NULL;
	*state = &m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	boot_free(m->boot);
	boot_story_free(m->script);
	return 0;
}

static const struct boot *make(struct made *m)
{
	CLEANUP(boot_source) struct boot_source *source = NULL;
	struct error e = ERROR_INIT;

	boot_story_open(m->script, &source);
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

/* Spans side by side from start to end, states that add up. */
static void check(const struct boot *b)
{
	const struct boot_process *p;
	uint64_t at, sum;
	size_t i, k;

	for (i = 0; i < b->n_processes; i++) {
		p = &b->processes[i];
		assert_true(p->from_ns < p->to_ns);
		assert_true(p->from_ns >= b->from_ns && p->to_ns <= b->to_ns);
		assert_true(p->n_names >= 1 && p->n_spans >= 1);
		for (k = 0, at = p->from_ns; k < p->n_spans; k++) {
			assert_int_equal(p->spans[k].from_ns, at);
			assert_true(p->spans[k].to_ns > at);
			assert_true(p->spans[k].share <= 1000);
			at = p->spans[k].to_ns;
		}
		assert_int_equal(at, p->to_ns);
		for (k = 0, sum = 0; k < BOOT_STATES; k++)
			sum += p->state_ns[k];
		assert_int_equal(sum, p->to_ns - p->from_ns);
		if (p->parent != BOOT_NONE) {
			assert_true(p->parent < i);
			assert_int_equal(p->depth, b->processes[p->parent].depth + 1);
			assert_int_equal(p->parent_pid, b->processes[p->parent].pid);
		}
	}
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
	struct boot_story *s = ((struct made *)*state)->script;
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
	check(b);
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

static void test_process_between_two_passes(void **state)
{
	struct boot_story *s = ((struct made *)*state)->script;
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
	check(b);
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
	struct boot_story *s = ((struct made *)*state)->script;
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
	check(b);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_states_change_in_the_middle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_process_between_two_passes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pid_is_used_again, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
