/* SPDX-License-Identifier: MIT */
/*
 * func_run: descriptions, blocks of several threads, losses, the end, and the next run. What another
 * agent finds, and a spool that is full, is in test_func_run_resume.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/agent/spool_ring.h"
#include "tools/calls.h"

static void test_rows(void **state)
{
	uint32_t bytes, rows, before = 0;

	(void)state;
	assert_true(func_run_rows(MEMORY_SPOOL_LEAST) >= 8);
	assert_int_equal(func_run_rows(4U << 20), MEMORY_FUNC_ROWS_MAX);
	assert_int_equal(func_run_rows(MEMORY_SPOOL_MOST), MEMORY_FUNC_ROWS_MAX);
	assert_int_equal(func_run_rows(1000), 0);
	for (bytes = MEMORY_SPOOL_LEAST; bytes <= 8U << 20; bytes += bytes / 3) {
		CLEANUP(memory) struct memory *m = NULL;
		CLEANUP(spool) struct spool *s = NULL;
		struct memory_options mo = { .cpus = 16, .slots = 1, .spool_bytes = bytes };
		struct spool_options so = { .policy = POLICY_OLDEST };

		rows = mo.func_rows = func_run_rows(bytes);
		assert_true(rows >= before);
		before = rows;
		assert_int_equal(memory_open(&m, &mo, NULL), 0);
		so.memory = m;
		assert_int_equal(spool_open(&s, &so, NULL), 0);
		assert_true(s->keep_free < s->size / 2);
	}
}

static void expect_text(struct meta_reader *m, enum meta_item type, const char *text)
{
	assert_int_equal(meta_reader_next(m), WIRE_OK);
	assert_int_equal(m->type, type);
	if (!text)
		return;
	assert_int_equal(reader_left(&m->item), strlen(text));
	assert_memory_equal(m->item.at, text, strlen(text));
}

static void test_description(void **state)
{
	struct meta_clock c = calls_clock;
	struct spool_entry e;
	struct meta_reader m;
	struct calls f;
	struct block b;

	(void)state;
	calls_begin(&f, POLICY_OLDEST);
	assert_int_equal(func_run_start(f.run, &c, NULL), -EBUSY);
	assert_true(spool_peek(f.spool, &e));
	assert_int_equal(block_decode(e.bytes, e.len, &b), WIRE_OK);
	assert_int_equal(b.codec, CODEC_META);
	meta_reader_init(&m, b.payload, b.payload_len);
	expect_text(&m, META_DEVICE, "box");
	expect_text(&m, META_KERNEL, NULL);
	expect_text(&m, META_MACHINE, NULL);
	expect_text(&m, META_ORIGIN, "programs");
	expect_text(&m, META_CPUS, "\2");
	expect_text(&m, META_CLOCK, NULL);
	expect_text(&m, META_FUNC_CLOCK, NULL);
	assert_int_equal(reader_varint(&m.item), 1); /* mult */
	reader_varint(&m.item);
	reader_varint(&m.item);
	reader_varint(&m.item);
	assert_memory_equal(reader_bytes(&m.item, 5), "\4mono", 5);
	assert_int_equal(reader_varint(&m.item), 1); /* the real time is known */
	expect_text(&m, META_AGENT, NULL);
	assert_int_equal(meta_reader_next(&m), WIRE_MORE);
	calls_end(&f);
}

static void test_who(void **state)
{
	static const char path[2000] = "/lib/libx.so";
	struct func_meta_mapping map = {
		.from = 4096, .to = 8192, .until = UINT32_MAX, .path = { path, sizeof(path) }
	};
	struct func_run_thread t = { .process = 1, .stream = 0 };
	struct calls_seen s = { 0 };
	struct calls f;
	uint32_t row;

	(void)state;
	calls_begin(&f, POLICY_OLDEST);
	assert_int_equal(calls_process(&f, 100), 0);
	assert_int_equal(calls_process(&f, 200), 1);
	assert_int_equal(calls_process(&f, 100), 0); /* said again */
	assert_int_equal(calls_take_thread(&f, 2, 0, &row), -EINVAL);
	assert_int_equal(calls_thread(&f, 0, 0), 0);
	assert_int_equal(calls_thread(&f, 1, 0), 1);
	assert_int_equal(calls_thread(&f, 1, 5), 2);
	assert_int_equal(func_run_take_thread(f.run, &t, &row, NULL), 0);
	assert_int_equal(row, 1);
	assert_int_equal(t.base, 9000);
	assert_int_equal(func_run_put_mapping(f.run, 1, &map, NULL), 0);
	assert_int_equal(func_run_put_sync(f.run, 5, 6, NULL), 0);
	calls_collect(&f, calls_number(&f), &s);
	assert_int_equal(s.processes, 2);
	assert_int_equal(s.threads, 3);
	assert_int_equal(s.mappings, 1);
	assert_true(s.items & 1U << META_FUNC_SYNCS);
	calls_end(&f);
}

