/* SPDX-License-Identifier: MIT */
/*
 * func_run: descriptions, blocks of several threads, losses, the end; what another agent finds, both
 * policies, and a run of events beside it.
 *
 * What comes out of the spool is held against the rules of docs/format/wire.md, 3.3 and 3.4, as a
 * collector would: payloads mean nothing here.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/agent/func_run.h"
#include "device/agent/memory.h"
#include "device/agent/spool_ring.h"

#define CPUS 2U
#define ROWS 6U
#define SPOOL (256U << 10)
#define STREAMS (FUNC_LANES * ROWS)

static const struct meta_clock clock_mono = {
	.name = "mono", .name_len = 4, .mult = 1, .print_digits = 9
};

struct fixture {
	struct memory *memory;
	struct spool *spool;
	struct func_run *run;
};

/* What a collector knows of a stream. */
struct stream {
	uint64_t next_sequence, seen, until, blocks;
	uint64_t lost[LOSS_CAUSES];
};

struct seen {
	struct stream streams[STREAMS];
	uint64_t next_meta;
	uint32_t ends, end_rows, metas, n_frames;
	uint32_t items; /* 1 << enum meta_item */
	uint32_t processes, threads, mappings;
};

static void open_it(struct fixture *f, uint8_t policy)
{
	struct spool_options so = { .memory = f->memory, .policy = policy };
	struct func_run_options fo = { .device = "box" };

	assert_int_equal(spool_open(&f->spool, &so, NULL), 0);
	fo.spool = f->spool;
	assert_int_equal(func_run_new(&f->run, &fo, NULL), 0);
}

static void close_it(struct fixture *f)
{
	func_run_free(f->run);
	spool_free(f->spool);
	f->run = NULL;
	f->spool = NULL;
}

static void begin(struct fixture *f, uint8_t policy)
{
	struct memory_options mo = {
		.cpus = CPUS, .slots = 1, .spool_bytes = SPOOL, .func_rows = ROWS
	};

	memset(f, 0, sizeof(*f));
	assert_int_equal(memory_open(&f->memory, &mo, NULL), 0);
	open_it(f, policy);
	assert_false(func_run_is_open(f->run));
	assert_int_equal(func_run_start(f->run, &clock_mono, NULL), 0);
	assert_true(func_run_is_open(f->run));
	assert_int_equal(func_run_left(f->run), ROWS);
}

static void end(struct fixture *f)
{
	close_it(f);
	memory_free(f->memory);
}

/* The agent dies, and the next one takes up what it left. */
static void die(struct fixture *f)
{
	close_it(f);
	open_it(f, POLICY_OLDEST);
}

static uint32_t take_process(struct fixture *f, int32_t pid)
{
	struct func_run_process p = { .start_tick = 1000 + (uint64_t)pid,
				      .about = { .pid = pid,
						 .parent = 1,
						 .number = 77,
						 .command = { "worker", 6 },
						 .exe = { "/bin/worker", 11 } } };

	assert_int_equal(func_run_take_process(f->run, &p, NULL), 0);
	return p.about.number;
}

static int take_thread(struct fixture *f, uint32_t process, uint32_t stream, uint32_t *ret_row)
{
	struct func_run_thread t = { .process = process,
				     .stream = stream,
				     .tid = 50 + (int32_t)stream,
				     .comm = "loop",
				     .base = 9000 + stream };

	return func_run_take_thread(f->run, &t, ret_row, NULL);
}

static uint32_t get_thread(struct fixture *f, uint32_t process, uint32_t stream)
{
	uint32_t row = UINT32_MAX;

	assert_int_equal(take_thread(f, process, stream, &row), 0);
	return row;
}

static int put(struct fixture *f, struct func_run_block b)
{
	static uint8_t room[BLOCK_HEADER_MAX + FUNC_RUN_PAYLOAD_MOST + 1];

	b.payload = room + BLOCK_HEADER_MAX;
	memset(room, 0xee, sizeof(room));
	return func_run_put(f->run, &b);
}

