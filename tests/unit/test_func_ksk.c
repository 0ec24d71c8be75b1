/* SPDX-License-Identifier: MIT */
/*
 * func_ksk, func_pack: a function source that was packed into a file comes out of it item by item;
 * what damage takes is counted, one by one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/ksk_writer.h"
#include "store/run_state.h"
#include "tools/func_items.h"
#include "tools/func_random.h"
#include "tools/trace_store.h"
#include "trace/func_ksk.h"
#include "trace/func_pack.h"
#include "trace/ksk_source.h"
#include "wire/func_encode.h"
#include "wire/rtc_func_encode.h"
#include "wire/varint.h"

#define ITEMS_MAX 200000U

static char folder[] = "/tmp/kiseki-test-XXXXXX";
static char path[64];

/* Items of some threads, in order of time, and losses of all kinds among them. */
static struct func_items *make_items(uint64_t seed, unsigned style, uint32_t threads, uint32_t n)
{
	struct func_items *s = func_items_new(threads);
	struct func_random **random = calloc(threads, sizeof(*random));
	uint64_t *last = calloc(threads, sizeof(*last));
	uint32_t i, t;

	assert_non_null(random);
	assert_non_null(last);
	for (i = 0; i < threads; i++) {
		random[i] = malloc(sizeof(**random));
		assert_non_null(random[i]);
		func_random_init(random[i], seed * 100 + i, style);
		random[i]->tick = 1000 + i;
	}
	for (i = 0; i < n; i++) {
		struct func_item item = { .type = FUNC_ITEM_EVENT };

		/* Threads come one after the other, and some stay. */
		t = func_random_below(random[0], 1 + (uint32_t)((uint64_t)threads * i / n));
		item.thread = t;
		if (func_random_below(random[0], 2000) == 0) {
			item.type = FUNC_ITEM_LOSS;
			item.loss.from_tick = last[t];
			item.loss.cause = (uint8_t)func_random_below(random[0], LOSS_CAUSES);
			item.loss.count = func_random_below(random[0], 4)
						  ? 1 + func_random_below(random[0], 1000)
						  : LOSS_UNKNOWN;
		} else {
			func_random_next(random[t], &item.event);
			last[t] = item.event.tick;
		}
		func_items_add(s, &item);
	}
	for (i = 0; i < threads; i++)
		free(random[i]);
	free(random);
	free(last);
	return s;
}

/* What one thread had, as a number for each cause and for its events. */
struct account {
	uint64_t events;
	uint64_t lost[LOSS_CAUSES];
	bool some[LOSS_CAUSES];
};

static void add_loss(struct account *a, const struct trace_loss *l)
{
	if (l->count == LOSS_UNKNOWN)
		a->some[l->cause] = true;
	else
		a->lost[l->cause] += l->count;
}

/* The events of each thread in order, and between two of them the same losses. */
static void compare(struct func_source *a, struct func_source *b, uint32_t thread)
{
	struct account x = { 0 }, y = { 0 };
	struct func_item i, k;
	int more = 1, got;

	assert_int_equal(a->ops->rewind(a, NULL), 0);
	assert_int_equal(b->ops->rewind(b, NULL), 0);
	while (more) {
		more = 0;
		while ((got = a->ops->next(a, &i, NULL)) == 1) {
			if (i.thread == thread && i.type == FUNC_ITEM_LOSS)
				add_loss(&x, &i.loss);
			if (i.thread == thread && i.type == FUNC_ITEM_EVENT)
				break;
		}
		more = got;
		while ((got = b->ops->next(b, &k, NULL)) == 1) {
			if (k.thread == thread && k.type == FUNC_ITEM_LOSS)
				add_loss(&y, &k.loss);
			if (k.thread == thread && k.type == FUNC_ITEM_EVENT)
				break;
		}
		assert_int_equal(more, got);
		if (more)
			assert_true(func_event_equal(&i.event, &k.event));
		assert_memory_equal(x.lost, y.lost, sizeof(x.lost));
		assert_memory_equal(x.some, y.some, sizeof(x.some));
	}
}

