/* SPDX-License-Identifier: MIT */
/*
 * The CTF export read back by the CTF import: every field of every event, losses with their
 * intervals, tasks and dialect come back; and what the sink must refuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert/import.h"
#include "convert/sink.h"

#define CPUS 3U
#define ITEMS 20000U

static char root[64], target[96];
static char long_name[SCHED_FILENAME_MAX];

static int setup(void **state)
{
	(void)state;
	strcpy(root, "/tmp/kiseki-test-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(target, sizeof(target), "%s/out", root);
	memset(long_name, 'x', sizeof(long_name));
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static uint64_t seed;

static uint32_t rnd(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % below;
}

static void random_task(struct sched_task *t, bool prio)
{
	static const char *const names[] = { "bash", "swapper/0", "exactly16bytes!!",
					     "",     "a b=\"c\\", "\xff\xfe\x80" };
	const char *n = names[rnd(6)];

	sched_comm_set(t->comm, n, strlen(n));
	t->pid = rnd(8) ? (int32_t)rnd(100000) : INT32_MAX - (int32_t)rnd(3);
	if (prio)
		t->prio = rnd(8) ? (int32_t)rnd(140) : INT32_MIN + (int32_t)rnd(100);
}

static void random_event(struct sched_event *ev)
{
	memset(ev, 0, sizeof(*ev));
	ev->kind = (uint8_t)rnd(SCHED_KINDS);
	ev->pid = (int32_t)rnd(100000);
	ev->flags = (uint8_t)rnd(256);
	ev->preempt_count = (uint8_t)rnd(256);
	if (ev->kind == SCHED_EXEC) {
		ev->task.pid = (int32_t)rnd(1000);
		ev->value = (int32_t)rnd(1000);
		ev->filename = rnd(2) ? long_name : "/bin/true";
		ev->filename_len = ev->filename == long_name ? (uint16_t)rnd(4096) : 9;
		return;
	}
	random_task(&ev->task, ev->kind != SCHED_FORK && ev->kind != SCHED_RENAME);
	if (ev->kind == SCHED_SWITCH || ev->kind == SCHED_FORK)
		random_task(&ev->other, ev->kind == SCHED_SWITCH);
	if (ev->kind == SCHED_SWITCH)
		ev->state = rnd(4) ? 1U << rnd(12) : UINT64_MAX - rnd(5);
	if (ev->kind >= SCHED_WAKING && ev->kind <= SCHED_WAKEUP_NEW) {
		ev->value = (int32_t)rnd(CPUS);
		ev->extra = (uint8_t)rnd(2);
	}
	if (ev->kind == SCHED_EXIT)
		ev->extra = (uint8_t)rnd(2);
	if (ev->kind == SCHED_RENAME) {
		sched_comm_set(ev->other.comm, "new", 3);
		ev->value = -(int32_t)rnd(1000);
	}
	if (ev->kind == SCHED_SETPRIO)
		ev->other.prio = (int32_t)rnd(140);
}

/* Items in order of time, the same ones each time for the same seed. Some gaps exceed the 27 bits
 * of a compact stamp, some are zero. */
struct maker {
	uint64_t tick;
	uint64_t last[CPUS]; /* event of each CPU */
	bool lost[CPUS];
};

static void make_item(struct maker *m, struct trace_item *ret)
{
	memset(ret, 0, sizeof(*ret));
	m->tick += rnd(50) ? rnd(3) * rnd(10000) : 200000000U + rnd(1000);
	ret->cpu = rnd(CPUS);
	if (rnd(100) == 0 && !m->lost[ret->cpu] && m->tick > m->last[ret->cpu]) {
		m->lost[ret->cpu] = true;
		ret->type = ITEM_LOSS;
		ret->loss.from_tick = m->last[ret->cpu];
		ret->loss.to_tick = m->tick;
		ret->loss.count = rnd(3) ? 1 + rnd(1000) : LOSS_UNKNOWN;
		ret->loss.cause = (uint8_t)rnd(LOSS_CAUSES);
		return;
	}
	random_event(&ret->event);
	ret->event.tick = m->tick;
	m->last[ret->cpu] = m->tick;
	m->lost[ret->cpu] = false;
}

