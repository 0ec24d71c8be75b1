/* SPDX-License-Identifier: MIT */
/*
 * spool: order, acknowledgement, resuming, both policies, and what another boot finds.
 *
 * Blocks are real ones, but without events: what counts here is which of them come out, in which
 * order, and what a collector could do with them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/agent/memory.h"
#include "device/agent/spool_ring.h"

#define CPUS 2U
#define SPOOL (64U << 10)

struct fixture {
	struct memory *memory;
	struct spool *spool;
	struct spool_run run;
	uint64_t next[CPUS + 1]; /* sequences */
};

static void reopen(struct fixture *f, uint8_t policy)
{
	struct spool_options so = { .memory = f->memory, .policy = policy };

	spool_free(f->spool);
	f->spool = NULL;
	assert_int_equal(spool_open(&f->spool, &so, NULL), 0);
}

static void begin(struct fixture *f, uint8_t policy)
{
	struct memory_options mo = { .cpus = CPUS, .slots = 2, .spool_bytes = SPOOL };

	memset(f, 0, sizeof(*f));
	assert_int_equal(memory_open(&f->memory, &mo, NULL), 0);
	reopen(f, policy);
	f->run.config.given = 1U << CONFIG_RING;
	f->run.config.ring_kib = 77;
	f->run.id.bytes[3] = 9;
	assert_int_equal(spool_start_run(f->spool, &f->run, NULL), 0);
	spool_set_described(f->spool, SPOOL_EVENTS);
}

static void end(struct fixture *f)
{
	spool_free(f->spool);
	memory_free(f->memory);
}

static int put(struct fixture *f, uint32_t stream, bool key, uint32_t payload)
{
	static uint8_t room[BLOCK_HEADER_MAX + 20000];
	struct block b = { .codec = stream ? CODEC_SCHED : CODEC_META,
			   .flags = key ? BLOCK_KEY : 0,
			   .stream = stream,
			   .sequence = f->next[stream],
			   .payload_len = payload };
	struct spool_entry e = { .kind = FRAME_BLOCK,
				 .run = f->run.number,
				 .stream = stream,
				 .key = key,
				 .sequence = f->next[stream] };
	struct checkpoint at = { .next_sequence = f->next[stream] + 1,
				 .position = 1000 + f->next[stream] };
	int r;

	memset(room, 0x40 + (int)stream, sizeof(room));
	e.bytes = block_encode(&b, room + BLOCK_HEADER_MAX, &e.len);
	r = spool_put(f->spool, &e, stream ? stream - 1 : UINT32_MAX, &at);
	if (!r)
		f->next[stream]++;
	return r;
}

static int put_end(struct fixture *f)
{
	static const uint8_t body[] = { 1, 1, 5, 5 };
	struct spool_entry e = {
		.kind = FRAME_RUN_END, .run = f->run.number, .bytes = body, .len = sizeof(body)
	};

	return spool_put(f->spool, &e, UINT32_MAX, NULL);
}

static void expect(struct fixture *f, uint32_t stream, uint64_t sequence)
{
	struct spool_entry e;
	struct block b;

	assert_true(spool_peek(f->spool, &e));
	assert_int_equal(e.kind, FRAME_BLOCK);
	assert_int_equal(e.stream, stream);
	assert_int_equal(e.sequence, sequence);
	assert_int_equal(block_decode(e.bytes, e.len, &b), WIRE_OK);
	assert_int_equal(b.stream, stream);
	assert_int_equal(b.sequence, sequence);
	spool_sent(f->spool);
}

static void expect_nothing(struct fixture *f)
{
	struct spool_entry e;

	assert_false(spool_peek(f->spool, &e));
}

static void test_order_and_ack(void **state)
{
	struct fixture f;
	uint64_t i;

	(void)state;
	begin(&f, POLICY_OLDEST);
	for (i = 0; i < 6; i++)
		assert_int_equal(put(&f, 1, i == 0, 100), 0);
	spool_rewind(f.spool);
	for (i = 0; i < 6; i++)
		expect(&f, 1, i);
	expect_nothing(&f);
	assert_int_equal(spool_unsent(f.spool), 0);
	assert_int_equal(spool_ack(f.spool, 7), -EPROTO);
	assert_int_equal(spool_ack(f.spool, 4), 0);
	assert_int_equal(spool_ack(f.spool, 2), 0);
	/* The connection breaks, and the fifth arrived although its ACK did not. */
	spool_rewind(f.spool);
	spool_resume(f.spool, f.run.number, 1, 5);
	expect(&f, 1, 5);
	expect_nothing(&f);
	assert_int_equal(spool_ack(f.spool, 1), 0);
	assert_int_equal(spool_used(f.spool), 0);
	end(&f);
}

