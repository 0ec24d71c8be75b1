/* SPDX-License-Identifier: MIT */
/* boot_report, boot_idle, boot_chain, boot_moment: what is said of a boot of which everything is known. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/boot_load.h"
#include "analysis/boot_order.h"
#include "analysis/boot_report.h"
#include "analysis/boot_report_json.h"
#include "tools/boot_story.h"
#include "unit/boot_check.h"

#define MS BOOT_STORY_MS
#define STEP (20 * MS)
#define FIRST (1000 * MS)
#define LAST (4000 * MS)

/* A machine with one CPU, looked at each 20 ms from 1 s to 4 s:
 *	10  a shell: sleeps but when its children come and go
 *	11  of 10, 1100 to 1600: runs
 *	12  of 10, 1610 to 2610: waits for the disk
 *	13  of 10, 2620 to 3220: sleeps
 *	14  of 10, 3221 to 3224: lives between two passes
 *	20  of 1, from 3240 on: runs for 200 ms, then sleeps */
struct task {
	uint32_t pid, parent;
	const char *name;
	uint64_t from, to; /* ms; 0: it stays */
	char state;
};

static const struct task tasks[] = {
	{ 10, 1, "rcS", 1060, 3230, 'S' },    { 11, 10, "work", 1100, 1600, 'R' },
	{ 12, 10, "fsck", 1610, 2610, 'D' },  { 13, 10, "settle", 2620, 3220, 'S' },
	{ 14, 10, "short", 3221, 3224, 'R' }, { 20, 1, "server", 3240, 0, 'R' },
};
#define TASKS (sizeof(tasks) / sizeof(*tasks))

static uint64_t ran(const struct task *t, uint64_t ms)
{
	uint64_t to = t->to && t->to < ms ? t->to : ms;

	if (t->pid == 20 && to > 3440)
		to = 3440;
	return t->state == 'R' && to > t->from ? (to - t->from) * MS : 0;
}

static uint64_t busy(uint64_t ms)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < TASKS; i++)
		sum += ran(&tasks[i], ms);
	return sum;
}

/* What happened since the pass before. */
static void put_events(struct boot_story *s, uint64_t ms)
{
	const struct task *t;
	size_t i;

	for (i = 0; i < TASKS; i++) {
		t = &tasks[i];
		if (t->from > ms - 20 && t->from <= ms) {
			boot_story_start(s, t->from * MS, t->pid, t->parent);
			boot_story_exec(s, t->from * MS, t->pid, t->name);
			boot_story_name(s, t->from * MS, t->pid, t->name);
		}
		if (t->to > ms - 20 && t->to <= ms) {
			boot_story_exit(s, t->to * MS, t->pid, 0);
			boot_story_account(s, t->to * MS, t->pid, ran(t, t->to),
					   t->state == 'D' ? (t->to - t->from) * MS : 0);
		}
	}
}

static void put_pass(struct boot_story *s, uint64_t ms)
{
	const struct task *t;
	size_t i;

	for (i = 0; i < TASKS; i++) {
		t = &tasks[i];
		if (t->from > ms || (t->to && t->to <= ms))
			continue;
		boot_story_task(s, ms * MS, t->pid, t->pid == 20 && ms > 3440 ? 'S' : t->state,
				ran(t, ms));
		if (t->state == 'D')
			boot_story_wait(s, ms * MS, t->pid, "io_schedule");
	}
	boot_story_cpu(s, ms * MS, 0, busy(ms), ms * MS - busy(ms));
	boot_story_disk(s, ms * MS, 0, ms > 1610 ? ms * 1000 : 0,
			ms > 2610   ? 1000 * MS
			: ms > 1610 ? (ms - 1610) * MS
				    : 0);
	boot_story_pass(s, ms * MS);
}

static struct boot *make_boot(uint64_t late_ms)
{
	struct boot_story *s = boot_story_new();
	CLEANUP(boot_source) struct boot_source *source = NULL;
	struct boot *b = NULL;
	uint64_t ms;

