/* SPDX-License-Identifier: MIT */
/*
 * sink_bootchart: what is written is read again: the same processes, states and times, to a hundredth of a second. And
 * what bootcharts have no place for: processes between two looks, threads, names that would break a line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/boot.h"
#include "convert/sink_bootchart.h"
#include "convert/source_bootchart.h"
#include "tools/boot_story.h"
#include "tools/sched_random.h"

#define CORPUS KISEKI_TEST_DATA "/../corpus/bootchart/"
#define MS BOOT_STORY_MS
#define HUNDREDTH (10 * MS)

/* Through the archive and back. */
static void turn(struct boot_source *from, struct boot_source **ret)
{
	struct error e = ERROR_INIT;
	char *data = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&data, &len);

	assert_non_null(f);
	assert_int_equal(from->ops->rewind(from, &e), 0);
	if (sink_bootchart_write(f, from, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(fclose(f), 0);
	if (source_bootchart_open_memory((const uint8_t *)data, len, ret, &e) < 0)
		fail_msg("%s", e.text);
	assert_false((*ret)->is_cut);
	free(data);
}

static struct boot *boot_of(struct boot_source *s)
{
	struct error e = ERROR_INIT;
	struct boot *b = NULL;

	assert_int_equal(s->ops->rewind(s, &e), 0);
	if (boot_new(&b, s, &e) < 0)
		fail_msg("%s", e.text);
	return b;
}

static const struct boot_process *find(const struct boot *b, int32_t pid)
{
	size_t i;

	for (i = 0; i < b->n_processes; i++)
		if (b->processes[i].pid == pid)
			return &b->processes[i];
	fail_msg("no process %d", pid);
	return NULL;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void same_process(const struct boot_process *p, const struct boot_process *q)
{
	size_t i;

	assert_int_equal(p->pid, q->pid);
	assert_int_equal(p->parent, q->parent);
	assert_int_equal(p->depth, q->depth);
	assert_int_equal(p->is_kernel, q->is_kernel);
	assert_int_equal(p->is_alive, q->is_alive);
	assert_string_equal(boot_process_name(p)->comm, boot_process_name(q)->comm);
	assert_string_equal(boot_process_name(p)->args, boot_process_name(q)->args);
	assert_true(apart(p->from_ns, q->from_ns) <= HUNDREDTH);
	assert_true(apart(p->to_ns, q->to_ns) <= HUNDREDTH);
	if (p->account.is_complete) /* which the archive has no place for */
		return;
	assert_true(apart(boot_process_cpu(p), boot_process_cpu(q)) <= 2 * HUNDREDTH);
	for (i = 0; i < BOOT_STATES; i++)
		assert_true(apart(p->state_ns[i], q->state_ns[i]) <= 4 * HUNDREDTH);
}

static void archives_stay_the_same(void **state)
{
	static const char *const names[] = { "android.tgz", "busybox.tgz" };
	size_t i, k;

	(void)state;
	for (i = 0; i < 2; i++) {
		CLEANUP(boot_source) struct boot_source *a = NULL, *b = NULL;
		CLEANUP(boot) struct boot *x = NULL, *y = NULL;
		struct error e = ERROR_INIT;
		char path[256];

		snprintf(path, sizeof(path), CORPUS "%s", names[i]);
		assert_int_equal(source_bootchart_open(path, &a, &e), 0);
		turn(a, &b);
		x = boot_of(a);
		y = boot_of(b);
		assert_string_equal(x->device, y->device);
		assert_string_equal(x->kernel, y->kernel);
		assert_string_equal(x->machine, y->machine);
		assert_string_equal(x->command_line, y->command_line);
		assert_int_equal(x->cpus, y->cpus);
		assert_int_equal(x->from_ns, y->from_ns);
		assert_int_equal(x->to_ns, y->to_ns);
		assert_int_equal(x->interval_ns, y->interval_ns);
		assert_int_equal(x->realtime_ns, y->realtime_ns);
		assert_int_equal(x->n_processes, y->n_processes);
		for (k = 0; k < x->n_processes; k++)
			same_process(&x->processes[k], &y->processes[k]);
		assert_int_equal(x->n_points, y->n_points);
		for (k = 0; k < x->n_points; k++)
			assert_memory_equal(&x->points[k], &y->points[k], sizeof(x->points[k]));
		assert_int_equal(x->n_disks, y->n_disks);
		for (k = 0; k < x->n_disks; k++)
			assert_int_equal(x->disks[k].n_points, y->disks[k].n_points);
	}
}

/* A boot of any kind: it stays the same process by process. */
static void tell_anything(struct boot_story *s, uint64_t seed)
{
	static struct sched_random r;
	static const char states[] = "RSDZTI";
	uint64_t ns, ran[40] = { 0 };
	bool is_there[40] = { false };
	uint32_t pid;

	sched_random_init(&r, seed, SCHED_RANDOM_REAL);
	for (ns = 100 * MS; ns < 2000 * MS; ns += 100 * MS) {
		boot_story_pass(s, ns);
		boot_story_cpu(s, ns, 0, ns / 3 / HUNDREDTH * HUNDREDTH, ns / 2);
		boot_story_memory(s, ns, 100000, (uint64_t)sched_random_below(&r, 100000));
		for (pid = 1; pid < 40; pid++) {
			if (!is_there[pid] && (pid == 1 || sched_random_below(&r, 8) == 0)) {
				boot_story_found(s, ns, pid, pid > 1,
						 ns - HUNDREDTH * sched_random_below(&r, 9));
				boot_story_name(s, ns, pid, "program");
				is_there[pid] = true;
				ran[pid] = 0;
			} else if (is_there[pid] && pid > 1 && sched_random_below(&r, 20) == 0) {
				boot_story_gone(s, ns, pid);
				is_there[pid] = false;
				continue;
			}
			if (!is_there[pid])
				continue;
			ran[pid] += HUNDREDTH * sched_random_below(&r, 10);
			boot_story_task(s, ns, pid, states[sched_random_below(&r, 6)], ran[pid]);
		}
	}
}

static void any_boot_stays_the_same(void **state)
{
	uint64_t seed;
	size_t k;

	(void)state;
	for (seed = 1; seed <= 20; seed++) {
		CLEANUP(boot_source) struct boot_source *a = NULL, *b = NULL;
		CLEANUP(boot) struct boot *x = NULL, *y = NULL;
		struct boot_story *s = boot_story_new();

		tell_anything(s, seed);
		boot_story_open(s, &a);
		turn(a, &b);
		x = boot_of(a);
		y = boot_of(b);
		assert_int_equal(x->n_processes, y->n_processes);
		for (k = 0; k < x->n_processes; k++)
			same_process(&x->processes[k], &y->processes[k]);
		boot_story_free(s);
	}
}

static void what_has_no_place(void **state)
{
	CLEANUP(boot_source) struct boot_source *a = NULL, *b = NULL;
	CLEANUP(boot) struct boot *y = NULL;
	struct boot_story *s = boot_story_new();

	(void)state;
	boot_story_pass(s, 100 * MS);
	boot_story_found(s, 100 * MS, 1, 0, 0);
	boot_story_name(s, 100 * MS, 1, "init");
	boot_story_task(s, 100 * MS, 1, 'S', 10 * MS);
	boot_story_thread(s, 100 * MS, 77, 1);
	boot_story_start(s, 121 * MS, 50, 1); /* between two looks */
	boot_story_name(s, 122 * MS, 50, "  odd\n(n) (x)");
	boot_story_exec(s, 122 * MS, 50, "/bin/true -x");
	boot_story_exit(s, 141 * MS, 50, 0);
	boot_story_account(s, 141 * MS, 50, 20 * MS, 0);
	boot_story_start(s, 190 * MS, 51, 50); /* seen once */
	boot_story_name(s, 190 * MS, 51, "late");
	boot_story_pass(s, 200 * MS);
	boot_story_task(s, 200 * MS, 51, 'R', 10 * MS);
	boot_story_exit(s, 250 * MS, 51, 0);
	boot_story_pass(s, 300 * MS);
	boot_story_mark(s, 300 * MS, BOOT_MARK_KERNEL, "a message");
	boot_story_open(s, &a);
	turn(a, &b);
	y = boot_of(b);
	assert_int_equal(y->n_processes, 3);
	assert_string_equal(boot_process_name(find(y, 50))->comm, "_ odd_(n_ (x)");
	assert_string_equal(boot_process_name(find(y, 50))->args, "/bin/true -x");
	assert_int_equal(find(y, 50)->from_ns, 120 * MS);
	assert_int_equal(find(y, 50)->parent_pid, 1);
	assert_int_equal(find(y, 51)->parent_pid, 50);
	assert_false(find(y, 51)->is_alive);
	assert_int_equal(y->n_marks > 0, 1);
	boot_story_free(s);
}

/* A full disk, in the middle of it. */
static void a_full_disk_is_said(void **state)
{
	CLEANUP(boot_source) struct boot_source *a = NULL;
	struct error e = ERROR_INIT;
	FILE *f = fopen("/dev/full", "w");

	(void)state;
	if (!f)
		skip();
	assert_int_equal(source_bootchart_open(CORPUS "busybox.tgz", &a, &e), 0);
	assert_true(sink_bootchart_write(f, a, &e) < 0);
	assert_non_null(strstr(e.text, "cannot write the bootchart: "));
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(archives_stay_the_same),
		cmocka_unit_test(any_boot_stays_the_same),
		cmocka_unit_test(what_has_no_place),
		cmocka_unit_test(a_full_disk_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