/* A collector that has lost its store gets nothing that it could not decode. */
static void test_orphans_after_a_wiped_collector(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, POLICY_OLDEST);
	put(&f, 1, true, 50);
	put(&f, 1, false, 50);
	put(&f, 2, true, 50);
	spool_rewind(f.spool);
	expect(&f, 1, 0);
	assert_int_equal(spool_ack(f.spool, 1), 0);
	put(&f, 1, true, 50);
	put(&f, 1, false, 50);
	spool_rewind(f.spool);
	expect(&f, 2, 0);
	expect(&f, 1, 2);
	expect(&f, 1, 3);
	expect_nothing(&f);
	assert_int_equal(spool_ack(f.spool, 3), 0);
	assert_int_equal(spool_used(f.spool), 0);
	end(&f);
}

static void test_full_keeps_the_oldest(void **state)
{
	struct fixture f;
	struct spool_run run;
	uint64_t used, i, n = 0;

	(void)state;
	begin(&f, POLICY_OLDEST);
	while (!put(&f, 1, n == 0, 1000))
		n++;
	assert_true(n > 20);
	used = spool_used(f.spool);
	assert_false(spool_has_room(f.spool, 1000));
	assert_int_equal(put(&f, 2, true, 1000), -ENOSPC);
	assert_int_equal(spool_used(f.spool), used);
	/* What ends a run still has room, on every CPU. */
	for (i = 0; i < 2 * CPUS; i++)
		assert_int_equal(put(&f, 1 + i % CPUS, true, 0), 0);
	assert_true(spool_get_current(f.spool, SPOOL_EVENTS, &run));
	assert_int_equal(put_end(&f), 0);
	assert_false(spool_get_current(f.spool, SPOOL_EVENTS, &run));
	spool_rewind(f.spool);
	for (i = 0; i < n; i++)
		expect(&f, 1, i);
	assert_int_equal(spool_ack(f.spool, n / 2), 0);
	assert_true(spool_has_room(f.spool, 1000));
	end(&f);
}

/* The latest are there, whole segments only, and the description survives all of it. */
static void test_flight(void **state)
{
	struct fixture f;
	struct spool_entry e;
	uint64_t i, last = 0, first = 0, last_meta = 0;
	uint32_t n = 0, metas = 0, ends = 0;

	(void)state;
	begin(&f, POLICY_FLIGHT);
	for (i = 0; i < 3; i++)
		assert_int_equal(put(&f, 0, true, 300), 0);
	for (i = 0; i < 1000; i++)
		assert_int_equal(put(&f, 1, i % 7 == 0, 500 + (i * 37) % 900), 0);
	f.next[0] = f.spool->runs[0].next_meta;
	assert_int_equal(put_end(&f), 0);
	assert_true(spool_used(f.spool) <= SPOOL);
	reopen(&f, POLICY_FLIGHT);
	spool_rewind(f.spool);
	while (spool_peek(f.spool, &e)) {
		if (e.kind == FRAME_RUN_END) {
			ends++;
		} else if (e.stream == 0) {
			assert_true(!metas++ || e.sequence > last_meta);
			last_meta = e.sequence;
		} else {
			if (!n++)
				first = e.sequence;
			else
				assert_int_equal(e.sequence, last + 1);
			last = e.sequence;
		}
		spool_sent(f.spool);
	}
	assert_int_equal(metas, 3);
	assert_int_equal(ends, 1);
	assert_true(n > 20);
	assert_int_equal(first % 7, 0);
	assert_int_equal(last, 999);
	assert_int_equal(spool_ack(f.spool, n + metas + ends), 0);
	assert_int_equal(spool_used(f.spool), 0);
	end(&f);
}

