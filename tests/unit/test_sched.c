/* SPDX-License-Identifier: MIT */
/*
 * sched: ten million random events come back as they went in, blocks cut anywhere, and no damaged
 * payload does harm. The generator runs twice from the same seed, so nothing is kept but a block.
 *
 * KISEKI_TEST_EVENTS is the number of events per style, for where each of them takes long: under
 * sanitizers and emulators. Every event is compared, however many there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/sched_random.h"
#include "wire/sched_decode.h"
#include "wire/sched_encode.h"

#define EVENTS_PER_STYLE 2500000U
#define EVENTS_PER_STYLE_MIN 10000U /* fewer would not fill a block in every style */
#define ROOM 65536U

static struct sched_random in, again;
static struct sched_encoder encoder;
static struct sched_decoder decoder;
static uint8_t payload[ROOM];
static struct sched_event event, back;

/* Where blocks and segments end: numbers of the test's own, so that the two generators stay in
 * step. */
static uint32_t below(uint32_t n)
{
	static uint32_t x = 2463534242U;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x % n;
}

static void expect_same(unsigned style, uint32_t n)
{
	sched_random_next(&again, &event);
	if (sched_event_equal(&event, &back))
		return;
	fail_msg("style %u, event %u: kind %u, tick %llu, pid %d, task %d/%d '%.16s', other %d/%d "
		 "'%.16s', state %llx, value %d, extra %u, attr %x/%x, off %d became kind %u, tick "
		 "%llu, pid %d, task %d/%d '%.16s', other %d/%d '%.16s', state %llx, value %d, "
		 "extra "
		 "%u, attr %x/%x, off %d",
		 style, n, event.kind, (unsigned long long)event.tick, event.pid, event.task.pid,
		 event.task.prio, event.task.comm, event.other.pid, event.other.prio,
		 event.other.comm, (unsigned long long)event.state, event.value, event.extra,
		 event.flags, event.preempt_count, event.tick_off_ns, back.kind,
		 (unsigned long long)back.tick, back.pid, back.task.pid, back.task.prio,
		 back.task.comm, back.other.pid, back.other.prio, back.other.comm,
		 (unsigned long long)back.state, back.value, back.extra, back.flags,
		 back.preempt_count, back.tick_off_ns);
}

/* Encodes until the block is full or `most` events are in; the generator's next event is in `event`
 * when it returns, so that no event is asked for twice. */
static uint32_t encode_block(uint32_t most, uint32_t *ret_events)
{
	uint32_t n = 0;

	do {
		enum wire_status status = sched_encode(&encoder, &event);

		if (status == WIRE_FULL)
			break;
		assert_int_equal(status, WIRE_OK);
		assert_true(encoder.rc.pos < ROOM - 16);
		n++;
		sched_random_next(&in, &event);
	} while (n < most);
	*ret_events = n;
	return sched_encoder_end(&encoder);
}

static void round_trip(unsigned style, uint32_t events)
{
	uint32_t done = 0, n, i, len, most;
	struct sched_event pending;
	char filename[SCHED_FILENAME_MAX];
	uint64_t tick;

	sched_random_init(&in, 42 + style, style);
	sched_random_init(&again, 42 + style, style);
	sched_encoder_init(&encoder, 3);
	sched_decoder_init(&decoder, 3);
	sched_random_next(&in, &event);
	while (done < events) {
		if (below(40) == 0) {
			sched_encoder_init(&encoder, 3);
			sched_decoder_init(&decoder, 3);
		}
		tick = event.tick;
		most = 1 + below(below(4) ? 100 : 20000);
		sched_encoder_begin(&encoder, payload, ROOM, tick);
		len = encode_block(most, &n);
		pending = event;
		if (pending.filename_len) {
			memcpy(filename, pending.filename, pending.filename_len);
			pending.filename = filename;
		}
		sched_decoder_begin(&decoder, payload, len, tick);
		for (i = 0; i < n; i++) {
			assert_int_equal(sched_decode(&decoder, &back), WIRE_OK);
			expect_same(style, done + i);
		}
		assert_int_equal(sched_decoder_end(&decoder), WIRE_OK);
		event = pending;
		done += n;
	}
}

