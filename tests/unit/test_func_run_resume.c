/* SPDX-License-Identifier: MIT */
/*
 * func_run: what another agent finds, both policies of a full spool, and a run of events beside it.
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

/* An agent after another, with nothing acknowledged, all of it, and some. */
static void test_resume(void **state)
{
	struct func_run_place at;
	struct calls_seen s = { 0 };
	struct calls f;
	uint64_t frames = 0;
	uint32_t i, number;

	(void)state;
	calls_begin(&f, POLICY_OLDEST);
	number = calls_number(&f);
	calls_process(&f, 100);
	calls_process(&f, 200); /* without a thread: it is not found again */
	calls_thread(&f, 0, 3);
	calls_thread(&f, 0, 4);
	for (i = 0; i < 30; i++) {
		assert_int_equal(calls_put(&f,
					   calls_block(i % 2, i % 3 % 2, 7, 100 * i, 100 * i + 9)),
				 0);
		if (i % 5 == 4) {
			calls_collect(&f, number, &s);
			frames = f.spool->sent;
			assert_int_equal(spool_ack(f.spool, i % 2 ? frames : frames / 2), 0);
		}
		calls_die(&f);
		assert_true(func_run_is_open(f.run));
		assert_int_equal(func_run_left(f.run), CALLS_ROWS - 2);
		assert_int_equal(calls_process(&f, 100), 0);
		assert_int_equal(calls_thread(&f, 0, 4), 1);
	}
	assert_true(calls_process(&f, 200) > 1);
	func_run_get_place(f.run, 1, FUNC_LANE_CALLS, &at);
	assert_true(at.next_sequence && at.count == 7 * at.next_sequence);
	assert_int_equal(func_run_stop(f.run, NULL), 0);
	calls_collect(&f, number, &s);
	assert_int_equal(s.ends, 1);
	assert_int_equal(s.end_rows, 5);
	for (i = 0; i < 4; i++)
		assert_int_equal(s.streams[i].seen, 7 * s.streams[i].next_sequence);
	calls_die(&f);
	assert_false(func_run_is_open(f.run));
	calls_end(&f);
}

/* The row was not written any more, or only half: the ring knows better. */
static void test_lost_rows(void **state)
{
	struct memory_func_row before[CALLS_ROWS], *rows;
	struct func_run_block b = calls_block(1, FUNC_LANE_OS, 5, 700, 800);
	struct func_run_counts c;
	struct func_run_place at;
	struct calls f;
	uint32_t i;

	(void)state;
	calls_begin(&f, POLICY_OLDEST);
	calls_process(&f, 100);
	calls_thread(&f, 0, 0);
	calls_thread(&f, 0, 1);
	b.block.lost[LOSS_RING] = 3;
	for (i = 1; i <= 6; i++) {
		rows = memory_get_func_rows(f.memory);
		memcpy(before, rows, sizeof(before));
		assert_int_equal(calls_put(&f, b), 0);
		if (i % 3 == 0)
			memcpy(rows, before, sizeof(before));
		if (i % 3 == 1)
			memset(&rows[1].places[rows[1].places[1].number > rows[1].places[0].number]
					.until,
			       0x55, 20);
		calls_die(&f);
		func_run_get_place(f.run, 1, FUNC_LANE_OS, &at);
		assert_int_equal(at.next_sequence, i);
		assert_int_equal(at.count, 8 * i);
		assert_int_equal(at.until, 800);
		func_run_count(f.run, &c);
		assert_int_equal(c.events, 8 * i);
		assert_int_equal(c.lost[LOSS_RING], 3 * i);
	}
	/* Whose it was is gone, not where it is. */
	memory_get_func_rows(f.memory)[1].tid++;
	calls_die(&f);
	assert_int_equal(func_run_left(f.run), CALLS_ROWS - 2);
	func_run_get_place(f.run, 1, FUNC_LANE_OS, &at);
	assert_int_equal(at.next_sequence, 6);
	assert_int_equal(calls_thread(&f, 0, 1), 2);
	calls_end(&f);
}

/* A run that died before it was described, and one of another boot. */
static void test_no_resume(void **state)
{
	static uint8_t copy[1 << 20] __attribute__((aligned(4096)));
	struct memory_mark mark;
	struct spool_run run = { .kind = SPOOL_CALLS };
	struct spool_entry e;
	struct calls f;
	uint32_t i;
	size_t len;

	(void)state;
	calls_begin(&f, POLICY_OLDEST);
	assert_int_equal(func_run_stop(f.run, NULL), 0);
	assert_int_equal(spool_start_run(f.spool, &run, NULL), 0);
	calls_die(&f);
	assert_false(func_run_is_open(f.run));
	assert_false(spool_get_current(f.spool, SPOOL_CALLS, &run));
	assert_int_equal(func_run_start(f.run, &calls_clock, NULL), 0);
	calls_process(&f, 100);
	calls_put(&f, calls_block(calls_thread(&f, 0, 0), FUNC_LANE_CALLS, 5, 1, 2));
	for (i = 0; i < 2; i++) {
		mark = memory_get_head(f.memory)->mark[i];
		mark.boot[0] ^= 0xff;
		mark.crc = memory_crc(&mark, offsetof(struct memory_mark, crc));
		memory_get_head(f.memory)->mark[i] = mark;
	}
	len = memory_get_len(f.memory);
	assert_true(len <= sizeof(copy));
	memcpy(copy, memory_get_head(f.memory), len);
	calls_end(&f);
	assert_int_equal(memory_adopt(&f.memory, copy, len, NULL), 0);
	calls_open(&f, POLICY_OLDEST);
	assert_false(func_run_is_open(f.run));
	/* What it had is still sent. */
	for (i = 0; spool_peek(f.spool, &e); spool_sent(f.spool))
		i += stream_is_func(e.stream);
	assert_int_equal(i, 1);
	calls_end(&f);
}