	boot_story_mark(s, 900 * MS, BOOT_MARK_KERNEL, "Run /sbin/init as init process");
	boot_story_found(s, FIRST, 1, 0, 0);
	boot_story_name(s, FIRST, 1, "init");
	boot_story_task(s, FIRST, 1, 'S', 0);
	boot_story_disk_name(s, FIRST, 0, "sda");
	for (ms = FIRST / MS; ms <= LAST / MS; ms += 20) {
		put_events(s, ms);
		put_pass(s, ms);
	}
	boot_story_mark(s, 3440 * MS + late_ms * MS, BOOT_MARK_TARGET, "server is up");
	boot_story_open(s, &source);
	assert_int_equal(boot_new(&b, source, NULL), 0);
	boot_story_free(s);
	boot_check(b);
	return b;
}

static const char *name_of(const struct boot *b, uint32_t process)
{
	return process == BOOT_NONE ? "" : boot_process_name(&b->processes[process])->comm;
}

static void test_costs_and_times(void **state)
{
	const struct boot_report_options o = { .min_ns = 10 * MS };
	CLEANUP(boot_report) struct boot_report *r = NULL;
	CLEANUP(boot) struct boot *b = make_boot(0);

	(void)state;
	assert_int_equal(boot_report_new(&r, b, NULL, &o), 0);
	assert_true(r->is_boot && r->is_target);
	assert_int_equal(r->user_ns, 900 * MS);
	assert_int_equal(r->to.ns, 3440 * MS);
	assert_int_equal(r->processes, 7);
	assert_int_equal(r->between, 1);
	assert_int_equal(r->cpu.n, 2);
	assert_string_equal(name_of(b, r->cpu.list[0].process), "work");
	assert_int_equal(r->cpu.list[0].ns, 500 * MS);
	assert_string_equal(name_of(b, r->cpu.list[1].process), "server");
	assert_int_equal(r->cpu.list[1].ns, 200 * MS); /* up to the target */
	assert_int_equal(r->disk.n, 1);
	assert_string_equal(name_of(b, r->disk.list[0].process), "fsck");
	assert_int_equal(r->disk.list[0].ns, 1000 * MS);
	assert_int_equal(r->waiting.n, 1);
	assert_string_equal(name_of(b, r->waiting.list[0].process), "settle");
	assert_int_equal(r->user_cpu_ns, busy(3440));
}

static void test_idle_stretches(void **state)
{
	const struct boot_report_options o = { .min_ns = 100 * MS };
	CLEANUP(boot_report) struct boot_report *r = NULL;
	CLEANUP(boot) struct boot *b = make_boot(0);
	const struct boot_idle *i;
	size_t k;
	bool has_disk = false;

	(void)state;
	assert_int_equal(boot_report_new(&r, b, NULL, &o), 0);
	assert_int_equal(r->idles->n, 2); /* what begins behind the target is not told */
	i = &r->idles->list[0];
	assert_int_equal(i->from_ns, 1600 * MS);
	assert_int_equal(i->to_ns, 3220 * MS);
	assert_true(i->is_disk);
	assert_int_equal(i->busy_permille, 0);
	assert_string_equal(name_of(b, i->ended_by), "settle");
	for (k = 0; k < i->n_waiters; k++) {
		if (strcmp(name_of(b, i->waiters[k].process), "fsck"))
			continue;
		has_disk = true;
		assert_int_equal(i->waiters[k].state, BOOT_DISK_WAIT);
		assert_string_equal(b->texts[i->waiters[k].where], "io_schedule");
	}
	assert_true(has_disk);
	assert_int_equal(r->idles->list[1].from_ns, 1000 * MS);
	assert_int_equal(r->idles->list[1].to_ns, 1100 * MS);
}