static struct func_run_block block_of(uint32_t row, enum func_run_lane lane, uint32_t events,
				      uint64_t first, uint64_t until)
{
	return (struct func_run_block){
		.row = row,
		.lane = lane,
		.until = until,
		.block = { .events = events, .first_tick = first, .payload_len = 1 + events },
	};
}

/* --- a collector --- */

static void see_meta(struct seen *s, const struct block *b)
{
	struct meta_reader m;

	assert_int_equal(b->codec, CODEC_META);
	if (b->sequence < s->next_meta)
		return; /* it came again */
	s->next_meta = b->sequence + 1;
	s->metas++;
	meta_reader_init(&m, b->payload, b->payload_len);
	while (meta_reader_next(&m) == WIRE_OK) {
		s->items |= 1U << m.type;
		s->processes += m.type == META_PROCESSES;
		s->threads += m.type == META_THREADS;
		s->mappings += m.type == META_MAPPINGS;
	}
	assert_false(m.bytes.bad);
}

static void see_block(struct seen *s, const struct block *b)
{
	struct stream *t = &s->streams[b->stream - STREAM_FUNC_FIRST];
	uint32_t i;

	assert_true(b->stream - STREAM_FUNC_FIRST < STREAMS);
	assert_int_equal(b->codec, CODEC_FUNC);
	assert_int_equal(b->flags & BLOCK_KEY, BLOCK_KEY);
	if (b->sequence < t->next_sequence)
		return; /* it came again */
	assert_true(b->before >= t->seen + block_told(b));
	if (b->sequence == t->next_sequence)
		assert_int_equal(b->before, t->seen + block_told(b));
	if (!b->events)
		assert_int_equal(b->first_tick, t->until);
	assert_true(b->first_tick + b->ticks >= t->until);
	for (i = 0; i < LOSS_CAUSES; i++)
		t->lost[i] += b->lost[i] == LOSS_UNKNOWN ? 0 : b->lost[i];
	t->next_sequence = b->sequence + 1;
	t->seen = b->before + b->events;
	t->until = b->first_tick + b->ticks;
	t->blocks++;
}

static void see_end(struct seen *s, const struct spool_entry *e)
{
	struct message_stream_end row;
	struct message_end m;
	struct byte_reader r;
	uint64_t n;

	/* Read here: streams of calls are beyond what an old reader takes. */
	reader_init(&r, e->bytes, e->len);
	memset(&m, 0, sizeof(m));
	for (n = reader_varint(&r); n; n--) {
		row.stream = (uint32_t)reader_varint(&r);
		row.next_sequence = reader_varint(&r);
		row.events = reader_varint(&r);
		s->end_rows++;
		if (row.stream == STREAM_META) {
			assert_true(row.next_sequence >= s->next_meta);
			continue;
		}
		row.stream -= STREAM_FUNC_FIRST;
		assert_true(row.stream < STREAMS && row.next_sequence);
		assert_int_equal(row.next_sequence, s->streams[row.stream].next_sequence);
		assert_int_equal(row.events, s->streams[row.stream].seen);
	}
	assert_true(!r.bad && r.at == r.end);
	s->ends++;
}

/* All that would be sent; of the run with this number. */
static void collect(struct fixture *f, uint32_t number, struct seen *s)
{
	struct spool_entry e;
	struct block b;

	for (; spool_peek(f->spool, &e); spool_sent(f->spool), s->n_frames++) {
		if (e.run != number)
			continue;
		if (e.kind == FRAME_RUN_END) {
			see_end(s, &e);
			continue;
		}
		assert_int_equal(block_decode(e.bytes, e.len, &b), WIRE_OK);
		assert_int_equal(b.stream, e.stream);
		assert_int_equal(b.sequence, e.sequence);
		if (b.stream == STREAM_META)
			see_meta(s, &b);
		else
			see_block(s, &b);
	}
}

static uint32_t number_of(const struct fixture *f)
{
	return f->spool->mark.func >> 2;
}