/* Sent, then dropped to make room, then acknowledged: no frame is counted twice. */
static void test_flight_while_sending(void **state)
{
	struct fixture f;
	uint64_t sent = 0, acked = 0, i;
	struct spool_entry e;

	(void)state;
	begin(&f, POLICY_FLIGHT);
	spool_rewind(f.spool);
	for (i = 0; i < 3000; i++) {
		assert_int_equal(put(&f, 1 + i % 2, i % 10 < 2, 700), 0);
		if (i % 3 && spool_peek(f.spool, &e)) {
			spool_sent(f.spool);
			sent++;
		}
		if (i % 1000 > 900 && acked < sent)
			assert_int_equal(spool_ack(f.spool, ++acked), 0);
	}
	while (spool_peek(f.spool, &e)) {
		spool_sent(f.spool);
		sent++;
	}
	assert_int_equal(spool_ack(f.spool, sent + 1), -EPROTO);
	assert_int_equal(spool_ack(f.spool, sent), 0);
	assert_int_equal(spool_used(f.spool), 0);
	end(&f);
}

static void test_runs(void **state)
{
	struct fixture f;
	struct spool_run run;
	uint32_t numbers[MESSAGE_RUNS_MAX], i;

	(void)state;
	begin(&f, POLICY_OLDEST);
	reopen(&f, POLICY_OLDEST);
	assert_true(spool_get_current(f.spool, SPOOL_EVENTS, &run));
	assert_true(run.is_described);
	assert_int_equal(run.config.ring_kib, 77);
	assert_int_equal(run.id.bytes[3], 9);
	for (i = 1; i < MESSAGE_RUNS_MAX; i++) {
		put(&f, 1, true, 10);
		assert_int_equal(spool_start_run(f.spool, &f.run, NULL), 0);
		memset(f.next, 0, sizeof(f.next));
	}
	assert_int_equal(spool_get_runs(f.spool, numbers), MESSAGE_RUNS_MAX);
	for (i = 0; i < MESSAGE_RUNS_MAX; i++)
		assert_int_equal(numbers[i], 1 + i);
	put(&f, 1, true, 10);
	assert_int_equal(spool_start_run(f.spool, &f.run, NULL), -ENOSPC);
	spool_rewind(f.spool);
	expect(&f, 1, 0);
	assert_int_equal(spool_ack(f.spool, 1), 0);
	assert_int_equal(spool_start_run(f.spool, &f.run, NULL), 0);
	assert_int_equal(f.run.number, MESSAGE_RUNS_MAX + 1);
	end(&f);
}

/* Random work against a plain list of what must be there; reopened at random. */
static void test_random(void **state)
{
	struct fixture f;
	uint64_t acked = 0, sent = 0, x = 88172645463325252ULL, put_n = 0;
	struct checkpoint at;
	int i;

	(void)state;
	begin(&f, POLICY_OLDEST);
	spool_rewind(f.spool);
	for (i = 0; i < 20000; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		if (x % 4 < 2) {
			put_n += !put(&f, 1, put_n == 0, (uint32_t)(x >> 20) % 3000);
		} else if (x % 4 == 2 && sent < put_n) {
			expect(&f, 1, sent++);
		} else if (sent > acked) {
			/* Frames count from the rewind. */
			uint64_t n = 1 + (x >> 30) % (sent - acked);

			acked += n;
			assert_int_equal(spool_ack(f.spool, f.spool->gone + n), 0);
		}
		if (x >> 40 & 63)
			continue;
		reopen(&f, POLICY_OLDEST);
		spool_rewind(f.spool);
		spool_resume(f.spool, f.run.number, 1, acked);
		sent = acked;
		spool_get_checkpoint(f.spool, 0, &at);
		assert_int_equal(at.next_sequence, put_n);
		assert_int_equal(at.position, put_n ? 999 + put_n : 0);
	}
	assert_true(put_n > 1000 && acked > 1000);
	end(&f);
}

/* As if the power had failed: another boot, a mark that is old, and a hole among the entries. */
static void lose_power(struct fixture *f, struct memory_mark mark)
{
	struct memory_head *h = memory_get_head(f->memory);

	mark.boot[0] ^= 0xff;
	mark.crc = memory_crc(&mark, offsetof(struct memory_mark, crc));
	h->mark[0] = h->mark[1] = mark;
}

