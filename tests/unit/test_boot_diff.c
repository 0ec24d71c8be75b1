/* SPDX-License-Identifier: MIT */
/* boot_diff: who is whose partner in another boot, and what changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/boot_diff.h"
#include "analysis/boot_report_json.h"
#include "tools/boot_story.h"

#define MS BOOT_STORY_MS

struct task {
	uint32_t pid, parent;
	const char *args;
	uint64_t from, to; /* ms behind the start; 0: it stays */
	uint64_t cpu;	   /* ms */
};

static struct boot *make(uint64_t start_ms, const struct task *t, size_t n, uint64_t target_ms)
{
	struct boot_story *s = boot_story_new();
	CLEANUP(boot_source) struct boot_source *source = NULL;
	struct boot *b = NULL;
	const char *program;
	char comm[16];
	size_t i;

	boot_story_pass(s, start_ms * MS);
	boot_story_found(s, start_ms * MS, 1, 0, 0);
	boot_story_name(s, start_ms * MS, 1, "init");
	for (i = 0; i < n; i++) {
		program = strrchr(t[i].args, '/') ? strrchr(t[i].args, '/') + 1 : t[i].args;
		snprintf(comm, sizeof(comm), "%.*s", (int)strcspn(program, " "), program);
		boot_story_start(s, (start_ms + t[i].from) * MS, t[i].pid, t[i].parent);
		boot_story_exec(s, (start_ms + t[i].from) * MS, t[i].pid, t[i].args);
		boot_story_name(s, (start_ms + t[i].from) * MS, t[i].pid, comm);
		if (!t[i].to)
			continue;
		boot_story_exit(s, (start_ms + t[i].to) * MS, t[i].pid, 0);
		boot_story_account(s, (start_ms + t[i].to) * MS, t[i].pid, t[i].cpu * MS, 0);
	}
	if (target_ms)
		boot_story_mark(s, (start_ms + target_ms) * MS, BOOT_MARK_TARGET, "up");
	boot_story_pass(s, (start_ms + 5000) * MS);
	boot_story_open(s, &source);
	assert_int_equal(boot_new(&b, source, NULL), 0);
	boot_story_free(s);
	return b;
}
#define MAKE(start, list, target) make(start, list, sizeof(list) / sizeof(*(list)), target)

/* The pair of the process that began so many ms behind the start of B; or of A, if it is gone. */
static const struct boot_pair *find(const struct boot_diff *d, uint64_t ms, bool is_gone)
{
	const struct boot_pair *p;
	size_t i;

	for (i = 0; i < d->n_pairs; i++) {
		p = &d->pairs[i];
		if (is_gone && p->b == BOOT_NONE &&
		    d->a->processes[p->a].from_ns == d->a->from_ns + ms * MS)
			return p;
		if (!is_gone && p->b != BOOT_NONE && !d->b->processes[p->b].was_there &&
		    d->b->processes[p->b].from_ns == d->b->from_ns + ms * MS)
			return p;
	}
	fail_msg("no process at %u ms", (unsigned)ms);
	return NULL;
}

