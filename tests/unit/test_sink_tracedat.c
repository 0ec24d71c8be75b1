/* SPDX-License-Identifier: MIT */
/* sink_tracedat: what it writes, the importer reads back, event by event and loss by loss. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "convert/import.h"
#include "convert/sink.h"

#define CPUS 5U
#define ITEMS 6000U
#define PATH_OUT "test_sink_tracedat.tmp"

static uint64_t seed;

static uint32_t dice(uint32_t sides)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % sides;
}

static char filename[4096];

static void random_comm(char comm[SCHED_COMM_LEN])
{
	uint32_t i, len = dice(SCHED_COMM_LEN + 1);

	memset(comm, 0, SCHED_COMM_LEN);
	for (i = 0; i < len; i++)
		comm[i] = (char)(33 + dice(90));
}

static void random_task(struct sched_task *t, bool prio)
{
	t->pid = (int32_t)dice(5) ? (int32_t)dice(40000) : (int32_t)(dice(0x7fffffff) * 2);
	t->prio = prio ? (int32_t)dice(140) : 0;
	random_comm(t->comm);
}

static uint64_t random_gap(void)
{
	static const uint64_t gaps[] = { 1, 100, 5000, 1ULL << 27, 1ULL << 33, 1ULL << 45 };

	if (!dice(200))
		return gaps[dice(6)];
	return dice(2) ? dice(3000) : 0;
}

/* Only what the dialect's records can hold; fields that a kind does not use stay zero. */
static void random_event(struct sched_event *e, const struct sched_dialect *d)
{
	const uint32_t success = DIALECT_SUCCESS | DIALECT_SUCCESS_SILENT;

	e->kind = (uint8_t)dice(SCHED_KINDS);
	e->pid = (int32_t)dice(40000);
	e->flags = (uint8_t)dice(256);
	e->preempt_count = (uint8_t)dice(256);
	random_task(&e->task, e->kind != SCHED_FORK && e->kind != SCHED_RENAME);
	switch (e->kind) {
	case SCHED_SWITCH:
		random_task(&e->other, true);
		e->state = d->long_size == 4 ? seed >> 32 : seed;
		break;
	case SCHED_FORK:
		random_task(&e->other, false);
		break;
	case SCHED_EXEC:
		e->task.prio = 0;
		memset(e->task.comm, 0, sizeof(e->task.comm));
		e->value = (int32_t)dice(40000);
		e->filename_len = (uint16_t)(dice(20) ? dice(60) : dice(4000));
		e->filename = e->filename_len ? filename : NULL;
		break;
	case SCHED_EXIT:
		e->extra = d->features & DIALECT_GROUP_DEAD ? (uint8_t)dice(2) : 0;
		break;
	case SCHED_RENAME:
		if (d->features & DIALECT_RENAME_NO_PID)
			e->task.pid = e->pid;
		random_comm(e->other.comm);
		e->value = (int32_t)dice(2001) - 1000;
		break;
	case SCHED_SETPRIO:
		e->other.prio = (int32_t)dice(140);
		break;
	default:
		e->value = (int32_t)dice(CPUS);
		e->extra = d->features & success ? (uint8_t)dice(2) : 0;
	}
}

static void random_loss(struct trace_loss *l, unsigned int long_size)
{
	memset(l, 0, sizeof(*l));
	l->cause = LOSS_RING;
	l->count = dice(3) ? 1 + dice(100000) : LOSS_UNKNOWN;
	if (long_size == 8 && !dice(10))
		l->count = 1ULL << 40;
}

static struct trace_item items[ITEMS];

static void random_items(const struct trace_info *info)
{
	uint64_t tick = 1000, last[CPUS] = { 0 };
	bool after_loss[CPUS] = { false };
	struct trace_item *it;
	uint32_t i;

	for (i = 0; i < ITEMS; i++) {
		it = &items[i];
		memset(it, 0, sizeof(*it));
		it->cpu = dice(CPUS - 1); /* the last one stays empty */
		if (i + CPUS < ITEMS && !dice(30) && !after_loss[it->cpu]) {
			it->type = ITEM_LOSS;
			random_loss(&it->loss, info->dialect.long_size);
			it->loss.from_tick = last[it->cpu];
			after_loss[it->cpu] = true;
			continue;
		}
		after_loss[it->cpu] = false;
		tick += random_gap();
		it->event.tick = last[it->cpu] = tick;
		random_event(&it->event, &info->dialect);
	}
}