static void make_info(struct trace_info *info)
{
	assert_int_equal(info_init(info), 0);
	assert_int_equal(info_set(&info->device, "b\"oa\\rd \xc3\xbc", 11), 0);
	assert_int_equal(info_set(&info->kernel, "4.9.1-test", 10), 0);
	assert_int_equal(info_set(&info->machine, "armv7l", 6), 0);
	assert_int_equal(info_set(&info->origin, "trace.dat v6", 12), 0);
	dialect_from_release(&info->dialect, info->kernel);
	info->dialect.features |= DIALECT_GROUP_DEAD;
	info->dialect.long_size = 4;
	info->dialect.kinds = 0x1ff;
	info->cpus = CPUS;
	strcpy(info->clock.name, "local");
	info->clock.has_realtime = true;
	info->clock.realtime_off_ns = 1700000000123456789LL;
	info->clock.realtime_err_ns = 77;
	info->clock.print_digits = 6;
	assert_int_equal(info_add_task(info, 1, 1, "init\0\0\0\0\0\0\0\0\0\0\0"), 0);
	assert_int_equal(info_add_task(info, 7, -1, "unknown\0\0\0\0\0\0\0\0"), 0);
	assert_int_equal(info_add_task(info, 70000, 9, "thread\0\0\0\0\0\0\0\0\0"), 0);
}

static void write_trace(const struct trace_info *info, unsigned int n)
{
	struct error e = ERROR_INIT;
	struct trace_sink *sink = NULL;
	struct maker m = { .tick = 5000 };
	struct trace_item item;
	unsigned int i;

	seed = 1;
	assert_int_equal(sink_ctf_new(&sink, target, &e), 0);
	assert_int_equal(sink->ops->begin(sink, info, &e), 0);
	for (i = 0; i < n; i++) {
		make_item(&m, &item);
		if (sink->ops->item(sink, &item, &e) < 0)
			fail_msg("%s", e.text);
	}
	if (sink->ops->end(sink, &e) < 0)
		fail_msg("%s", e.text);
	sink_free(sink);
}

static void check_item(const struct trace_item *a, const struct trace_item *b)
{
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->cpu, b->cpu);
	if (a->type == ITEM_EVENT) {
		assert_true(sched_event_equal(&a->event, &b->event));
		return;
	}
	assert_int_equal(a->loss.count, b->loss.count);
	assert_int_equal(a->loss.from_tick, b->loss.from_tick);
	assert_int_equal(a->loss.to_tick, b->loss.to_tick);
	assert_int_equal(a->loss.cause, b->loss.cause);
}

/* Order between CPUs may differ at equal stamps and for losses, so each CPU is compared alone. */
static void check_cpu(struct trace_source *s, uint32_t cpu, unsigned int n)
{
	struct maker m = { .tick = 5000 };
	struct error e = ERROR_INIT;
	struct trace_item made, read;
	unsigned int i;
	int r;

	assert_int_equal(s->ops->rewind(s, &e), 0);
	seed = 1;
	for (i = 0; i < n; i++) {
		make_item(&m, &made);
		if (made.cpu != cpu)
			continue;
		do {
			r = s->ops->next(s, &read, &e);
			if (r < 0)
				fail_msg("%s", e.text);
			assert_int_equal(r, 1);
		} while (read.cpu != cpu);
		check_item(&made, &read);
	}
	while ((r = s->ops->next(s, &read, &e)) > 0)
		assert_int_not_equal(read.cpu, cpu);
	assert_int_equal(r, 0);
}