/* Both lanes of several threads, losses of all kinds before them, and the end. */
static void test_blocks(void **state)
{
	struct func_run_counts c;
	struct func_run_place at;
	struct calls_seen s = { 0 };
	struct calls f;
	uint64_t x = 88172645463325252ULL, lost = 0, events = 0;
	uint32_t i, number;

	(void)state;
	calls_begin(&f, POLICY_OLDEST);
	number = calls_number(&f);
	calls_process(&f, 100);
	for (i = 0; i < 4; i++)
		assert_int_equal(calls_thread(&f, 0, i), i);
	for (i = 0; i < 400; i++) {
		struct func_run_block b;

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		b = calls_block((uint32_t)x % 3, x >> 8 & 1, (uint32_t)(x >> 20) % 90, 1000 * i,
				1000 * i + (x >> 30) % 2000);
		if (x >> 40 & 1)
			b.block.lost[LOSS_SPOOL] = 1 + (x >> 41) % 50;
		if (x >> 50 & 1)
			b.block.lost[LOSS_RING] = LOSS_UNKNOWN;
		assert_int_equal(calls_put(&f, b), 0);
		lost += b.block.lost[LOSS_SPOOL];
		events += b.block.events + b.block.lost[LOSS_SPOOL];
	}
	func_run_count(f.run, &c);
	assert_int_equal(c.blocks, 400);
	assert_int_equal(c.events, events);
	assert_int_equal(c.lost[LOSS_SPOOL], lost);
	assert_int_equal(c.lost[LOSS_RING], 0);
	func_run_get_place(f.run, 2, FUNC_LANE_OS, &at);
	assert_int_equal(func_run_stop(f.run, NULL), 0);
	assert_false(func_run_is_open(f.run));
	calls_collect(&f, number, &s);
	assert_int_equal(s.ends, 1);
	assert_int_equal(calls_count_streams(&s), 6);
	assert_int_equal(s.end_rows, 7);
	assert_int_equal(s.streams[5].next_sequence, at.next_sequence);
	assert_int_equal(s.streams[5].seen, at.count);
	assert_int_equal(s.streams[5].until, at.until);
	calls_end(&f);
}

/* Ticks that run backwards, losses with no event behind them, blocks that no spool should get. */
static void test_odd_blocks(void **state)
{
	struct func_run_block b = calls_block(0, FUNC_LANE_CALLS, 3, 5000, 6000);
	struct calls_seen s = { 0 };
	struct calls f;
	uint32_t number;

	(void)state;
	calls_begin(&f, POLICY_OLDEST);
	number = calls_number(&f);
	calls_process(&f, 100);
	calls_thread(&f, 0, 0);
	assert_int_equal(calls_put(&f, b), 0);
	b = calls_block(0, FUNC_LANE_CALLS, 2, 4000, 4500);
	assert_int_equal(calls_put(&f, b), 0);
	b = calls_block(0, FUNC_LANE_CALLS, 0, 0, 0);
	b.block.payload_len = 0;
	b.block.lost[LOSS_BUFFER] = 40;
	assert_int_equal(calls_put(&f, b), 0);
	b.lane = FUNC_LANE_OS;
	assert_int_equal(calls_put(&f, b), 0);
	b.row = 1;
	assert_int_equal(calls_put(&f, b), -EINVAL);
	b.row = 0;
	b.block.payload_len = FUNC_RUN_PAYLOAD_MOST + 1;
	assert_int_equal(calls_put(&f, b), -EMSGSIZE);
	assert_int_equal(func_run_stop(f.run, NULL), 0);
	assert_int_equal(calls_put(&f, b), -EINVAL);
	calls_collect(&f, number, &s);
	assert_int_equal(s.ends, 1);
	assert_int_equal(s.streams[0].seen, 45);
	assert_int_equal(s.streams[0].until, 6000);
	assert_int_equal(s.streams[0].lost[LOSS_BUFFER], 40);
	assert_int_equal(s.streams[1].seen, 40);
	calls_end(&f);
}