static void readopt(struct fixture *f, uint8_t *copy)
{
	size_t len = memory_get_len(f->memory);

	memcpy(copy, memory_get_head(f->memory), len);
	end(f);
	f->spool = NULL;
	assert_int_equal(memory_adopt(&f->memory, copy, len, NULL), 0);
	assert_false(memory_is_same_boot(f->memory));
	reopen(f, POLICY_OLDEST);
}

static void test_power(void **state)
{
	static uint8_t copy[1 << 20] __attribute__((aligned(4096)));
	struct fixture f;
	struct memory_mark early;
	struct spool_run run;
	struct checkpoint at;
	uint64_t hole;
	int i;

	(void)state;
	begin(&f, POLICY_OLDEST);
	for (i = 0; i < 5; i++)
		put(&f, 1, i == 0, 400);
	early = *memory_get_mark(f.memory);
	hole = early.head;
	for (i = 0; i < 5; i++)
		put(&f, 1, i == 2, 400);
	/* The sixth never reached the disk; the mark is from before it. */
	memset(f.spool->ring + hole, 0, ring_bytes(400 + 20));
	lose_power(&f, early);
	readopt(&f, copy);
	assert_false(spool_get_current(f.spool, SPOOL_EVENTS, &run));
	spool_get_checkpoint(f.spool, 0, &at);
	spool_rewind(f.spool);
	for (i = 0; i < 5; i++)
		expect(&f, 1, (uint64_t)i);
	/* The sixth is gone, the seventh is no use without it, the eighth is a key block. */
	for (i = 7; i < 10; i++)
		expect(&f, 1, (uint64_t)i);
	expect_nothing(&f);
	assert_int_equal(spool_ack(f.spool, 8), 0);
	assert_int_equal(spool_used(f.spool), 0);
	assert_int_equal(spool_start_run(f.spool, &f.run, NULL), 0);
	assert_int_equal(f.run.number, 2);
	end(&f);
}

/* The mark is so old that the ring has gone round since. */
static void test_power_with_a_stale_mark(void **state)
{
	static uint8_t copy[1 << 20] __attribute__((aligned(4096)));
	struct fixture f;
	struct memory_mark early;
	struct spool_entry e;
	uint64_t n = 0, first = 0, last = 0, i;

	(void)state;
	begin(&f, POLICY_OLDEST);
	put(&f, 1, true, 400);
	early = *memory_get_mark(f.memory);
	for (i = 1; i < 500; i++) {
		spool_rewind(f.spool);
		spool_resume(f.spool, f.run.number, 1, i > 30 ? i - 30 : 0);
		spool_peek(f.spool, &e);
		assert_int_equal(put(&f, 1, true, 400 + i % 300), 0);
	}
	lose_power(&f, early);
	readopt(&f, copy);
	spool_rewind(f.spool);
	while (spool_peek(f.spool, &e)) {
		assert_true(!n || e.sequence > last);
		first = n++ ? first : e.sequence;
		last = e.sequence;
		spool_sent(f.spool);
	}
	/* All that was not acknowledged, and no more than a ring of what was. */
	assert_int_equal(last, 499);
	assert_true(first <= 469 && first > 300);
	assert_int_equal(n, last - first + 1);
	end(&f);
}

/*
 * The collector may have had descriptions 2 and 3, which never reached the disk: their numbers are not given to others. Only the
 * state beside the ring knows them. A flight recorder numbers a description anew when it moves it.
 */