static void check_info(const struct trace_info *a, const struct trace_info *b)
{
	size_t i;

	assert_string_equal(a->device, b->device);
	assert_string_equal(a->kernel, b->kernel);
	assert_string_equal(a->machine, b->machine);
	assert_string_equal(a->origin, b->origin);
	assert_int_equal(a->cpus, b->cpus);
	assert_memory_equal(&a->dialect, &b->dialect, sizeof(a->dialect));
	assert_memory_equal(&a->clock, &b->clock, sizeof(a->clock));
	assert_int_equal(a->n_tasks, b->n_tasks);
	for (i = 0; i < a->n_tasks; i++)
		assert_memory_equal(&a->tasks[i], &b->tasks[i], sizeof(a->tasks[i]));
}

static void test_round_trip(void **state)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;
	struct trace_info info;
	uint32_t cpu;

	(void)state;
	make_info(&info);
	write_trace(&info, ITEMS);
	if (source_ctf_open(&s, target, &e) < 0)
		fail_msg("%s", e.text);
	check_info(&info, &s->info);
	for (cpu = 0; cpu < CPUS; cpu++)
		check_cpu(s, cpu, ITEMS);
	source_free(s);
	info_done(&info);
}

static void test_negative_offset(void **state)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;
	struct trace_info info;

	(void)state;
	make_info(&info);
	info.clock.realtime_off_ns = -1500000000LL;
	write_trace(&info, 100);
	if (source_ctf_open(&s, target, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(s->info.clock.realtime_off_ns, -1500000000LL);
	source_free(s);
	info_done(&info);
}

static void test_empty(void **state)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;
	struct trace_item item;
	struct trace_info info;

	(void)state;
	assert_int_equal(info_init(&info), 0);
	write_trace(&info, 0);
	if (source_ctf_open(&s, target, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(s->ops->next(s, &item, &e), 0);
	assert_int_equal(s->ops->next(s, &item, &e), 0);
	source_free(s);
	info_done(&info);
}

static void test_back_in_time(void **state)
{
	struct trace_item item = { .type = ITEM_EVENT };
	struct error e = ERROR_INIT;
	struct trace_sink *sink = NULL;
	struct trace_info info;

	(void)state;
	assert_int_equal(info_init(&info), 0);
	assert_int_equal(sink_ctf_new(&sink, target, &e), 0);
	assert_int_equal(sink->ops->begin(sink, &info, &e), 0);
	item.event.tick = 100;
	assert_int_equal(sink->ops->item(sink, &item, &e), 0);
	item.event.tick = 99;
	assert_int_equal(sink->ops->item(sink, &item, &e), -EINVAL);
	assert_non_null(strstr(e.text, "CPU 0 at 99 ns"));
	sink_free(sink);
	info_done(&info);
	/* Given up before the end: nothing remains, not even the temporary folder. */
	assert_int_equal(rmdir(root), 0);
	assert_int_equal(mkdir(root, 0700), 0);
}

static void touch(const char *name)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", target, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
}

static void test_targets(void **state)
{
	struct error e = ERROR_INIT;
	struct trace_sink *sink = NULL;
	struct trace_info info;
	char path[160];

	(void)state;
	assert_int_equal(info_init(&info), 0);
	assert_int_equal(sink_ctf_new(&sink, "-", &e), -EINVAL);

	/* Empty: taken. Ours: replaced. */
	assert_int_equal(mkdir(target, 0777), 0);
	write_trace(&info, 10);
	write_trace(&info, 20);

	/* A file of somebody else's among ours: refused and left alone. */
	touch("notes");
	assert_int_equal(sink_ctf_new(&sink, target, &e), -EEXIST);
	snprintf(path, sizeof(path), "%s/notes", target);
	assert_int_equal(unlink(path), 0);

	/* Another tool's metadata, and none. */
	touch("metadata");
	assert_int_equal(sink_ctf_new(&sink, target, &e), -EEXIST);
	snprintf(path, sizeof(path), "%s/metadata", target);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(sink_ctf_new(&sink, target, &e), -EEXIST);

	/* Not a folder at all. */
	snprintf(path, sizeof(path), "%s/channel0_0", target);
	assert_int_equal(sink_ctf_new(&sink, path, &e), -EEXIST);
	info_done(&info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_negative_offset, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_back_in_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_targets, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
