/* SPDX-License-Identifier: MIT */
/* recorder: the arithmetic of counts, the rules of flushing and of segments, full spools, ends. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/agent/memory.h"
#include "device/agent/recorder.h"
#include "tools/agent_double.h"
#include "tools/agent_fake.h"
#include "tools/agent_ledger.h"
#include "wire/meta.h"

struct fixture {
	struct memory *memory;
	struct spool *spool;
	struct recorder *recorder;
	struct fake_source source;
	struct message_config config;
	struct ledger ledger;
	uint64_t now;
	uint64_t ends;
};

static void open_recorder(struct fixture *f, uint8_t policy)
{
	struct spool_options so = { .memory = f->memory, .policy = policy };
	struct recorder_options ro = { .device = "board", .cpus = FAKE_CPUS };

	assert_int_equal(spool_open(&f->spool, &so, NULL), 0);
	ro.spool = f->spool;
	assert_int_equal(recorder_new(&f->recorder, &ro, NULL), 0);
	spool_rewind(f->spool);
}

static struct recorder_run run_of(struct fixture *f)
{
	return (struct recorder_run){ .config = &f->config,
				      .source = &f->source.base,
				      .origin = ORIGIN_TRACEFS,
				      .resolution_shift = 3 };
}

static void tick(struct fixture *f, uint64_t ms)
{
	f->now += ms;
	recorder_tick(f->recorder, f->now);
}

static void begin(struct fixture *f, uint32_t spool_bytes, uint8_t policy)
{
	struct memory_options mo = { .cpus = FAKE_CPUS, .slots = 2, .spool_bytes = spool_bytes };
	struct recorder_run run;

	memset(f, 0, sizeof(*f));
	assert_int_equal(ledger_init(&f->ledger, true), 0);
	assert_int_equal(memory_open(&f->memory, &mo, NULL), 0);
	open_recorder(f, policy);
	fake_init(&f->source, 100);
	run = run_of(f);
	assert_int_equal(recorder_start(f->recorder, &run, NULL), 0);
	f->now = 1000000000;
	tick(f, 0);
}

static void end(struct fixture *f)
{
	assert_false(f->source.went_back);
	recorder_free(f->recorder);
	spool_free(f->spool);
	memory_free(f->memory);
	ledger_done(&f->ledger);
}

/* All that the spool has, to the ledger; returns the number of frames. */
static uint64_t collect(struct fixture *f, bool ack)
{
	struct spool_entry e;
	uint64_t n = 0;

	for (; spool_peek(f->spool, &e); n++) {
		if (e.kind == FRAME_RUN_END)
			ledger_take_end(&f->ledger, e.bytes, e.len);
		else
			ledger_take_block(&f->ledger, e.bytes, e.len);
		spool_sent(f->spool);
	}
	f->ends += n;
	if (ack)
		assert_int_equal(spool_ack(f->spool, f->ends), 0);
	if (f->ledger.wrong)
		print_message("%s: stream %llu, block %llu, %llu\n", f->ledger.wrong,
			      (unsigned long long)f->ledger.wrong_at[0],
			      (unsigned long long)f->ledger.wrong_at[1],
			      (unsigned long long)f->ledger.wrong_at[2]);
	assert_null(f->ledger.wrong);
	return n;
}

static void drain(struct fixture *f)
{
	uint32_t cpu;

	for (cpu = 0; cpu < FAKE_CPUS; cpu++)
		f->source.base.ops->drain(&f->source.base, cpu, f->recorder, NULL);
}

static void check_end(struct fixture *f)
{
	struct message_status status = { .state = 0 };
	uint64_t all = 0, ring = 0;
	uint32_t cpu;

	recorder_get_status(f->recorder, &status);
	for (cpu = 0; cpu < FAKE_CPUS; cpu++) {
		const struct ledger_stream *s = &f->ledger.streams[1 + cpu];

		assert_int_equal(s->seen, f->source.next[cpu]);
		assert_int_equal(s->found + ledger_lost(s), s->seen);
		assert_int_equal(s->lost[LOSS_RING], fake_lost_below(cpu, s->seen));
		all += s->seen;
		ring += s->lost[LOSS_RING];
	}
	assert_int_equal(status.events, all);
	assert_int_equal(status.lost[LOSS_RING], ring);
	assert_true(f->ledger.has_ended);
}