static void write_items(const struct trace_info *info, const char *path, uint32_t n)
{
	struct error e = ERROR_INIT;
	struct trace_sink *sink;
	uint32_t i;

	assert_int_equal(sink_tracedat_new(&sink, path, &e), 0);
	assert_int_equal(sink->ops->begin(sink, info, &e), 0);
	for (i = 0; i < n; i++)
		assert_int_equal(sink->ops->item(sink, &items[i], &e), 0);
	assert_int_equal(sink->ops->end(sink, &e), 0);
	sink_free(sink);
}

static struct import_bytes read_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY);
	struct import_bytes b;
	struct stat st;
	uint8_t *data;

	assert_int_equal(fstat(fd, &st), 0);
	data = malloc((size_t)st.st_size);
	assert_non_null(data);
	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	b.data = data;
	b.len = (size_t)st.st_size;
	return b;
}

/* Ties between CPUs are broken by number, so each CPU's own order is what must be kept. */
static void check_items(struct trace_source *s, const struct trace_clock *clock, uint32_t n)
{
	uint32_t at[CPUS] = { 0 }, found = 0, cpu;
	struct error e = ERROR_INIT;
	struct trace_item got;
	uint64_t last_tick = 0;
	int r;

	while ((r = s->ops->next(s, &got, &e)) > 0) {
		struct trace_item *want;

		cpu = got.cpu;
		assert_true(cpu < CPUS);
		while (at[cpu] < n && items[at[cpu]].cpu != cpu)
			at[cpu]++;
		assert_true(at[cpu] < n);
		want = &items[at[cpu]++];
		found++;
		assert_int_equal(got.type, want->type);
		if (got.type == ITEM_LOSS) {
			assert_true(got.loss.count == want->loss.count);
			assert_true(got.loss.from_tick == clock_ns(clock, want->loss.from_tick) ||
				    !want->loss.from_tick);
			continue;
		}
		assert_true(got.event.tick == clock_event_ns(clock, &want->event));
		assert_true(got.event.tick >= last_tick);
		last_tick = got.event.tick;
		got.event.tick = want->event.tick;
		got.event.tick_off_ns = want->event.tick_off_ns;
		assert_true(sched_event_equal(&got.event, &want->event));
	}
	assert_int_equal(r, 0);
	assert_int_equal(found, n);
	assert_int_equal(s->ops->next(s, &got, &e), 0);
}

static void make_info(struct trace_info *info, const char *release, uint8_t long_size)
{
	assert_int_equal(info_init(info), 0);
	info->cpus = CPUS;
	dialect_from_release(&info->dialect, release);
	info->dialect.long_size = long_size;
	info->dialect.kinds = (1 << SCHED_KINDS) - 1;
	strcpy(info->clock.name, "mono");
	assert_int_equal(info_set(&info->device, "a board", 7), 0);
	assert_int_equal(info_set(&info->kernel, release, strlen(release)), 0);
	assert_int_equal(info_set(&info->machine, "armv7l", 6), 0);
	assert_int_equal(info_add_task(info, 1, -1, "init\0__________"), 0);
	assert_int_equal(info_add_task(info, 77, -1, "a b\nc\0_________"), 0);
}

static void check_info(const struct trace_info *a, const struct trace_info *b)
{
	assert_int_equal(a->cpus, b->cpus);
	assert_string_equal(a->device, "a-board");
	assert_string_equal(a->kernel, b->kernel);
	assert_string_equal(a->machine, b->machine);
	assert_string_equal(a->clock.name, "mono");
	assert_string_equal(a->origin, "trace.dat v6");
	assert_int_equal(a->n_tasks, 2);
	assert_string_equal(info_get_task(a, 1)->comm, "init");
	assert_string_equal(info_get_task(a, 77)->comm, "a b?c");
	assert_memory_equal(&a->dialect, &b->dialect, sizeof(a->dialect));
}

static void check_round_trip(const char *release, uint8_t long_size)
{
	struct trace_info info;
	struct trace_source *s;
	struct import_bytes in;

	make_info(&info, release, long_size);
	random_items(&info);
	write_items(&info, PATH_OUT, ITEMS);
	in = read_file(PATH_OUT);
	assert_int_equal(source_tracedat_open(&s, in, NULL), 0);
	check_info(&s->info, &info);
	check_items(s, &info.clock, ITEMS);
	assert_int_equal(s->ops->rewind(s, NULL), 0);
	check_items(s, &info.clock, ITEMS);
	source_free(s);
	free((void *)in.data);
	info_done(&info);
	unlink(PATH_OUT);
}