static void test_matches(void **state)
{
	static const struct task before[] = {
		{ 10, 1, "/bin/sh /etc/rcS", 100, 900, 10 },
		{ 11, 10, "/bin/mount -a", 110, 200, 20 },
		{ 12, 10, "/sbin/modprobe wifi0", 210, 300, 30 },
		{ 13, 10, "/bin/true", 310, 320, 1 },
		{ 14, 1, "/bin/true", 330, 340, 1 },
		{ 15, 1, "old --daemon", 400, 0, 0 },
		{ 16, 10, "tool", 500, 510, 1 },
	};
	static const struct task after[] = {
		{ 30, 1, "/bin/sh /etc/rcS", 150, 1400, 10 },
		{ 31, 30, "/usr/bin/mount -a", 160, 650, 25 },	   /* 50 ms later, 400 ms longer */
		{ 32, 30, "/sbin/modprobe wifi17", 660, 750, 30 }, /* another number */
		{ 33, 1, "/bin/true", 760, 770, 1 },		   /* of init, as 14 was */
		{ 34, 30, "/bin/true", 780, 790, 1 },		   /* of the shell, as 13 was */
		{ 35, 1, "new", 800, 0, 0 },
		{ 36, 1, "tool", 900, 910, 1 }, /* another one started it */
	};
	CLEANUP(boot) struct boot *a = MAKE(1000, before, 1000), *b = MAKE(2000, after, 1600);
	CLEANUP(boot_diff) struct boot_diff *d = NULL;
	const struct boot_pair *p;
	size_t i;

	(void)state;
	assert_int_equal(boot_diff_new(&d, a, b), 0);
	assert_int_equal(d->n_new, 1);
	assert_int_equal(d->n_gone, 1);
	assert_int_equal(d->n_pairs, 9);
	assert_int_equal(d->target_ns, (int64_t)(600 * MS));
	p = find(d, 160, false);
	assert_int_equal(a->processes[p->a].pid, 11);
	assert_int_equal(p->start_ns, (int64_t)(50 * MS));
	assert_int_equal(p->length_ns, (int64_t)(400 * MS));
	assert_int_equal(p->end_ns, (int64_t)(450 * MS));
	assert_int_equal(p->cpu_ns, (int64_t)(5 * MS));
	assert_int_equal(a->processes[find(d, 660, false)->a].pid, 12);
	assert_int_equal(a->processes[find(d, 760, false)->a].pid, 14);
	assert_int_equal(a->processes[find(d, 780, false)->a].pid, 13);
	assert_int_equal(a->processes[find(d, 900, false)->a].pid, 16);
	assert_int_equal(find(d, 800, false)->a, BOOT_NONE);
	assert_int_equal(a->processes[find(d, 400, true)->a].pid, 15);
	for (i = 1; i < d->n_pairs; i++) /* by start in B */
		if (d->pairs[i].b != BOOT_NONE && d->pairs[i - 1].b != BOOT_NONE)
			assert_true(b->processes[d->pairs[i - 1].b].from_ns <=
				    b->processes[d->pairs[i].b].from_ns);
}

static void test_equals_in_their_order(void **state)
{
	static const struct task before[] = {
		{ 10, 1, "sh -c x", 100, 110, 1 },
		{ 11, 1, "sh -c x", 200, 210, 1 },
		{ 12, 1, "sh -c x", 300, 310, 1 },
	};
	static const struct task after[] = {
		{ 90, 1, "sh -c x", 105, 115, 1 },
		{ 20, 1, "sh -c x", 205, 215, 1 },
	};
	CLEANUP(boot) struct boot *a = MAKE(1000, before, 0), *b = MAKE(1000, after, 0);
	CLEANUP(boot_diff) struct boot_diff *d = NULL;

	(void)state;
	assert_int_equal(boot_diff_new(&d, a, b), 0);
	assert_int_equal(a->processes[find(d, 105, false)->a].pid, 10);
	assert_int_equal(a->processes[find(d, 205, false)->a].pid, 11);
	assert_int_equal(a->processes[find(d, 300, true)->a].pid, 12);
	assert_int_equal(d->target_ns, 0); /* neither has one: the ends */
}

static void test_a_boot_and_itself(void **state)
{
	static const struct task tasks[] = {
		{ 10, 1, "a 1", 100, 110, 1 },
		{ 11, 10, "b", 105, 0, 1 },
		{ 10, 1, "a 2", 300, 310, 1 },
	};
	CLEANUP(boot) struct boot *a = MAKE(1000, tasks, 500), *b = MAKE(1000, tasks, 500);
	const struct boot_diff_json_options all = { .kernel = true };
	CLEANUP(boot_diff) struct boot_diff *d = NULL;
	json_t *j;
	size_t i;

	(void)state;
	assert_int_equal(boot_diff_new(&d, a, b), 0);
	assert_int_equal(d->n_pairs, a->n_processes);
	assert_int_equal(d->n_new + d->n_gone, 0);
	for (i = 0; i < d->n_pairs; i++) {
		assert_int_equal(d->pairs[i].a, d->pairs[i].b);
		assert_int_equal(d->pairs[i].start_ns, 0);
		assert_int_equal(d->pairs[i].cpu_ns, 0);
	}
	j = boot_diff_json(d, &all);
	assert_int_equal(json_array_size(json_object_get(j, "processes")), 0);
	assert_int_equal(json_integer_value(json_object_get(j, "target_change_ns")), 0);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_equals_in_their_order),
		cmocka_unit_test(test_a_boot_and_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