static uint32_t streams_with_blocks(const struct seen *s)
{
	uint32_t i, n = 0;

	for (i = 0; i < STREAMS; i++)
		n += s->streams[i].blocks > 0;
	return n;
}

/* --- tests --- */

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
	struct meta_clock c = clock_mono;
	struct spool_entry e;
	struct meta_reader m;
	struct fixture f;
	struct block b;

	(void)state;
	begin(&f, POLICY_OLDEST);
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
	end(&f);
}

static void test_who(void **state)
{
	static const char path[2000] = "/lib/libx.so";
	struct func_meta_mapping map = {
		.from = 4096, .to = 8192, .until = UINT32_MAX, .path = { path, sizeof(path) }
	};
	struct func_run_thread t = { .process = 1, .stream = 0 };
	struct seen s = { 0 };
	struct fixture f;
	uint32_t row;

	(void)state;
	begin(&f, POLICY_OLDEST);
	assert_int_equal(take_process(&f, 100), 0);
	assert_int_equal(take_process(&f, 200), 1);
	assert_int_equal(take_process(&f, 100), 0); /* said again */
	assert_int_equal(take_thread(&f, 2, 0, &row), -EINVAL);
	assert_int_equal(get_thread(&f, 0, 0), 0);
	assert_int_equal(get_thread(&f, 1, 0), 1);
	assert_int_equal(get_thread(&f, 1, 5), 2);
	assert_int_equal(func_run_take_thread(f.run, &t, &row, NULL), 0);
	assert_int_equal(row, 1);
	assert_int_equal(t.base, 9000);
	assert_int_equal(func_run_put_mapping(f.run, 1, &map, NULL), 0);
	assert_int_equal(func_run_put_sync(f.run, 5, 6, NULL), 0);
	collect(&f, number_of(&f), &s);
	assert_int_equal(s.processes, 2);
	assert_int_equal(s.threads, 3);
	assert_int_equal(s.mappings, 1);
	assert_true(s.items & 1U << META_FUNC_SYNCS);
	end(&f);
}