static struct func_source *open_packed(void)
{
	struct error e = ERROR_INIT;
	struct func_source *s = NULL;

	if (func_ksk_open(path, &s, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

static void pack(struct func_items *s, struct func_packing *p)
{
	struct error e = ERROR_INIT;

	if (func_pack_file(path, &s->source, p, &e) < 0)
		fail_msg("%s", e.text);
}

static void test_round_trip(void **state)
{
	static const struct func_packing ways[] = { { 0 },
						    { .block_bytes = 200, .segment_bytes = 900 },
						    { .threads = 2 } };
	struct func_packing p;
	struct func_items *s;
	struct func_source *back;
	uint32_t i, t;

	(void)state;
	for (i = 0; i < 3 * FUNC_RANDOM_STYLES; i++) {
		s = make_items(i + 1, i % FUNC_RANDOM_STYLES, 5, 12000);
		p = ways[i / FUNC_RANDOM_STYLES];
		pack(s, &p);
		back = open_packed();
		assert_int_equal(back->n_threads, 5);
		assert_int_equal(func_ksk_stream(back, 4), STREAM_FUNC(4));
		for (t = 0; t < 5; t++)
			compare(&s->source, back, t);
		func_source_free(back);
		func_source_free(&s->source);
	}
	remove(path);
}

/* Threads of which only some can be packed at a time, and which end. */
static void test_many_threads(void **state)
{
	struct func_packing p = { .threads = 7 };
	struct func_items *s = make_items(77, FUNC_RANDOM_REAL, 60, 20000);
	struct func_source *back;
	uint32_t t;

	(void)state;
	pack(s, &p);
	assert_true(p.events > 19000);
	back = open_packed();
	for (t = 0; t < 60; t += 7)
		compare(&s->source, back, t);
	func_source_free(back);
	func_source_free(&s->source);
	remove(path);
}

static void test_tables(void **state)
{
	struct func_items *s = func_items_new(3);
	struct func_mapping m = { .from = 0x1000,
				  .to = 0x3000,
				  .offset = 0x40,
				  .since = 2,
				  .until = 5,
				  .build_id = { 1, 2, 3 },
				  .build_id_len = 20,
				  .path = (char *)"/usr/lib/libm.so.6" };
	struct func_process kernel, *p;
	struct func_packing packing = { 0 };
	struct func_source *back;

	(void)state;
	assert_int_equal(func_process_add_mapping(&s->source.processes[0], &m), 0);
	m.since = 1;
	m.until = UINT32_MAX;
	m.build_id_len = 0;
	assert_int_equal(func_process_add_mapping(&s->source.processes[0], &m), 0);
	assert_int_equal(func_process_init(&kernel, "kernel", ""), 0);
	kernel.kernel = true;
	assert_int_equal(func_process_add_name(&kernel, "schedule", 8), 0);
	assert_int_equal(func_process_add_name(&kernel, "vfs_read", 8), 0);
	assert_int_equal(func_source_add_process(&s->source, &kernel, NULL), 0);
	s->source.threads[2].process = 1;
	s->source.threads[2].cpu = 3;
	assert_int_equal(func_source_add_sync(&s->source, 5, 1000), 0);
	assert_int_equal(func_source_add_sync(&s->source, 7000000000ULL, 8000001000ULL), 0);
	s->source.clock.mult = 0x80000000U;
	s->source.clock.shift = 31;
	s->source.clock.base_ns = 0 - 17ULL;
	pack(s, &packing);
	back = open_packed();
	assert_string_equal(back->origin, "items");
	assert_int_equal(back->n_processes, 2);
	p = &back->processes[0];
	assert_int_equal(p->pid, 900);
	assert_int_equal(p->parent, 1);
	assert_string_equal(p->command, "items");
	assert_string_equal(p->exe, "/bin/items");
	assert_int_equal(p->n_mappings, 2);
	assert_int_equal(p->mappings[0].since, 1);
	assert_true(p->mappings[0].until == UINT32_MAX);
	assert_int_equal(p->mappings[1].until, 5);
	assert_int_equal(p->mappings[1].offset, 0x40);
	assert_int_equal(p->mappings[1].build_id_len, 20);
	assert_int_equal(p->mappings[1].build_id[2], 3);
	assert_string_equal(p->mappings[1].path, "/usr/lib/libm.so.6");
	assert_true(back->processes[1].kernel);
	assert_int_equal(back->processes[1].n_names, 2);
	assert_string_equal(back->processes[1].names[1], "vfs_read");
	assert_int_equal(back->threads[2].process, 1);
	assert_int_equal(back->threads[2].cpu, 3);
	assert_int_equal(back->threads[0].cpu, -1);
	assert_int_equal(back->threads[1].tid, 901);
	assert_string_equal(back->threads[1].comm, "items/1");
	assert_int_equal(back->n_syncs, 2);
	assert_true(back->syncs[1].mono_ns == 8000001000ULL);
	assert_true(back->clock.base_ns == 0 - 17ULL);
	assert_int_equal(back->clock.shift, 31);
	func_source_free(back);
	func_source_free(&s->source);
	remove(path);
}

static uint8_t *read_packed(size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(1 << 22);

	assert_non_null(f);
	assert_non_null(data);
	*ret_len = fread(data, 1, 1 << 22, f);
	fclose(f);
	return data;
}

/* As many events as there were are given or told as lost, of each thread. */
static void check_counts(const uint8_t *data, size_t len, const uint64_t made[5])
{
	struct func_source *s = NULL;
	struct func_item item;
	uint64_t told[5] = { 0 };
	uint32_t t;

	assert_int_equal(func_ksk_open_memory(data, len, &s, NULL), 0);
	while (s->ops->next(s, &item, NULL) == 1) {
		assert_true(item.thread < 5);
		if (item.type == FUNC_ITEM_EVENT)
			told[item.thread]++;
		else if (item.loss.count != LOSS_UNKNOWN)
			told[item.thread] += item.loss.count;
	}
	for (t = 0; t < 5; t++)
		assert_true(told[t] == made[t]);
	func_source_free(s);
}

static void test_damage(void **state)
{
	struct func_items *s = make_items(5, FUNC_RANDOM_REAL, 5, 30000);
	struct func_packing p = { .block_bytes = 300, .segment_bytes = 1500 };
	uint64_t made[5] = { 0 }, index;
	struct func_random *random = malloc(sizeof(*random));
	struct func_item item;
	size_t len;
	uint8_t *data, kept;
	uint32_t i, at;

	(void)state;
	assert_non_null(random);
	func_random_init(random, 1, FUNC_RANDOM_REAL);
	while (s->source.ops->next(&s->source, &item, NULL) == 1) {
		if (item.type == FUNC_ITEM_EVENT)
			made[item.thread]++;
		else if (item.loss.count != LOSS_UNKNOWN)
			made[item.thread] += item.loss.count;
	}
	s->source.ops->rewind(&s->source, NULL);
	pack(s, &p);
	data = read_packed(&len);
	check_counts(data, len, made);
	index = get_le64(data + len - 16);
	/* Behind the metadata, which name the threads, and before the index, which counts them. */
	for (i = 0; i < 300; i++) {
		at = 1000 + func_random_below(random, (uint32_t)index - 2500);
		kept = data[at];
		data[at] ^= (uint8_t)(1 + func_random_below(random, 255));
		check_counts(data, len, made);
		if (i % 3)
			data[at] = kept;
	}
	free(data);
	free(random);
	func_source_free(&s->source);
	remove(path);
}

/* Blocks of codec rtc, each of which stands for itself; then one of codec func. */
static void put_rtc(struct ksk_writer *w, const struct func_event *ev, size_t n, bool damaged)
{
	static struct rtc_func_encoder encoder;
	static const struct rtc_params params = RTC_PARAMS_PUBLISHED;
	static uint8_t room[BLOCK_HEADER_MAX + 65536];
	uint8_t *payload = room + BLOCK_HEADER_MAX, *start;
	size_t at = 0, len, got;
	struct block b = { .codec = CODEC_RTC, .flags = BLOCK_KEY, .stream = STREAM_FUNC(0) };

	assert_true(rtc_func_encoder_init(&encoder, &params, payload, 65536));
	while (at < n) {
		got = rtc_func_encode(&encoder, ev + at, n - at < 100 ? n - at : 100, &len);
		assert_true(got > 0);
		b.first_tick = ev[at].tick;
		b.before = at;
		b.events = (uint32_t)got;
		b.ticks = ev[at + got - 1].tick - b.first_tick;
		b.payload = payload;
		b.payload_len = (uint32_t)len;
		if (damaged && b.sequence == 1)
			payload[0] ^= 0x10; /* another version */
		start = block_encode(&b, payload, &b.len);
		assert_int_equal(ksk_writer_put(w, &b, start, b.len, NULL), 0);
		b.sequence++;
		at += got;
	}
}

static void check_rtc(bool damaged)
{
	enum { N = 450 };
	static struct func_event made[N];
	struct func_source *back;
	struct ksk_writer *w = NULL;
	struct func_item item;
	uint32_t i = 0;

	for (i = 0; i < N; i++)
		made[i] =
			(struct func_event){ .tick = 1000 + i * 3,
					     .value = i % 10 == 8 ? i : 0x400000 + (i / 2 % 7) * 64,
					     .kind = i % 10 == 8 ? FUNC_OS : i & 1,
					     .os = i % 10 == 8 ? FUNC_OS_SWITCH_IN : 0 };
	assert_int_equal(ksk_writer_open(&w, path, NULL), 0);
	put_rtc(w, made, N, damaged);
	assert_int_equal(ksk_writer_commit(w, NULL), 0);
	ksk_writer_free(w);
	back = open_packed();
	for (i = 0; back->ops->next(back, &item, NULL) == 1;) {
		if (item.type == FUNC_ITEM_LOSS) {
			assert_true(damaged && i == 100);
			assert_int_equal(item.loss.count, 100);
			i += 100;
			continue;
		}
		assert_true(func_event_equal(&item.event, &made[i]));
		i++;
	}
	assert_int_equal(i, N);
	func_source_free(back);
	remove(path);
}

static void test_rtc(void **state)
{
	(void)state;
	check_rtc(false);
	check_rtc(true);
}

/* When the calls were, by the headers alone. */
static void test_span(void **state)
{
	struct func_items *s = make_items(9, FUNC_RANDOM_REAL, 5, 5000);
	struct func_packing p = { .block_bytes = 300, .segment_bytes = 1500 };
	uint64_t from, to, first = UINT64_MAX, last = 0;
	struct func_source *back;
	struct func_item item;
	uint32_t seen = 0;

	(void)state;
	pack(s, &p);
	back = open_packed();
	while (back->ops->next(back, &item, NULL) == 1) {
		if (item.type != FUNC_ITEM_EVENT)
			continue;
		if (!(seen >> item.thread & 1) && item.event.tick < first)
			first = item.event.tick;
		seen |= 1U << item.thread; /* later ones may step back */
		last = item.event.tick > last ? item.event.tick : last;
	}
	assert_int_equal(func_ksk_span(back, &from, &to), 1);
	assert_int_equal(from, first);
	assert_int_equal(to, last);
	func_source_free(back);
	func_source_free(&s->source);
	remove(path);
}

/* Readers of the scheduler's streams pass the others over, and find no damage in them. */
static void test_ignored(void **state)
{
	struct func_items *s = make_items(8, FUNC_RANDOM_REAL, 3, 3000);
	struct func_packing p = { 0 };
	struct trace_source *sched = NULL;
	struct trace_item item;

	(void)state;
	pack(s, &p);
	assert_int_equal(source_ksk_open(&sched, path, NULL), 0);
	assert_int_equal(sched->info.cpus, 0);
	assert_int_equal(sched->ops->next(sched, &item, NULL), 0);
	assert_int_equal(ksk_file_verify(source_ksk_file(sched), NULL), 0);
	assert_int_equal(source_ksk_file(sched)->n_damage, 0);
	source_free(sched);
	func_source_free(&s->source);
	remove(path);
}

/* The next item that is due at or after the tick; false at the end. */
static bool next_from(struct func_source *s, uint64_t tick, struct func_item *ret)
{
	int got;

	while ((got = s->ops->next(s, ret, NULL)) == 1)
		if (func_item_tick(ret) >= tick)
			return true;
	assert_int_equal(got, 0);
	return false;
}

/* Opened from a tick on, a run has all items from there on that it has when it is opened whole. */
static void compare_from(struct store *store, uint32_t run, uint64_t tick)
{
	struct func_source *whole = NULL, *part = NULL;
	struct error e = ERROR_INIT;
	struct func_item a, b;
	bool more;

	assert_int_equal(func_ksk_open_run(store, run, &whole, &e), 0);
	assert_int_equal(func_ksk_open_from(store, run, tick, &part, &e), 0);
	assert_int_equal(whole->n_threads, part->n_threads);
	do {
		more = next_from(whole, tick, &a);
		assert_int_equal(next_from(part, tick, &b), more);
		if (!more)
			break;
		assert_int_equal(a.type, b.type);
		assert_int_equal(a.thread, b.thread);
		assert_int_equal(func_item_tick(&a), func_item_tick(&b));
		if (a.type == FUNC_ITEM_EVENT)
			assert_true(func_event_equal(&a.event, &b.event));
		else
			assert_int_equal(a.loss.count, b.loss.count);
	} while (more);
	func_source_free(whole);
	func_source_free(part);
}

static void check_from(struct store *store, uint32_t run)
{
	struct func_source *s = NULL;
	struct error e = ERROR_INIT;
	uint64_t from, to, tick, last = 0;
	uint32_t i;

	assert_int_equal(func_ksk_open_run(store, run, &s, &e), 0);
	assert_int_equal(func_ksk_span(s, &from, &to), 1);
	for (i = 0; i < s->n_threads; i++) {
		assert_int_equal(func_ksk_last_tick(s, i, &tick), 0);
		last = tick > last ? tick : last;
	}
	assert_int_equal(last, to);
	func_source_free(s);
	for (i = 0; i <= 20; i++)
		compare_from(store, run, from + (to - from) / 20 * i);
}

/* The same out of a run of a store. */
static void test_store(void **state)
{
	struct func_items *s = make_items(21, FUNC_RANDOM_BROKEN, 4, 8000);
	struct func_packing p = { .block_bytes = 400, .segment_bytes = 1500 };
	struct trace_blocks blocks;
	struct func_source *back = NULL;
	struct error e = ERROR_INIT;
	struct store *store = NULL;
	struct block stray = { .codec = CODEC_FUNC, .flags = BLOCK_KEY, .stream = 5000 };
	struct run_state none;
	uint32_t run, t;

	(void)state;
	pack(s, &p);
	trace_blocks_open(&blocks, path);
	snprintf(path, sizeof(path), "%s/store", folder);
	assert_int_equal(store_open(&store, path, NULL, &e), 0);
	run = trace_store_run(store, 3);
	trace_store_put(store, run, &blocks, 0, blocks.n);
	if (func_ksk_open_run(store, run, &back, &e) < 0)
		fail_msg("%s", e.text);
	for (t = 0; t < 4; t++)
		compare(&s->source, back, t);
	func_source_free(back);
	check_from(store, run);
	store_free(store);
	trace_blocks_done(&blocks);
	func_source_free(&s->source);
	run_state_init(&none);
	assert_int_equal(run_state_check(&none, &stray, &e), -EPROTO);
	run_state_done(&none);
	snprintf(path, sizeof(path), "rm -rf %s/store", folder);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/out.ksk", folder);
	remove(path);
}

/* A file whose one thread has this OS stream and no calls. */
static void write_os(const struct func_event *events, uint32_t n)
{
	static struct func_encoder encoder;
	static uint8_t room[BLOCK_HEADER_MAX + (64 << 10)];
	struct block b = { .codec = CODEC_FUNC, .flags = BLOCK_KEY, .stream = STREAM_FUNC_OS(0) };
	struct ksk_writer *w = NULL;
	uint8_t *start;
	uint32_t i;

	func_encoder_init(&encoder, NULL);
	func_encoder_begin(&encoder, room + BLOCK_HEADER_MAX, 64 << 10, events[0].tick);
	for (i = 0; i < n; i++)
		assert_int_equal(func_encode(&encoder, &events[i]), WIRE_OK);
	b.first_tick = events[0].tick;
	b.ticks = events[n - 1].tick - events[0].tick;
	b.events = n;
	b.payload = room + BLOCK_HEADER_MAX;
	b.payload_len = func_encoder_end(&encoder);
	start = block_encode(&b, room + BLOCK_HEADER_MAX, &b.len);
	assert_int_equal(ksk_writer_open(&w, path, NULL), 0);
	assert_int_equal(ksk_writer_put(w, &b, start, b.len, NULL), 0);
	assert_int_equal(ksk_writer_commit(w, NULL), 0);
	ksk_writer_free(w);
}

/* How many events it has; the last one is this. */
static void expect_last(uint32_t n, const struct func_event *wanted)
{
	struct func_source *s = NULL;
	struct func_item item;
	uint32_t i;
	int round;

	assert_int_equal(func_ksk_open(path, &s, NULL), 0);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < n; i++)
			assert_int_equal(s->ops->next(s, &item, NULL), 1);
		assert_int_equal(item.type, FUNC_ITEM_EVENT);
		assert_int_equal(item.event.tick, wanted->tick);
		assert_int_equal(item.event.os, wanted->os);
		assert_int_equal(item.event.value, wanted->value);
		assert_int_equal(s->ops->next(s, &item, NULL), 0);
		assert_int_equal(s->ops->rewind(s, NULL), 0);
	}
	func_source_free(s);
	assert_int_equal(remove(path), 0);
}

/* Records that stop without a word say nothing about what comes behind them. */
static void test_open_end(void **state)
{
	struct func_event events[] = {
		{ .tick = 100, .value = 3, .kind = FUNC_OS, .os = FUNC_OS_WATCH },
		{ .tick = 200, .value = 1, .kind = FUNC_OS, .os = FUNC_OS_SWITCH_IN },
		{ .tick = 300, .value = 1, .kind = FUNC_OS, .os = FUNC_OS_SWITCH_OUT },
	};
	const struct func_event over = { .tick = 300, .kind = FUNC_OS, .os = FUNC_OS_WATCH };

	(void)state;
	write_os(events, 3);
	expect_last(4, &over);
	events[2].value = 0x10; /* it is dead */
	write_os(events, 3);
	expect_last(3, &events[2]);
	events[2] = over;
	write_os(events, 3);
	expect_last(3, &over);
	events[0].os = FUNC_OS_SWITCH_OUT; /* nobody ever said that it is watched */
	events[2].os = FUNC_OS_SWITCH_IN;
	write_os(events, 3);
	expect_last(3, &events[2]);
}

static void test_no_calls(void **state)
{
	struct func_source *s;
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(func_ksk_open(SOURCE_ROOT "/tests/vectors/small.ksk", &s, &e), -ENODATA);
	assert_non_null(strstr(e.text, "it holds no calls"));
}

static int enter(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/out.ksk", folder);
	return 0;
}

static int leave(void **state)
{
	(void)state;
	return remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_tables),	   cmocka_unit_test(test_damage),
		cmocka_unit_test(test_rtc),	   cmocka_unit_test(test_span),
		cmocka_unit_test(test_ignored),	   cmocka_unit_test(test_no_calls),
		cmocka_unit_test(test_store),	   cmocka_unit_test(test_open_end),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