/* A new connection gets everything again but descriptions that the collector has. */
static void test_reconnection(void **state)
{
	struct calls_seen s = { 0 }, again = { 0 };
	struct calls f;
	uint32_t i;

	(void)state;
	calls_begin(&f, POLICY_OLDEST);
	calls_process(&f, 100);
	calls_thread(&f, 0, 0);
	for (i = 0; i < 10; i++)
		calls_put(&f, calls_block(0, FUNC_LANE_CALLS, 2, i, i + 1));
	spool_rewind(f.spool);
	calls_collect(&f, calls_number(&f), &s);
	assert_int_equal(s.metas, 3);
	assert_int_equal(s.streams[0].blocks, 10);
	spool_rewind(f.spool);
	spool_resume(f.spool, calls_number(&f), STREAM_META, s.next_meta - 1);
	spool_resume(f.spool, calls_number(&f), STREAM_FUNC(0), 5);
	calls_collect(&f, calls_number(&f), &again);
	assert_int_equal(again.metas, 1);
	assert_int_equal(again.streams[0].blocks, 10);
	assert_int_equal(spool_ack(f.spool, again.n_frames), 0);
	assert_int_equal(spool_used(f.spool), 0);
	calls_end(&f);
}

static int start_events(struct calls *f, struct spool_run *run, uint32_t ring_kib)
{
	*run = (struct spool_run){ .config = { .given = 1U << CONFIG_RING, .ring_kib = ring_kib } };
	return spool_start_run(f->spool, run, NULL);
}

static int end_events(struct calls *f, const struct spool_run *run)
{
	static uint8_t body[(CALLS_CPUS + 2) * SPOOL_END_ROW] = { 0 };
	struct spool_entry e = {
		.kind = FRAME_RUN_END, .run = run->number, .bytes = body, .len = sizeof(body)
	};

	return spool_put(f->spool, &e, SPOOL_META, NULL);
}

static int describe_events(struct calls *f, const struct spool_run *run)
{
	static uint8_t body[8];
	struct spool_entry e = { .kind = FRAME_BLOCK,
				 .run = run->number,
				 .key = true,
				 .bytes = body,
				 .len = sizeof(body) };

	return spool_put(f->spool, &e, SPOOL_META, &(struct checkpoint){ .next_sequence = 1 });
}

/* However full it is, both runs can end, whichever is the first. */
static void test_full(void **state)
{
	struct func_run_place before, after;
	struct spool_run events;
	struct calls_seen s;
	struct calls f;
	uint32_t i, n, order, number;

	(void)state;
	for (order = 0; order < 3; order++) {
		memset(&s, 0, sizeof(s));
		calls_begin(&f, POLICY_OLDEST);
		number = calls_number(&f);
		assert_int_equal(start_events(&f, &events, 4), 0);
		calls_process(&f, 100);
		for (i = 0; i < CALLS_ROWS; i++)
			calls_thread(&f, 0, i);
		for (n = 0;
		     !calls_put(&f, calls_block(n % CALLS_ROWS, n / CALLS_ROWS % 2, 700, n, n));
		     n++)
			;
		assert_true(n > 200);
		func_run_get_place(f.run, n % CALLS_ROWS, n / CALLS_ROWS % 2, &before);
		assert_int_equal(calls_put(&f, calls_block(n % CALLS_ROWS, n / CALLS_ROWS % 2, 700,
							   n, n)),
				 -ENOSPC);
		func_run_get_place(f.run, n % CALLS_ROWS, n / CALLS_ROWS % 2, &after);
		assert_memory_equal(&before, &after, sizeof(after));
		while (!func_run_put_sync(f.run, 1, 1, NULL))
			; /* nor do descriptions take what is kept */
		if (order == 1)
			assert_int_equal(end_events(&f, &events), 0);
		while (order == 2 && !describe_events(&f, &events))
			; /* nor do those of the other run */
		assert_int_equal(func_run_stop(f.run, NULL), 0);
		if (order == 0)
			assert_int_equal(end_events(&f, &events), 0);
		assert_int_equal(func_run_start(f.run, &calls_clock, NULL), -ENOSPC);
		assert_int_equal(calls_number(&f), number);
		calls_collect(&f, number, &s);
		assert_int_equal(s.ends, 1);
		assert_int_equal(s.end_rows, 1 + CALLS_STREAMS);
		calls_end(&f);
	}
}