static void test_serial_chain(void **state)
{
	const struct boot_report_options o = { .min_ns = 100 * MS };
	CLEANUP(boot_report) struct boot_report *r = NULL;
	CLEANUP(boot) struct boot *b = make_boot(0);
	const struct boot_chain *c;

	(void)state;
	assert_int_equal(boot_report_new(&r, b, NULL, &o), 0);
	c = &r->chains->list[0];
	/* Those of init: the shell, then the server up to the target. */
	assert_int_equal(r->chains->n, 2);
	assert_string_equal(name_of(b, c->parent), "init");
	assert_int_equal(c->sum_ns, (3230 - 1060 + 200) * MS);
	c = &r->chains->list[1];
	assert_string_equal(name_of(b, c->parent), "rcS");
	assert_int_equal(c->n, 4);
	assert_string_equal(name_of(b, c->members[0]), "work");
	assert_string_equal(name_of(b, c->members[3]), "short");
	assert_int_equal(c->sum_ns, (500 + 1000 + 600 + 3) * MS);
	assert_int_equal(c->longest_ns, 1000 * MS);
	assert_int_equal(c->from_ns, 1100 * MS);
	assert_int_equal(c->to_ns, 3224 * MS);
}

static void test_moments(void **state)
{
	CLEANUP(boot) struct boot *b = make_boot(0);
	struct error e = ERROR_INIT;
	struct boot_moment m;

	(void)state;
	assert_int_equal(boot_moment_parse("1.5", b, &m, &e), 0);
	assert_int_equal(m.ns, 1500 * MS);
	assert_int_equal(boot_moment_parse("+300ms", b, &m, &e), 0);
	assert_int_equal(m.ns, 1300 * MS);
	assert_int_equal(boot_moment_parse("fs*", b, &m, &e), 0);
	assert_int_equal(m.ns, 1610 * MS);
	assert_string_equal(name_of(b, m.process), "fsck");
	assert_int_equal(boot_moment_parse("is up", b, &m, &e), 0);
	assert_int_equal(m.ns, 3440 * MS);
	assert_int_equal(boot_moment_parse("nobody", b, &m, &e), -ENOENT);
	m = boot_moment_get_target(b);
	assert_int_equal(m.ns, 3440 * MS);
	assert_string_equal(m.text, "server is up");
}

static void test_json_has_it_all(void **state)
{
	const struct boot_report_options o = { .min_ns = 10 * MS };
	CLEANUP(boot_report) struct boot_report *r = NULL;
	CLEANUP(boot) struct boot *b = make_boot(0);
	json_t *j;

	(void)state;
	assert_int_equal(boot_report_new(&r, b, NULL, &o), 0);
	j = boot_report_json(r, NULL, 1);
	assert_non_null(j);
	assert_int_equal(json_array_size(json_object_get(j, "cpu")), 1);
	assert_int_equal(json_integer_value(json_object_get(j, "to_ns")), 3440 * MS);
	assert_true(json_is_null(json_object_get(j, "path")));
	json_decref(j);
}

/* The kernel missed half of its ticks, and one look all of them. */
static void test_load_of_a_slow_machine(void **state)
{
	struct boot_story *s = boot_story_new();
	CLEANUP(boot_source) struct boot_source *source = NULL;
	CLEANUP(boot_load) struct boot_load *l = NULL;
	CLEANUP(boot) struct boot *b = NULL;
	uint64_t i;

	(void)state;
	for (i = 0; i <= 10; i++) {
		boot_story_cpu(s, FIRST + i * STEP, 0, (i - (i == 5)) * 5 * MS,
			       (i - (i == 5)) * 5 * MS);
		boot_story_pass(s, FIRST + i * STEP);
	}
	boot_story_open(s, &source);
	assert_int_equal(boot_new(&b, source, NULL), 0);
	boot_story_free(s);
	assert_int_equal(boot_load_new(&l, b), 0);
	assert_int_equal(l->n, 9);
	assert_int_equal(boot_load_permille(l, FIRST, FIRST + 10 * STEP), 500);
	assert_int_equal(boot_load_permille(l, FIRST + 4 * STEP + MS, FIRST + 5 * STEP - MS), 500);
}