static void test_round_trip(void **state)
{
	static const char *const releases[] = { "3.4.0",  "3.18.1", "4.4.9",  "4.9.1",
						"4.19.3", "6.1.0",  "6.14.0", "6.18.0" };
	size_t i;

	(void)state;
	seed = 1;
	memset(filename, 'f', sizeof(filename));
	for (i = 0; i < sizeof(releases) / sizeof(releases[0]); i++) {
		check_round_trip(releases[i], 8);
		check_round_trip(releases[i], 4);
	}
}

/* Stamps that are no multiple of a tick, also ones that run backwards on a CPU. */
static void test_stamps(void **state)
{
	struct trace_info info;
	struct trace_source *s;
	struct trace_item got;
	struct import_bytes in;
	uint64_t seen = 0;
	uint32_t i;

	(void)state;
	make_info(&info, "6.18.0", 8);
	info.clock.mult = 1242757404; /* 54 MHz */
	info.clock.shift = 26;
	info.clock.base_ns = 5;
	memset(items, 0, sizeof(items));
	for (i = 0; i < 100; i++) {
		items[i].event.kind = SCHED_WAKING;
		items[i].event.tick = 1000000 + i / 2;
		items[i].event.tick_off_ns = i % 2 ? -30 : 7;
		items[i].event.pid = (int32_t)i;
	}
	items[99].event.tick = 1ULL << 61; /* a gap that no time extend can hold */
	write_items(&info, PATH_OUT, 100);
	in = read_file(PATH_OUT);
	assert_int_equal(source_tracedat_open(&s, in, NULL), 0);
	while (s->ops->next(s, &got, NULL) > 0) {
		assert_true(got.event.tick ==
			    clock_event_ns(&info.clock, &items[got.event.pid].event));
		seen++;
	}
	assert_int_equal(seen, 100);
	source_free(s);
	free((void *)in.data);
	info_done(&info);
	unlink(PATH_OUT);
}

/* Two losses in a row become one; a loss that nothing follows is kept. */
static void test_losses(void **state)
{
	struct trace_info info;
	struct trace_source *s;
	struct trace_item got;
	struct import_bytes in;

	(void)state;
	make_info(&info, "6.18.0", 4);
	memset(items, 0, sizeof(items));
	items[0].type = items[1].type = items[3].type = items[4].type = ITEM_LOSS;
	items[0].loss.count = 3;
	items[1].loss.count = 4;
	items[2].event.kind = SCHED_EXIT;
	items[2].event.tick = 50;
	items[3].loss.count = 1ULL << 33; /* more than a 32-bit long holds */
	items[4].cpu = 2;
	items[4].loss.count = 9;
	write_items(&info, PATH_OUT, 5);
	in = read_file(PATH_OUT);
	assert_int_equal(source_tracedat_open(&s, in, NULL), 0);
	assert_int_equal(s->ops->next(s, &got, NULL), 1);
	assert_int_equal(got.type, ITEM_LOSS);
	assert_true(got.loss.count == 7 && got.loss.from_tick == 0 && got.loss.to_tick == 50);
	assert_int_equal(s->ops->next(s, &got, NULL), 1);
	assert_int_equal(got.type, ITEM_EVENT);
	assert_int_equal(s->ops->next(s, &got, NULL), 1);
	assert_int_equal(got.type, ITEM_LOSS);
	assert_true(got.loss.count == LOSS_UNKNOWN && got.loss.from_tick == 50 &&
		    got.loss.to_tick == 50);
	assert_int_equal(s->ops->next(s, &got, NULL), 1);
	assert_int_equal(got.cpu, 2);
	assert_true(got.loss.count == 9);
	assert_int_equal(s->ops->next(s, &got, NULL), 0);
	source_free(s);
	free((void *)in.data);
	info_done(&info);
	unlink(PATH_OUT);
}

static void test_refused(void **state)
{
	struct error e = ERROR_INIT;
	struct trace_sink *sink;
	struct trace_info info;
	struct trace_item it;

	(void)state;
	make_info(&info, "6.18.0", 8);
	assert_true(sink_tracedat_new(&sink, "no-such-folder/x.dat", &e) < 0);
	assert_int_equal(sink_tracedat_new(&sink, PATH_OUT, &e), 0);
	assert_int_equal(sink->ops->begin(sink, &info, &e), 0);
	memset(&it, 0, sizeof(it));
	it.cpu = CPUS;
	assert_int_equal(sink->ops->item(sink, &it, &e), -EINVAL);
	it.cpu = 0;
	it.event.kind = SCHED_EXEC;
	it.event.filename = filename;
	it.event.filename_len = SCHED_FILENAME_MAX;
	assert_int_equal(sink->ops->item(sink, &it, &e), -EMSGSIZE);
	sink_free(sink);
	assert_int_equal(access(PATH_OUT, F_OK), -1);
	info_done(&info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_stamps),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