static uint32_t events_per_style(void)
{
	const char *text = getenv("KISEKI_TEST_EVENTS");
	unsigned long long n = EVENTS_PER_STYLE;
	char *end;

	if (text) {
		n = strtoull(text, &end, 10);
		if (*end || n < EVENTS_PER_STYLE_MIN || n > UINT32_MAX / 2)
			fail_msg("KISEKI_TEST_EVENTS=%s: not a number from %u", text,
				 EVENTS_PER_STYLE_MIN);
	}
	return (uint32_t)n;
}

static void test_real(void **state)
{
	(void)state;
	round_trip(SCHED_RANDOM_REAL, events_per_style());
}

static void test_broken(void **state)
{
	(void)state;
	round_trip(SCHED_RANDOM_BROKEN, events_per_style());
}

static void test_hostile(void **state)
{
	(void)state;
	round_trip(SCHED_RANDOM_HOSTILE, events_per_style());
}

static void test_idle(void **state)
{
	(void)state;
	round_trip(SCHED_RANDOM_IDLE, events_per_style());
}

/* The budget of a device: STYLE asks for it as a test because it does not depend on the clock. */
static void test_state_size(void **state)
{
	(void)state;
	assert_true(sizeof(struct sched_encoder) <= 192 * 1024);
	print_message("encoder state: %zu bytes\n", sizeof(struct sched_encoder));
}

/* A full block says so and stays as it was: the event goes into the next one. */
static void test_full(void **state)
{
	uint32_t n = 0, len, i;
	uint64_t tick;

	(void)state;
	sched_random_init(&in, 7, SCHED_RANDOM_REAL);
	sched_random_init(&again, 7, SCHED_RANDOM_REAL);
	sched_encoder_init(&encoder, 0);
	sched_random_next(&in, &event);
	tick = event.tick;
	sched_encoder_begin(&encoder, payload, 4096, tick);
	while (sched_encode(&encoder, &event) == WIRE_OK) {
		sched_random_next(&in, &event);
		n++;
	}
	assert_true(n > 100);
	len = sched_encoder_end(&encoder);
	assert_true(len <= 4096);
	sched_decoder_init(&decoder, 0);
	sched_decoder_begin(&decoder, payload, len, tick);
	for (i = 0; i < n; i++) {
		assert_int_equal(sched_decode(&decoder, &back), WIRE_OK);
		expect_same(SCHED_RANDOM_REAL, i);
	}
}

/* Flipped bits: the decoder answers something within bounds; ASan watches. */
static void test_damaged(void **state)
{
	uint32_t n, len, i, round;
	uint64_t tick;

	(void)state;
	for (round = 0; round < 300; round++) {
		sched_random_init(&in, round, round % SCHED_RANDOM_STYLES);
		sched_encoder_init(&encoder, 1);
		sched_decoder_init(&decoder, 1);
		sched_random_next(&in, &event);
		tick = event.tick;
		sched_encoder_begin(&encoder, payload, ROOM, tick);
		len = encode_block(500, &n);
		for (i = 0; i < 3; i++)
			payload[below(len)] ^= (uint8_t)(1U << below(8));
		sched_decoder_begin(&decoder, payload, below(4) ? len : below(len), tick);
		for (i = 0; i < n; i++)
			if (sched_decode(&decoder, &back) != WIRE_OK)
				break;
	}
}

/* Any bytes: it ends, no field is beyond its bounds, and what is left at a block's end makes it none. */
static void test_garbage(void **state)
{
	uint32_t i, k, n, rest = 0;

	(void)state;
	for (i = 0; i < 20000; i++) {
		n = below(120);
		for (k = 0; k < n; k++)
			payload[k] = (uint8_t)(i % 2 ? below(256) : 255 - below(3));
		sched_decoder_init(&decoder, 1);
		sched_decoder_begin(&decoder, payload, n, 7);
		for (k = 0; k < 50 && sched_decode(&decoder, &back) == WIRE_OK; k++) {
			assert_true(back.kind < SCHED_KINDS);
			assert_true(back.filename_len <= SCHED_FILENAME_MAX);
			rest += sched_decoder_end(&decoder) != WIRE_OK;
		}
	}
	assert_true(rest > 0);
}