/* --- chains against all that there could be --- */

#define CHILDREN 9U

static uint64_t below(uint64_t *seed, uint64_t n)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*seed >> 33) % n;
}

/* The best of all subsets. */
static uint64_t best_chain(const uint64_t from[CHILDREN], const uint64_t to[CHILDREN])
{
	uint64_t best = 0, sum, end;
	uint32_t set, i, n;
	bool fits;

	for (set = 1; set < 1U << CHILDREN; set++) {
		sum = end = n = 0;
		fits = true;
		for (i = 0; i < CHILDREN; i++) { /* by start */
			if (!(set & 1U << i))
				continue;
			fits = fits &&
			       (!n || (from[i] >= end && from[i] <= end + BOOT_CHAIN_PAUSE_NS));
			end = to[i];
			sum += to[i] - from[i];
			n++;
		}
		if (fits && n > 1 && sum > best)
			best = sum;
	}
	return best;
}

static void test_chains_of_random_children(void **state)
{
	uint64_t seed = 4711, from[CHILDREN], to[CHILDREN], at, best;
	size_t round, i, found = 0;

	(void)state;
	for (round = 0; round < 300; round++) {
		struct boot_story *s = boot_story_new();
		CLEANUP(boot_source) struct boot_source *source = NULL;
		CLEANUP(boot_chains) struct boot_chains *c = NULL;
		CLEANUP(boot) struct boot *b = NULL;

		boot_story_found(s, FIRST, 1, 0, 0);
		boot_story_pass(s, FIRST);
		for (i = 0, at = FIRST; i < CHILDREN; i++) {
			at += (1 + below(&seed, 40)) * MS;
			from[i] = at;
			to[i] = at + (1 + below(&seed, 90)) * MS;
			boot_story_start(s, from[i], (uint32_t)i + 10, 1);
			boot_story_exit(s, to[i], (uint32_t)i + 10, 0);
		}
		boot_story_pass(s, LAST);
		boot_story_open(s, &source);
		assert_int_equal(boot_new(&b, source, NULL), 0);
		assert_int_equal(boot_chains_new(&c, b, 1, UINT64_MAX), 0);
		best = best_chain(from, to);
		assert_int_equal(c->n ? c->list[0].sum_ns : 0, best);
		found += best > 0;
		boot_story_free(s);
	}
	assert_true(found > 100);
}

/* --- the order of the tree --- */

static void test_circle_of_parents(void **state)
{
	struct boot b = { .from_ns = 0, .to_ns = 100 };
	size_t i;

	(void)state;
	b.n_processes = 4;
	b.processes = calloc(4, sizeof(*b.processes));
	assert_non_null(b.processes);
	for (i = 0; i < 4; i++) /* all at once, each the child of the next, and a child outside */
		b.processes[i] = (struct boot_process){ .pid = (int32_t)i + 1,
							.parent_pid = (int32_t)((i + 1) % 3) + 1,
							.to_ns = 100 };
	assert_int_equal(boot_order(&b), 0);
	assert_int_equal(b.n_by_pid, 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(b.processes[b.by_pid[i]].pid, i + 1);
		if (b.processes[i].parent != BOOT_NONE)
			assert_true(b.processes[i].parent < i);
	}
	assert_int_equal(b.processes[0].parent, BOOT_NONE);
	free(b.processes);
	free(b.by_pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_costs_and_times),
		cmocka_unit_test(test_idle_stretches),
		cmocka_unit_test(test_serial_chain),
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_json_has_it_all),
		cmocka_unit_test(test_load_of_a_slow_machine),
		cmocka_unit_test(test_chains_of_random_children),
		cmocka_unit_test(test_circle_of_parents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