static void test_counts(void **state)
{
	struct fixture f;
	int i;

	(void)state;
	begin(&f, 1 << 20, POLICY_OLDEST);
	for (i = 0; i < 2000; i++) {
		f.source.burst = 1 + (uint32_t)i * 7 % 300;
		drain(&f);
		tick(&f, 100);
		collect(&f, true);
	}
	assert_int_equal(recorder_stop(f.recorder, NULL), 0);
	collect(&f, true);
	check_end(&f);
	/* A segment is not longer than it should be, and not much shorter. */
	assert_true(f.ledger.streams[1].keys >= 5);
	assert_true(f.ledger.streams[1].keys < 40);
	end(&f);
}

static void test_description(void **state)
{
	static const uint8_t all[] = { META_DEVICE, META_KERNEL, META_MACHINE, META_ORIGIN,
				       META_CPUS,   META_CLOCK,	 META_DIALECT, META_AGENT };
	struct fixture f;
	struct spool_entry e;
	struct block b;
	struct meta_reader r = { .type = 0 };
	size_t i;

	(void)state;
	agent_double_items = 3;
	begin(&f, 1 << 20, POLICY_OLDEST);
	assert_true(spool_peek(f.spool, &e));
	assert_int_equal(block_decode(e.bytes, e.len, &b), WIRE_OK);
	assert_int_equal(b.codec, CODEC_META);
	assert_int_equal(b.flags, BLOCK_KEY);
	meta_reader_init(&r, b.payload, b.payload_len);
	for (i = 0; i < sizeof(all); i++) {
		assert_int_equal(meta_reader_next(&r), WIRE_OK);
		assert_int_equal(r.type, all[i]);
		if (r.type == META_DEVICE)
			assert_memory_equal(r.item.at, "board", 5);
		if (r.type == META_CLOCK)
			assert_int_equal(reader_varint(&r.item), 8);
		if (r.type == META_AGENT)
			assert_int_equal(reader_varint(&r.item), (uint64_t)getpid());
	}
	assert_int_equal(meta_reader_next(&r), WIRE_MORE);
	assert_int_equal(collect(&f, true), 1 + 3);
	agent_double_items = 1;
	end(&f);
}

/* A block waits for one tick, one with little in it for two; a timer may be a little early. */
static void test_flush(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1 << 20, POLICY_OLDEST);
	collect(&f, true);
	f.source.burst = 5;
	drain(&f);
	tick(&f, 99);
	assert_int_equal(collect(&f, true), 0);
	tick(&f, 99);
	assert_int_equal(collect(&f, true), FAKE_CPUS);
	f.source.burst = 90; /* nothing is lost below 100 */
	drain(&f);
	tick(&f, 50);
	assert_int_equal(collect(&f, true), 0);
	tick(&f, 50);
	assert_int_equal(collect(&f, true), FAKE_CPUS);
	tick(&f, 100);
	assert_int_equal(collect(&f, true), 0);
	end(&f);
}

/* Losses with no event behind them are told all the same; a count and an unknown one apart. */
static void test_losses_alone(void **state)
{
	struct fixture f;
	struct ledger_stream *s;

	(void)state;
	begin(&f, 1 << 20, POLICY_OLDEST);
	s = &f.ledger.streams[1];
	f.source.burst = 10;
	drain(&f);
	recorder_lose(f.recorder, 0, LOSS_BUFFER, 7, 0);
	recorder_lose(f.recorder, 0, LOSS_RING, LOSS_UNKNOWN, 0);
	recorder_lose(f.recorder, 0, LOSS_BUFFER, 3, 0);
	tick(&f, 100);
	tick(&f, 100);
	collect(&f, true);
	assert_int_equal(s->lost[LOSS_BUFFER], 10);
	assert_int_equal(s->unknown, 1);
	assert_int_equal(s->empty, 2);
	assert_int_equal(s->seen, 20);
	/* The same with events behind them: the events begin where the block ends that tells of the loss. */
	f.source.next[0] = 20;
	recorder_lose(f.recorder, 0, LOSS_RING, LOSS_UNKNOWN, 0);
	recorder_lose(f.recorder, 0, LOSS_RING, 0, 0);
	drain(&f);
	tick(&f, 300);
	collect(&f, true);
	assert_int_equal(s->unknown, 2);
	assert_int_equal(s->empty, 3);
	recorder_lose(f.recorder, 0, LOSS_BUFFER, 1, 0);
	recorder_lose(f.recorder, 0, LOSS_BUFFER, LOSS_UNKNOWN, 0);
	f.source.next[0] = 31;
	drain(&f);
	tick(&f, 300);
	collect(&f, true);
	assert_int_equal(s->unknown, 3);
	assert_int_equal(s->empty, 5);
	assert_int_equal(s->lost[LOSS_BUFFER], 11);
	assert_int_equal(s->seen, 41);
	end(&f);
}