/* The first bytes of programs' starts with the longest names are others: no name becomes longer than any can be. */
static void test_names(void **state)
{
	static char name[SCHED_FILENAME_MAX];
	struct sched_event exec = { .kind = SCHED_EXEC, .pid = 7, .filename = name };
	uint32_t at, len, i, any, refused = 0;
	uint8_t was;

	(void)state;
	memset(name, 'x', sizeof(name));
	exec.filename_len = sizeof(name);
	sched_encoder_init(&encoder, 1);
	sched_encoder_begin(&encoder, payload, ROOM, 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(sched_encode(&encoder, &exec), WIRE_OK);
		name[i] = '/';
	}
	len = sched_encoder_end(&encoder);
	for (at = 0; at < 40; at++) {
		was = payload[at];
		for (any = 0; any < 256; any += 5) {
			payload[at] = (uint8_t)any;
			sched_decoder_init(&decoder, 1);
			sched_decoder_begin(&decoder, payload, len, 0);
			for (i = 0; i < 2 && sched_decode(&decoder, &back) == WIRE_OK; i++)
				assert_true(back.filename_len <= SCHED_FILENAME_MAX);
			refused += i < 2;
		}
		payload[at] = was;
	}
	assert_true(refused > 0);
}

/* The longest name of a start is taken, whatever its event is packed as; one byte more is damage. */
static void test_longest_name(void **state)
{
	static char name[SCHED_FILENAME_MAX + 1];
	struct sched_event exec = { .kind = SCHED_EXEC, .pid = 7, .filename = name };
	uint32_t len, more, plain;

	(void)state;
	memset(name, 'x', sizeof(name));
	for (plain = 0; plain < 2; plain++)
		for (more = 0; more < 2; more++) {
			exec.task.pid = plain ? 8 : 7;
			exec.filename_len = (uint16_t)(SCHED_FILENAME_MAX + more);
			sched_encoder_init(&encoder, 1);
			sched_encoder_begin(&encoder, payload, ROOM, 0);
			assert_int_equal(sched_encode(&encoder, &exec), WIRE_OK);
			len = sched_encoder_end(&encoder);
			sched_decoder_init(&decoder, 1);
			sched_decoder_begin(&decoder, payload, len, 0);
			assert_int_equal(sched_decode(&decoder, &back),
					 more ? WIRE_CORRUPT : WIRE_OK);
			if (!more)
				assert_true(sched_event_equal(&back, &exec));
		}
}

/* A segment's start makes new only what the segment comes to. So an encoder that has had others
 * before, and whose memory was anything before that, must give the bytes of one that has had
 * none, by whichever hash it looks pids up. */
static void compare_segment(struct sched_encoder *used, uint32_t segment)
{
	static struct sched_encoder fresh;
	static uint8_t wanted[ROOM];
	uint32_t i, len;

	sched_encoder_init(used, segment % 3);
	sched_encoder_set_hash(used, segment % 2 ? segment * 2654435769U : 0);
	sched_encoder_begin(used, payload, ROOM, event.tick);
	memset(&fresh, 0, sizeof(fresh));
	sched_encoder_init(&fresh, segment % 3);
	sched_encoder_begin(&fresh, wanted, ROOM, event.tick);
	for (i = 0; i < 50U << (segment % 8); i++) {
		if (sched_encode(used, &event) != WIRE_OK)
			break;
		assert_int_equal(sched_encode(&fresh, &event), WIRE_OK);
		sched_random_next(&in, &event);
	}
	len = sched_encoder_end(used);
	assert_int_equal(sched_encoder_end(&fresh), len);
	assert_memory_equal(payload, wanted, len);
}

static void test_segments(void **state)
{
	static struct sched_encoder used;
	uint32_t style, segment;

	(void)state;
	memset(&used, 0xa5, sizeof(used));
	for (style = 0; style < SCHED_RANDOM_STYLES; style++) {
		sched_random_init(&in, 7 + style, style);
		sched_random_next(&in, &event);
		for (segment = 0; segment < 40; segment++)
			compare_segment(&used, segment);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments),     cmocka_unit_test(test_real),
		cmocka_unit_test(test_broken),	     cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_idle),	     cmocka_unit_test(test_state_size),
		cmocka_unit_test(test_full),	     cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_garbage),	     cmocka_unit_test(test_names),
		cmocka_unit_test(test_longest_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