/* The latest blocks and all that describes them. */
static void test_flight(void **state)
{
	struct func_meta_mapping map = { .to = 1, .path = { "/bin/long/name/of/a/file", 24 } };
	struct calls_seen s = { 0 };
	struct calls f;
	uint32_t i, number, n = 0;

	(void)state;
	calls_begin(&f, POLICY_FLIGHT);
	number = calls_number(&f);
	calls_process(&f, 100);
	for (i = 0; i < 3; i++)
		calls_thread(&f, 0, i);
	for (i = 0; i < 6000; i++) {
		assert_int_equal(calls_put(&f, calls_block(i % 3, 0, 300, i, i + 5)), 0);
		assert_int_equal(func_run_put_sync(f.run, i, i, NULL), 0);
	}
	calls_close(&f);
	calls_open(&f, POLICY_FLIGHT);
	assert_int_equal(func_run_stop(f.run, NULL), 0);
	calls_collect(&f, number, &s);
	assert_int_equal(s.ends, 1);
	assert_int_equal(s.processes, 1);
	assert_int_equal(s.threads, 3);
	assert_true(s.items & 1U << META_FUNC_CLOCK);
	assert_int_equal(s.streams[0].next_sequence, 2000);
	assert_true(s.streams[0].blocks > 20 && s.streams[0].blocks < 2000);
	/* Descriptions alone do not fill it. */
	assert_int_equal(func_run_start(f.run, &calls_clock, NULL), 0);
	calls_process(&f, 100);
	calls_thread(&f, 0, 0);
	while (!func_run_put_mapping(f.run, 0, &map, NULL))
		map.from = n++;
	assert_true(n > 100);
	assert_true(spool_size(f.spool) - f.spool->func_meta > spool_size(f.spool) / 2);
	for (i = 0; i < 1000; i++)
		assert_int_equal(calls_put(&f, calls_block(0, 0, 300, i, i + 5)), 0);
	calls_end(&f);
}

/* Runs of both kinds, begun and ended in turn: each keeps what is its own. */
static void test_two_runs(void **state)
{
	struct checkpoint at = { .position = 4711, .next_sequence = 1 }, found;
	struct spool_run run, events;
	uint32_t numbers[MESSAGE_RUNS_MAX], i;
	struct calls f;

	(void)state;
	calls_begin(&f, POLICY_OLDEST);
	for (i = 0; i < 20; i++) {
		assert_int_equal(start_events(&f, &events, 100 + i), 0);
		spool_set_described(f.spool, SPOOL_EVENTS);
		spool_save(f.spool, 1, &at);
		calls_process(&f, 100);
		if (i % 3 == 0) {
			assert_int_equal(func_run_stop(f.run, NULL), 0);
			assert_int_equal(func_run_start(f.run, &calls_clock, NULL), 0);
		}
		calls_die(&f);
		assert_true(func_run_is_open(f.run));
		assert_true(spool_get_current(f.spool, SPOOL_EVENTS, &run));
		assert_int_equal(run.number, events.number);
		assert_int_equal(run.config.ring_kib, 100 + i);
		spool_get_checkpoint(f.spool, 1, &found);
		assert_int_equal(found.position, 4711);
		assert_int_equal(end_events(&f, &events), 0);
		assert_false(spool_get_current(f.spool, SPOOL_EVENTS, &run));
		assert_true(spool_get_current(f.spool, SPOOL_CALLS, &run));
		assert_true(spool_get_runs(f.spool, numbers) >= 2);
		while (spool_peek(f.spool, &(struct spool_entry){ 0 }))
			spool_sent(f.spool);
		assert_int_equal(spool_ack(f.spool, f.spool->sent), 0);
		assert_int_equal(spool_get_runs(f.spool, numbers), 1);
	}
	calls_end(&f);
}

/* While nobody fetches them, runs of calls leave room for those of events. */
static void test_many_runs(void **state)
{
	struct spool_run events;
	struct calls f;
	uint32_t n = 1;
	int r = 0;

	(void)state;
	calls_begin(&f, POLICY_OLDEST);
	for (; func_run_stop(f.run, NULL) == 0; n++) {
		r = func_run_start(f.run, &calls_clock, NULL);
		if (r < 0)
			break;
	}
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(n, MESSAGE_RUNS_MAX - 2);
	assert_int_equal(start_events(&f, &events, 4), 0);
	calls_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resume),	  cmocka_unit_test(test_lost_rows),
		cmocka_unit_test(test_no_resume), cmocka_unit_test(test_reconnection),
		cmocka_unit_test(test_full),	  cmocka_unit_test(test_flight),
		cmocka_unit_test(test_two_runs),  cmocka_unit_test(test_many_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