/* A loss before the very first event of a stream: an empty key block. */
static void test_loss_first(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1 << 20, POLICY_OLDEST);
	recorder_lose(f.recorder, 0, LOSS_BUFFER, 7, 0);
	tick(&f, 200);
	tick(&f, 1);
	collect(&f, true);
	assert_int_equal(f.ledger.streams[1].keys, 1);
	f.source.next[0] = 7;
	drain(&f);
	tick(&f, 200);
	collect(&f, true);
	assert_int_equal(f.ledger.streams[1].found, 100);
	end(&f);
}

/* The link is down: what has no room is counted, in its place; later it goes on. */
static void test_full(void **state)
{
	struct fixture f;
	int round, i;

	(void)state;
	begin(&f, 128 << 10, POLICY_OLDEST);
	for (round = 0; round < 4; round++) {
		/* In the last rounds the blocks of all CPUs are begun while there is room for one. */
		for (i = 0; i < (round < 2 ? 300 : 20); i++) {
			f.source.burst = round < 2 ? 100 : 3000;
			drain(&f);
			tick(&f, 100);
		}
		collect(&f, true);
	}
	for (i = 0; i < 300; i++) {
		drain(&f);
		tick(&f, 100);
	}
	/* It ends while it is full. */
	assert_int_equal(recorder_stop(f.recorder, NULL), 0);
	collect(&f, true);
	check_end(&f);
	assert_true(f.ledger.streams[1].lost[LOSS_SPOOL] > 1000);
	assert_int_equal(f.ledger.streams[1].missing, 0);
	assert_int_equal(spool_used(f.spool), 0);
	end(&f);
}

/* The latest are kept; the next key block, or the end, says what the others were. */
static void test_flight(void **state)
{
	struct fixture f;
	uint32_t cpu;
	int i;

	(void)state;
	begin(&f, 128 << 10, POLICY_FLIGHT);
	for (i = 0; i < 3000; i++) {
		drain(&f);
		tick(&f, 100);
	}
	assert_int_equal(recorder_stop(f.recorder, NULL), 0);
	collect(&f, true);
	for (cpu = 0; cpu < FAKE_CPUS; cpu++) {
		const struct ledger_stream *s = &f.ledger.streams[1 + cpu];

		assert_int_equal(s->seen, f.source.next[cpu]);
		assert_int_equal(s->found + ledger_lost(s), s->seen);
		assert_true(s->missing > 1000);
	}
	/* Whole segments of 64 KiB: not every CPU has one, but some do. */
	assert_true(f.ledger.streams[0].blocks >= 2);
	assert_int_equal(spool_used(f.spool), 0);
	end(&f);
}

/* A new agent takes the events again that were in no block. */
static void test_resume(void **state)
{
	struct fixture f;
	struct recorder_run run;
	int i, j;

	(void)state;
	begin(&f, 1 << 20, POLICY_OLDEST);
	for (i = 0; i < 50; i++) {
		for (j = 0; j < 20; j++) {
			drain(&f);
			tick(&f, 60);
		}
		collect(&f, i % 3);
		recorder_free(f.recorder);
		spool_free(f.spool);
		open_recorder(&f, POLICY_OLDEST);
		f.ends = 0;
		fake_init(&f.source, 100);
		run = run_of(&f);
		assert_int_equal(recorder_resume(f.recorder, &run, NULL), 0);
	}
	assert_int_equal(recorder_stop(f.recorder, NULL), 0);
	collect(&f, true);
	check_end(&f);
	run = run_of(&f);
	assert_int_equal(recorder_resume(f.recorder, &run, NULL), -ENOENT);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),	   cmocka_unit_test(test_description),
		cmocka_unit_test(test_flush),	   cmocka_unit_test(test_losses_alone),
		cmocka_unit_test(test_loss_first), cmocka_unit_test(test_full),
		cmocka_unit_test(test_flight),	   cmocka_unit_test(test_resume),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