static void test_power_keeps_numbers_of_descriptions(void **state)
{
	static uint8_t copy[1 << 20] __attribute__((aligned(4096)));
	struct spool_entry e = { 0 };
	struct fixture f;
	uint64_t kept;
	int i;

	(void)state;
	begin(&f, POLICY_FLIGHT);
	for (i = 0; i < 2; i++)
		assert_int_equal(put(&f, 0, true, 100), 0);
	kept = memory_get_mark(f.memory)->head;
	for (i = 0; i < 2; i++)
		assert_int_equal(put(&f, 0, true, 100), 0);
	memset(f.spool->ring + kept, 0, memory_get_mark(f.memory)->head - kept);
	lose_power(&f, *memory_get_mark(f.memory));
	readopt(&f, copy);
	spool_set_policy(f.spool, POLICY_FLIGHT);
	assert_int_equal(spool_start_run(f.spool, &f.run, NULL), 0);
	f.next[1] = 0;
	for (i = 0; i < 100; i++) /* more than a ring of them */
		assert_int_equal(put(&f, 1, true, 1000), 0);
	spool_rewind(f.spool);
	for (i = 0; i < 2; i++) {
		while (spool_peek(f.spool, &e) && e.stream != STREAM_META)
			spool_sent(f.spool);
		assert_int_equal(e.run, 1);
		assert_in_range(e.sequence, 4 + i, 1000);
		spool_sent(f.spool);
	}
	end(&f);
}

/* What the checksums have read; see __wrap_memory_crc(). */
static uint64_t summed;

uint32_t __real_memory_crc(const void *bytes, size_t len);
uint32_t __wrap_memory_crc(const void *bytes, size_t len);

uint32_t __wrap_memory_crc(const void *bytes, size_t len)
{
	summed += len;
	return __real_memory_crc(bytes, len);
}

/* A file in which every few bytes seem to be the head of an entry as long as can be: the bodies would be read a hundred times. */
static void test_recovery_of_a_hostile_file(void **state)
{
	struct memory_mark mark;
	struct fixture f;
	uint32_t at;

	(void)state;
	begin(&f, POLICY_OLDEST);
	mark = *memory_get_mark(f.memory);
	mark.head = SPOOL;
	mark.crc = memory_crc(&mark, offsetof(struct memory_mark, crc));
	memory_get_head(f.memory)->mark[0] = memory_get_head(f.memory)->mark[1] = mark;
	memset(f.spool->ring, 0x55, SPOOL);
	for (at = 0; at + 2 * sizeof(struct ring_head) < SPOOL / 2;
	     at += sizeof(struct ring_head)) {
		struct ring_head *h = (struct ring_head *)(f.spool->ring + at);

		*h = (struct ring_head){ .magic = RING_MAGIC,
					 .at = at,
					 .kind = FRAME_BLOCK,
					 .run = f.run.number,
					 .stream = 1,
					 .len = SPOOL / 2 - 64 };
		h->crc = ring_head_crc(h);
	}
	summed = 0;
	reopen(&f, POLICY_OLDEST);
	assert_in_range(summed, 8 * SPOOL,
			10 * SPOOL); /* of bodies 8 times the ring, and the heads */
	assert_int_equal(spool_used(f.spool), 0);
	end(&f);
}

/* What was put is on the disk within the period, and nothing is written when there is nothing new. */
static void test_sync(void **state)
{
	struct spool_options so = { .policy = POLICY_OLDEST, .sync_ms = 1000 };
	struct fixture f;
	struct error e = ERROR_INIT;

	(void)state;
	begin(&f, POLICY_OLDEST);
	spool_free(f.spool);
	f.spool = NULL;
	so.memory = f.memory;
	assert_int_equal(spool_open(&f.spool, &so, NULL), 0);
	assert_int_equal(put(&f, 1, true, 100), 0);
	assert_int_equal(spool_sync(f.spool, 5000, &e), 1);
	assert_int_equal(spool_sync(f.spool, 7000, &e), 0);
	assert_int_equal(put(&f, 1, false, 100), 0);
	assert_int_equal(spool_sync(f.spool, 7100, &e), 1); /* the last time is long ago */
	assert_int_equal(put(&f, 1, false, 100), 0);
	assert_int_equal(spool_sync(f.spool, 8099, &e), 0);
	assert_int_equal(spool_sync(f.spool, 8100, &e), 1);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_power_keeps_numbers_of_descriptions),
		cmocka_unit_test(test_recovery_of_a_hostile_file),
		cmocka_unit_test(test_sync),
		cmocka_unit_test(test_order_and_ack),
		cmocka_unit_test(test_orphans_after_a_wiped_collector),
		cmocka_unit_test(test_full_keeps_the_oldest),
		cmocka_unit_test(test_flight),
		cmocka_unit_test(test_flight_while_sending),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_power_with_a_stale_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