/* Both lanes of several threads, losses of all kinds before them, and the end. */
static void test_blocks(void **state)
{
	struct func_run_counts c;
	struct func_run_place at;
	struct seen s = { 0 };
	struct fixture f;
	uint64_t x = 88172645463325252ULL, lost = 0, events = 0;
	uint32_t i, number;

	(void)state;
	begin(&f, POLICY_OLDEST);
	number = number_of(&f);
	take_process(&f, 100);
	for (i = 0; i < 4; i++)
		assert_int_equal(get_thread(&f, 0, i), i);
	for (i = 0; i < 400; i++) {
		struct func_run_block b;

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		b = block_of((uint32_t)x % 3, x >> 8 & 1, (uint32_t)(x >> 20) % 90, 1000 * i,
			     1000 * i + (x >> 30) % 2000);
		if (x >> 40 & 1)
			b.block.lost[LOSS_SPOOL] = 1 + (x >> 41) % 50;
		if (x >> 50 & 1)
			b.block.lost[LOSS_RING] = LOSS_UNKNOWN;
		assert_int_equal(put(&f, b), 0);
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
	collect(&f, number, &s);
	assert_int_equal(s.ends, 1);
	assert_int_equal(streams_with_blocks(&s), 6);
	assert_int_equal(s.end_rows, 7);
	assert_int_equal(s.streams[5].next_sequence, at.next_sequence);
	assert_int_equal(s.streams[5].seen, at.count);
	assert_int_equal(s.streams[5].until, at.until);
	end(&f);
}

/* Ticks that run backwards, losses with no event behind them, blocks that no spool should get. */
static void test_odd_blocks(void **state)
{
	struct func_run_block b = block_of(0, FUNC_LANE_CALLS, 3, 5000, 6000);
	struct seen s = { 0 };
	struct fixture f;
	uint32_t number;

	(void)state;
	begin(&f, POLICY_OLDEST);
	number = number_of(&f);
	take_process(&f, 100);
	get_thread(&f, 0, 0);
	assert_int_equal(put(&f, b), 0);
	b = block_of(0, FUNC_LANE_CALLS, 2, 4000, 4500);
	assert_int_equal(put(&f, b), 0);
	b = block_of(0, FUNC_LANE_CALLS, 0, 0, 0);
	b.block.payload_len = 0;
	b.block.lost[LOSS_BUFFER] = 40;
	assert_int_equal(put(&f, b), 0);
	b.lane = FUNC_LANE_OS;
	assert_int_equal(put(&f, b), 0);
	b.row = 1;
	assert_int_equal(put(&f, b), -EINVAL);
	b.row = 0;
	b.block.payload_len = FUNC_RUN_PAYLOAD_MOST + 1;
	assert_int_equal(put(&f, b), -EMSGSIZE);
	assert_int_equal(func_run_stop(f.run, NULL), 0);
	assert_int_equal(put(&f, b), -EINVAL);
	collect(&f, number, &s);
	assert_int_equal(s.ends, 1);
	assert_int_equal(s.streams[0].seen, 45);
	assert_int_equal(s.streams[0].until, 6000);
	assert_int_equal(s.streams[0].lost[LOSS_BUFFER], 40);
	assert_int_equal(s.streams[1].seen, 40);
	end(&f);
}

static void test_rotation(void **state)
{
	struct seen s = { 0 };
	struct fixture f;
	uint32_t i, row, round, first = 0;

	(void)state;
	begin(&f, POLICY_OLDEST);
	for (round = 0; round < 3; round++) {
		take_process(&f, 100);
		for (i = 0; i < ROWS; i++)
			assert_int_equal(get_thread(&f, 0, 10 * round + i), i);
		assert_int_equal(func_run_left(f.run), 0);
		assert_int_equal(take_thread(&f, 0, 99, &row), -ENOBUFS);
		assert_int_equal(get_thread(&f, 0, 10 * round), 0);
		for (i = 0; i < ROWS; i++)
			put(&f, block_of(i, FUNC_LANE_CALLS, 1, 5, 5));
		first = first ? first : number_of(&f);
		assert_int_equal(func_run_stop(f.run, NULL), 0);
		assert_int_equal(func_run_start(f.run, &clock_mono, NULL), 0);
		assert_int_equal(func_run_left(f.run), ROWS);
	}
	collect(&f, first, &s);
	assert_int_equal(s.ends, 1);
	assert_int_equal(s.end_rows, 1 + ROWS);
	end(&f);
}

/* More processes than rows are not taken: each would need at least one. */
static void test_many_processes(void **state)
{
	struct func_run_process p = { .start_tick = 1 };
	struct fixture f;
	int32_t i;

	(void)state;
	begin(&f, POLICY_OLDEST);
	for (i = 0; i < (int32_t)ROWS; i++)
		assert_int_equal(take_process(&f, i), i);
	p.about.pid = i;
	assert_int_equal(func_run_take_process(f.run, &p, NULL), -ENOBUFS);
	assert_int_equal(take_process(&f, 2), 2);
	end(&f);
}

/* An agent after another, with nothing acknowledged, all of it, and some. */
static void test_resume(void **state)
{
	struct func_run_place at;
	struct seen s = { 0 };
	struct fixture f;
	uint64_t frames = 0;
	uint32_t i, number;

	(void)state;
	begin(&f, POLICY_OLDEST);
	number = number_of(&f);
	take_process(&f, 100);
	take_process(&f, 200); /* without a thread: it is not found again */
	get_thread(&f, 0, 3);
	get_thread(&f, 0, 4);
	for (i = 0; i < 30; i++) {
		assert_int_equal(put(&f, block_of(i % 2, i % 3 % 2, 7, 100 * i, 100 * i + 9)), 0);
		if (i % 5 == 4) {
			collect(&f, number, &s);
			frames = f.spool->sent;
			assert_int_equal(spool_ack(f.spool, i % 2 ? frames : frames / 2), 0);
		}
		die(&f);
		assert_true(func_run_is_open(f.run));
		assert_int_equal(func_run_left(f.run), ROWS - 2);
		assert_int_equal(take_process(&f, 100), 0);
		assert_int_equal(get_thread(&f, 0, 4), 1);
	}
	assert_true(take_process(&f, 200) > 1);
	func_run_get_place(f.run, 1, FUNC_LANE_CALLS, &at);
	assert_true(at.next_sequence && at.count == 7 * at.next_sequence);
	assert_int_equal(func_run_stop(f.run, NULL), 0);
	collect(&f, number, &s);
	assert_int_equal(s.ends, 1);
	assert_int_equal(s.end_rows, 5);
	for (i = 0; i < 4; i++)
		assert_int_equal(s.streams[i].seen, 7 * s.streams[i].next_sequence);
	die(&f);
	assert_false(func_run_is_open(f.run));
	end(&f);
}

/* The row was not written any more, or only half: the ring knows better. */
static void test_lost_rows(void **state)
{
	struct memory_func_row before[ROWS], *rows;
	struct func_run_block b = block_of(1, FUNC_LANE_OS, 5, 700, 800);
	struct func_run_counts c;
	struct func_run_place at;
	struct fixture f;
	uint32_t i;

	(void)state;
	begin(&f, POLICY_OLDEST);
	take_process(&f, 100);
	get_thread(&f, 0, 0);
	get_thread(&f, 0, 1);
	b.block.lost[LOSS_RING] = 3;
	for (i = 1; i <= 6; i++) {
		rows = memory_get_func_rows(f.memory);
		memcpy(before, rows, sizeof(before));
		assert_int_equal(put(&f, b), 0);
		if (i % 3 == 0)
			memcpy(rows, before, sizeof(before));
		if (i % 3 == 1)
			memset(&rows[1].places[rows[1].places[1].number >
					       rows[1].places[0].number].until,
			       0x55, 20);
		die(&f);
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
	die(&f);
	assert_int_equal(func_run_left(f.run), ROWS - 2);
	func_run_get_place(f.run, 1, FUNC_LANE_OS, &at);
	assert_int_equal(at.next_sequence, 6);
	assert_int_equal(get_thread(&f, 0, 1), 2);
	end(&f);
}

/* A run that died before it was described, and one of another boot. */
static void test_no_resume(void **state)
{
	static uint8_t copy[1 << 20] __attribute__((aligned(4096)));
	struct memory_mark mark;
	struct spool_run run = { .kind = SPOOL_CALLS };
	struct spool_entry e;
	struct fixture f;
	uint32_t i;
	size_t len;

	(void)state;
	begin(&f, POLICY_OLDEST);
	assert_int_equal(func_run_stop(f.run, NULL), 0);
	assert_int_equal(spool_start_run(f.spool, &run, NULL), 0);
	die(&f);
	assert_false(func_run_is_open(f.run));
	assert_false(spool_get_current(f.spool, SPOOL_CALLS, &run));
	assert_int_equal(func_run_start(f.run, &clock_mono, NULL), 0);
	take_process(&f, 100);
	put(&f, block_of(get_thread(&f, 0, 0), FUNC_LANE_CALLS, 5, 1, 2));
	for (i = 0; i < 2; i++) {
		mark = memory_get_head(f.memory)->mark[i];
		mark.boot[0] ^= 0xff;
		mark.crc = memory_crc(&mark, offsetof(struct memory_mark, crc));
		memory_get_head(f.memory)->mark[i] = mark;
	}
	len = memory_get_len(f.memory);
	assert_true(len <= sizeof(copy));
	memcpy(copy, memory_get_head(f.memory), len);
	end(&f);
	assert_int_equal(memory_adopt(&f.memory, copy, len, NULL), 0);
	open_it(&f, POLICY_OLDEST);
	assert_false(func_run_is_open(f.run));
	/* What it had is still sent. */
	for (i = 0; spool_peek(f.spool, &e); spool_sent(f.spool))
		i += stream_is_func(e.stream);
	assert_int_equal(i, 1);
	end(&f);
}

/* A new connection gets everything again but descriptions that the collector has. */
static void test_reconnection(void **state)
{
	struct seen s = { 0 }, again = { 0 };
	struct fixture f;
	uint32_t i;

	(void)state;
	begin(&f, POLICY_OLDEST);
	take_process(&f, 100);
	get_thread(&f, 0, 0);
	for (i = 0; i < 10; i++)
		put(&f, block_of(0, FUNC_LANE_CALLS, 2, i, i + 1));
	spool_rewind(f.spool);
	collect(&f, number_of(&f), &s);
	assert_int_equal(s.metas, 3);
	assert_int_equal(s.streams[0].blocks, 10);
	spool_rewind(f.spool);
	spool_resume(f.spool, number_of(&f), STREAM_META, s.next_meta - 1);
	spool_resume(f.spool, number_of(&f), STREAM_FUNC(0), 5);
	collect(&f, number_of(&f), &again);
	assert_int_equal(again.metas, 1);
	assert_int_equal(again.streams[0].blocks, 10);
	assert_int_equal(spool_ack(f.spool, again.n_frames), 0);
	assert_int_equal(spool_used(f.spool), 0);
	end(&f);
}

static int start_events(struct fixture *f, struct spool_run *run, uint32_t ring_kib)
{
	*run = (struct spool_run){ .config = { .given = 1U << CONFIG_RING, .ring_kib = ring_kib } };
	return spool_start_run(f->spool, run, NULL);
}

static int end_events(struct fixture *f, const struct spool_run *run)
{
	static uint8_t body[(CPUS + 2) * SPOOL_END_ROW] = { 0 };
	struct spool_entry e = {
		.kind = FRAME_RUN_END, .run = run->number, .bytes = body, .len = sizeof(body)
	};

	return spool_put(f->spool, &e, SPOOL_META, NULL);
}

/* However full it is, both runs can end, whichever is the first. */
static void test_full(void **state)
{
	struct func_run_place before, after;
	struct spool_run events;
	struct seen s;
	struct fixture f;
	uint32_t i, n, order, number;

	(void)state;
	for (order = 0; order < 2; order++) {
		memset(&s, 0, sizeof(s));
		begin(&f, POLICY_OLDEST);
		number = number_of(&f);
		assert_int_equal(start_events(&f, &events, 4), 0);
		take_process(&f, 100);
		for (i = 0; i < ROWS; i++)
			get_thread(&f, 0, i);
		for (n = 0; !put(&f, block_of(n % ROWS, n / ROWS % 2, 700, n, n)); n++)
			;
		assert_true(n > 200);
		func_run_get_place(f.run, n % ROWS, n / ROWS % 2, &before);
		assert_int_equal(put(&f, block_of(n % ROWS, n / ROWS % 2, 700, n, n)), -ENOSPC);
		func_run_get_place(f.run, n % ROWS, n / ROWS % 2, &after);
		assert_memory_equal(&before, &after, sizeof(after));
		while (!func_run_put_sync(f.run, 1, 1, NULL))
			; /* nor do descriptions take what is kept */
		if (order)
			assert_int_equal(end_events(&f, &events), 0);
		assert_int_equal(func_run_stop(f.run, NULL), 0);
		if (!order)
			assert_int_equal(end_events(&f, &events), 0);
		collect(&f, number, &s);
		assert_int_equal(s.ends, 1);
		assert_int_equal(s.end_rows, 1 + STREAMS);
		end(&f);
	}
}

/* The latest blocks and all that describes them. */
static void test_flight(void **state)
{
	struct func_meta_mapping map = { .to = 1, .path = { "/bin/long/name/of/a/file", 24 } };
	struct seen s = { 0 };
	struct fixture f;
	uint32_t i, number, n = 0;

	(void)state;
	begin(&f, POLICY_FLIGHT);
	number = number_of(&f);
	take_process(&f, 100);
	for (i = 0; i < 3; i++)
		get_thread(&f, 0, i);
	for (i = 0; i < 6000; i++) {
		assert_int_equal(put(&f, block_of(i % 3, 0, 300, i, i + 5)), 0);
		assert_int_equal(func_run_put_sync(f.run, i, i, NULL), 0);
	}
	close_it(&f);
	open_it(&f, POLICY_FLIGHT);
	assert_int_equal(func_run_stop(f.run, NULL), 0);
	collect(&f, number, &s);
	assert_int_equal(s.ends, 1);
	assert_int_equal(s.processes, 1);
	assert_int_equal(s.threads, 3);
	assert_true(s.items & 1U << META_FUNC_CLOCK);
	assert_int_equal(s.streams[0].next_sequence, 2000);
	assert_true(s.streams[0].blocks > 20 && s.streams[0].blocks < 2000);
	/* Descriptions alone do not fill it. */
	assert_int_equal(func_run_start(f.run, &clock_mono, NULL), 0);
	take_process(&f, 100);
	get_thread(&f, 0, 0);
	while (!func_run_put_mapping(f.run, 0, &map, NULL))
		map.from = n++;
	assert_true(n > 100);
	assert_true(spool_size(f.spool) - f.spool->func_meta > spool_size(f.spool) / 2);
	for (i = 0; i < 1000; i++)
		assert_int_equal(put(&f, block_of(0, 0, 300, i, i + 5)), 0);
	end(&f);
}

/* Runs of both kinds, begun and ended in turn: each keeps what is its own. */
static void test_two_runs(void **state)
{
	struct checkpoint at = { .position = 4711, .next_sequence = 1 }, found;
	struct spool_run run, events;
	uint32_t numbers[MESSAGE_RUNS_MAX], i;
	struct fixture f;

	(void)state;
	begin(&f, POLICY_OLDEST);
	for (i = 0; i < 20; i++) {
		assert_int_equal(start_events(&f, &events, 100 + i), 0);
		spool_set_described(f.spool, SPOOL_EVENTS);
		spool_save(f.spool, 1, &at);
		take_process(&f, 100);
		if (i % 3 == 0) {
			assert_int_equal(func_run_stop(f.run, NULL), 0);
			assert_int_equal(func_run_start(f.run, &clock_mono, NULL), 0);
		}
		die(&f);
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
	end(&f);
}

/* While nobody fetches them, runs of calls leave room for those of events. */
static void test_many_runs(void **state)
{
	struct spool_run events;
	struct fixture f;
	uint32_t n = 1;
	int r;

	(void)state;
	begin(&f, POLICY_OLDEST);
	for (; func_run_stop(f.run, NULL) == 0; n++) {
		r = func_run_start(f.run, &clock_mono, NULL);
		if (r < 0)
			break;
	}
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(n, MESSAGE_RUNS_MAX - 2);
	assert_int_equal(start_events(&f, &events, 4), 0);
	end(&f);
}

/* A file without rows: as those are that were made before there were runs of calls. */
static void test_no_rows(void **state)
{
	struct memory_options mo = { .cpus = CPUS, .slots = 1, .spool_bytes = SPOOL };
	struct fixture f = { 0 };

	(void)state;
	assert_int_equal(memory_open(&f.memory, &mo, NULL), 0);
	open_it(&f, POLICY_OLDEST);
	assert_int_equal(func_run_left(f.run), 0);
	assert_int_equal(func_run_start(f.run, &clock_mono, NULL), -EOPNOTSUPP);
	assert_false(func_run_is_open(f.run));
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),	     cmocka_unit_test(test_description),
		cmocka_unit_test(test_who),	     cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_odd_blocks),   cmocka_unit_test(test_rotation),
		cmocka_unit_test(test_many_processes), cmocka_unit_test(test_resume),
		cmocka_unit_test(test_lost_rows),    cmocka_unit_test(test_no_resume),
		cmocka_unit_test(test_reconnection), cmocka_unit_test(test_full),
		cmocka_unit_test(test_flight),	     cmocka_unit_test(test_two_runs),
		cmocka_unit_test(test_many_runs),    cmocka_unit_test(test_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