static void test_rotation(void **state)
{
	struct calls_seen s = { 0 };
	struct calls f;
	uint32_t i, row, round, first = 0;

	(void)state;
	calls_begin(&f, POLICY_OLDEST);
	for (round = 0; round < 3; round++) {
		calls_process(&f, 100);
		for (i = 0; i < CALLS_ROWS; i++)
			assert_int_equal(calls_thread(&f, 0, 10 * round + i), i);
		assert_int_equal(func_run_left(f.run), 0);
		assert_int_equal(calls_take_thread(&f, 0, 99, &row), -ENOBUFS);
		assert_int_equal(calls_thread(&f, 0, 10 * round), 0);
		for (i = 0; i < CALLS_ROWS; i++)
			calls_put(&f, calls_block(i, FUNC_LANE_CALLS, 1, 5, 5));
		first = first ? first : calls_number(&f);
		assert_int_equal(func_run_stop(f.run, NULL), 0);
		assert_int_equal(func_run_start(f.run, &calls_clock, NULL), 0);
		assert_int_equal(func_run_left(f.run), CALLS_ROWS);
	}
	calls_collect(&f, first, &s);
	assert_int_equal(s.ends, 1);
	assert_int_equal(s.end_rows, 1 + CALLS_ROWS);
	calls_end(&f);
}

/* More processes than rows are not taken: each would need at least one. */
static void test_many_processes(void **state)
{
	struct func_run_process p = { .start_tick = 1 };
	struct calls f;
	int32_t i;

	(void)state;
	calls_begin(&f, POLICY_OLDEST);
	for (i = 0; i < (int32_t)CALLS_ROWS; i++)
		assert_int_equal(calls_process(&f, i), i);
	p.about.pid = i;
	assert_int_equal(func_run_take_process(f.run, &p, NULL), -ENOBUFS);
	assert_int_equal(calls_process(&f, 2), 2);
	calls_end(&f);
}

/* A file without rows: as those are that were made before there were runs of calls. */
static void test_no_rows(void **state)
{
	struct memory_options mo = { .cpus = CALLS_CPUS, .slots = 1, .spool_bytes = CALLS_SPOOL };
	struct calls f = { 0 };

	(void)state;
	assert_int_equal(memory_open(&f.memory, &mo, NULL), 0);
	calls_open(&f, POLICY_OLDEST);
	assert_int_equal(func_run_left(f.run), 0);
	assert_int_equal(func_run_start(f.run, &calls_clock, NULL), -EOPNOTSUPP);
	assert_false(func_run_is_open(f.run));
	calls_end(&f);
}

static int put_description(struct calls *f, uint32_t run, uint64_t sequence)
{
	static uint8_t room[BLOCK_HEADER_MAX + 1000];
	struct block b = {
		.codec = CODEC_META, .flags = BLOCK_KEY, .sequence = sequence, .payload_len = 1000
	};
	struct checkpoint at = { .next_sequence = sequence + 1 };
	struct spool_entry e = {
		.kind = FRAME_BLOCK, .run = run, .key = true, .sequence = sequence
	};

	e.bytes = block_encode(&b, room + BLOCK_HEADER_MAX, &e.len);
	return spool_put(f->spool, &e, SPOOL_FUNC_META, &at);
}

/* A flight recorder never drops descriptions. They get a quarter of the spool, calls have the rest. */
static void test_flight_keeps_room_for_calls(void **state)
{
	struct spool_run run;
	struct calls f;
	uint64_t n = 100;
	uint32_t i;

	(void)state;
	calls_begin(&f, POLICY_FLIGHT);
	calls_process(&f, 1);
	calls_thread(&f, 0, 0);
	assert_true(spool_get_current(f.spool, SPOOL_CALLS, &run));
	while (!put_description(&f, run.number, n))
		n++;
	assert_int_equal(put_description(&f, run.number, n), -ENOSPC);
	assert_in_range(spool_used(f.spool), CALLS_SPOOL / 4 - 2048, CALLS_SPOOL / 4);
	for (i = 0; i < 1000; i++)
		assert_int_equal(calls_put(&f, calls_block(0, FUNC_LANE_CALLS, 100, 1000 * i,
							   1000 * i + 9)),
				 0);
	calls_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flight_keeps_room_for_calls),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_description),
		cmocka_unit_test(test_who),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_odd_blocks),
		cmocka_unit_test(test_rotation),
		cmocka_unit_test(test_many_processes),
		cmocka_unit_test(test_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
