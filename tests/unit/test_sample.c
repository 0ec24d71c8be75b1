/* SPDX-License-Identifier: MIT */
/*
 * sample: codec `sample`: what comes back is what went in, whatever was recorded and wherever blocks end; what it
 * costs; and bytes that no encoder made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/sample_random.h"
#include "wire/sample_decode.h"
#include "wire/sample_encode.h"

#define RECORDS 20000U
#define SEGMENT 8000U /* records, at most */
#define ROOM (64U * 1024)

static struct sample_random source, again;
static struct sample_encoder encoder;
static struct sample_decoder decoder;
static uint8_t bytes[ROOM];
static struct sample_event waiting;

/* A block of up to `most` records into `bytes`, and out again. Returns how many it has. */
static uint32_t pass_block(uint32_t room, uint32_t most, uint64_t tick, uint64_t *ret_bytes)
{
	struct sample_event ev, back;
	uint32_t n = 0, i, len;

	sample_encoder_begin(&encoder, bytes, room, tick);
	while (n < most && sample_encode(&encoder, &waiting) == WIRE_OK) {
		n++;
		sample_random_next(&source, &waiting);
	}
	assert_int_equal(encoder.events, n);
	len = sample_encoder_end(&encoder);
	assert_true(len <= room);
	assert_int_equal(sample_decoder_begin(&decoder, bytes, len, tick), WIRE_OK);
	for (i = 0; i < n; i++) {
		sample_random_next(&again, &ev);
		assert_int_equal(sample_decode(&decoder, &back), WIRE_OK);
		if (!sample_event_equal(&ev, &back))
			fail_msg("record %u of the block, of kind %u, is another", i, ev.kind);
	}
	assert_int_equal(sample_decoder_end(&decoder), WIRE_OK);
	*ret_bytes += len;
	return n;
}

static double round_trip(uint64_t seed, unsigned style, uint32_t room, uint32_t most)
{
	uint32_t left = RECORDS, in_segment = SEGMENT, n;
	uint64_t len = 0, tick = 0;

	sample_random_init(&source, seed, style);
	sample_random_init(&again, seed, style);
	sample_random_next(&source, &waiting);
	while (left) {
		if (in_segment >= SEGMENT) {
			sample_encoder_init(&encoder);
			sample_decoder_init(&decoder);
			tick = waiting.tick;
			in_segment = 0;
		}
		n = pass_block(room, left < most ? left : most, tick, &len);
		assert_true(n);
		left -= n;
		in_segment += n;
		if (!left || in_segment >= SEGMENT)
			assert_memory_equal(&encoder.model, &decoder.model, sizeof(encoder.model));
	}
	return 8.0 * (double)len / RECORDS;
}

static void test_styles(void **state)
{
	unsigned style;

	(void)state;
	for (style = 0; style < SAMPLE_RANDOM_STYLES; style++) {
		print_message("style %u: %.2f bits a record\n", style,
			      round_trip(style + 1, style, ROOM, UINT32_MAX));
		round_trip(style + 10, style, SAMPLE_BLOCK_LEAST, UINT32_MAX);
		round_trip(style + 20, style, ROOM, 1);
		round_trip(style + 30, style, SAMPLE_BLOCK_LEAST + 777, 50);
	}
}

/* What a device sends must not grow unnoticed. */
static void test_budget(void **state)
{
	(void)state;
	assert_true(round_trip(1, SAMPLE_RANDOM_NATIVE, ROOM, UINT32_MAX) < 126.0);
	assert_true(round_trip(1, SAMPLE_RANDOM_VM, ROOM, UINT32_MAX) < 31.0);
	assert_true(sizeof(struct sample_encoder) <= 256U * 1024);
}

/* One record, in a block of its own. */
static void put(const struct sample_event *ev)
{
	struct sample_event back;
	uint32_t len;

	sample_encoder_begin(&encoder, bytes, ROOM, ev->tick);
	assert_int_equal(sample_encode(&encoder, ev), WIRE_OK);
	len = sample_encoder_end(&encoder);
	assert_int_equal(sample_decoder_begin(&decoder, bytes, len, ev->tick), WIRE_OK);
	assert_int_equal(sample_decode(&decoder, &back), WIRE_OK);
	assert_true(sample_event_equal(ev, &back));
}

/* The same place again costs next to nothing, however deep it is. */
static void test_same(void **state)
{
	uint64_t chain[SAMPLE_CHAIN_MAX];
	struct sample_event ev = { .tick = 5,
				   .kind = SAMPLE_TAKEN,
				   .mode = SAMPLE_KERNEL,
				   .weight = 1000000,
				   .n_kernel = 9,
				   .n_user = 11,
				   .chain = chain,
				   .task = { 70, 69, SAMPLE_NO_VCPU, "editor" } };
	uint32_t i;

	(void)state;
	for (i = 0; i < 20; i++)
		chain[i] = 0x40000000 + i * 0x1230ULL;
	sample_encoder_init(&encoder);
	sample_decoder_init(&decoder);
	for (i = 0; i < 60; i++)
		put(&ev);
	sample_encoder_begin(&encoder, bytes, ROOM, 5);
	for (i = 0; i < 400; i++)
		assert_int_equal(sample_encode(&encoder, &ev), WIRE_OK);
	assert_true(sample_encoder_end(&encoder) <= 40); /* bytes: less than a bit each */
}

/* Fields at their ends, and those that a record of its kind does not have. */
static void test_extremes(void **state)
{
	uint64_t chain[SAMPLE_CHAIN_MAX];
	struct sample_event ev = { .kind = SAMPLE_TAKEN, .chain = chain };
	struct sample_task odd = { INT32_MIN, INT32_MAX, INT32_MIN, "0123456789abcde" };
	struct sample_event back;
	uint32_t i, len;

	(void)state;
	odd.comm[15] = 'f';
	odd.comm[3] = 0; /* what stands behind a NUL is carried, too */
	for (i = 0; i < SAMPLE_CHAIN_MAX; i++)
		chain[i] = i & 1 ? UINT64_MAX - i : i;
	sample_encoder_init(&encoder);
	sample_decoder_init(&decoder);
	for (i = 0; i < 2000; i++) {
		ev.kind = (uint8_t)(i % SAMPLE_KINDS);
		ev.tick = i % 3 == 0 ? 0 : i % 3 == 1 ? UINT64_MAX : 1ULL << 63;
		ev.task = ev.next = odd;
		ev.task.tid ^= (int32_t)(i & 3);
		ev.next.vcpu += (int32_t)i;
		ev.value = i & 1 ? UINT64_MAX : 0;
		ev.detail = i & 2 ? UINT64_MAX : 1ULL << 63;
		ev.mode = ev.guest = (uint8_t)i;
		ev.weight = ev.guest_pc = i & 4 ? UINT64_MAX : 0;
		ev.guest_table = ev.reason = UINT64_MAX - i;
		ev.n_kernel = (uint16_t)(i % (SAMPLE_CHAIN_MAX + 1));
		ev.n_user = (uint16_t)(SAMPLE_CHAIN_MAX - ev.n_kernel);
		put(&ev);
	}
	ev = (struct sample_event){ .kind = SAMPLE_ENTRY,
				    .value = 1,
				    .weight = 5,
				    .guest = 31,
				    .guest_pc = 9,
				    .n_user = 1,
				    .chain = chain,
				    .next = odd };
	sample_encoder_begin(&encoder, bytes, ROOM, 0);
	assert_int_equal(sample_encode(&encoder, &ev), WIRE_OK);
	len = sample_encoder_end(&encoder);
	sample_decoder_begin(&decoder, bytes, len, 0);
	assert_int_equal(sample_decode(&decoder, &back), WIRE_OK);
	assert_int_equal(back.value, 1);
	assert_int_equal(back.weight + back.guest + back.guest_pc + back.n_user, 0);
	assert_int_equal(back.next.tid, 0);
}

static void test_refused(void **state)
{
	uint64_t chain[SAMPLE_CHAIN_MAX + 1] = { 0 };
	struct sample_event ev = { .kind = SAMPLE_KINDS, .chain = chain };

	(void)state;
	sample_encoder_init(&encoder);
	sample_encoder_begin(&encoder, bytes, SAMPLE_BLOCK_LEAST, 0);
	assert_int_equal(sample_encode(&encoder, &ev), WIRE_CORRUPT);
	ev.kind = SAMPLE_TAKEN;
	ev.n_kernel = 1;
	ev.n_user = SAMPLE_CHAIN_MAX;
	assert_int_equal(sample_encode(&encoder, &ev), WIRE_CORRUPT);
	ev.n_user = ev.n_kernel = UINT16_MAX;
	assert_int_equal(sample_encode(&encoder, &ev), WIRE_CORRUPT);
	ev.n_kernel = 1;
	ev.n_user = SAMPLE_CHAIN_MAX - 1;
	assert_int_equal(sample_encode(&encoder, &ev), WIRE_OK);
	assert_int_equal(encoder.events, 1);
	sample_encoder_begin(&encoder, bytes, SAMPLE_BLOCK_LEAST - 1, 0);
	assert_int_equal(sample_encode(&encoder, &ev), WIRE_FULL);
	assert_int_equal(sample_encoder_end(&encoder), 0);
}

/* Any bytes: it ends, it stays within bounds, and says that they are corrupt sooner or later. */
static void test_garbage(void **state)
{
	struct sample_event ev;
	uint32_t i, k, n;

	(void)state;
	sample_random_init(&source, 99, SAMPLE_RANDOM_HOSTILE);
	for (i = 0; i < 300; i++) {
		n = sample_random_below(&source, 400);
		for (k = 0; k < n; k++)
			bytes[k] = (uint8_t)sample_random_below(&source, i % 3 ? 256 : 4);
		sample_decoder_init(&decoder);
		assert_int_equal(sample_decode(&decoder, &ev), WIRE_CORRUPT); /* nothing begun */
		assert_int_equal(sample_decoder_begin(&decoder, bytes, n, 7), WIRE_OK);
		for (k = 0; k < 100000; k++) {
			if (sample_decode(&decoder, &ev) != WIRE_OK)
				break;
			assert_true(ev.n_kernel + ev.n_user <= SAMPLE_CHAIN_MAX);
		}
		if (k < 100000) {
			assert_int_equal(sample_decode(&decoder, &ev), WIRE_CORRUPT);
			assert_int_equal(sample_decoder_begin(&decoder, bytes, n, 7), WIRE_CORRUPT);
			assert_int_equal(sample_decoder_end(&decoder), WIRE_CORRUPT);
		}
	}
}

/* Blocks of which a bit is another: wrong records, or none; nothing else. */
static void test_damage(void **state)
{
	struct sample_event ev;
	uint32_t i, k, n, len, bit;
	unsigned style;

	(void)state;
	for (i = 0; i < 400; i++) {
		style = i % SAMPLE_RANDOM_STYLES;
		sample_random_init(&source, i, style);
		sample_encoder_init(&encoder);
		sample_encoder_begin(&encoder, bytes, ROOM, 0);
		for (n = 0; n < 60; n++) {
			sample_random_next(&source, &ev);
			assert_int_equal(sample_encode(&encoder, &ev), WIRE_OK);
		}
		len = sample_encoder_end(&encoder);
		bit = sample_random_below(&source, len * 8);
		bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
		sample_decoder_init(&decoder);
		sample_decoder_begin(&decoder, bytes, len - sample_random_below(&source, 3), 0);
		for (k = 0; k < n && sample_decode(&decoder, &ev) == WIRE_OK; k++)
			assert_true(ev.kind < SAMPLE_KINDS &&
				    ev.n_kernel + ev.n_user <= SAMPLE_CHAIN_MAX);
	}
}

/* A chain that seems to go on without end, and records that go on behind the last byte: bits that are others in the blocks
 * of a function that calls itself, and of switches only. */
static void test_endless(void **state)
{
	uint64_t chain[SAMPLE_CHAIN_MAX];
	struct sample_event ev = { .kind = SAMPLE_TAKEN, .mode = SAMPLE_USER, .chain = chain };
	uint32_t i, k, len, refused = 0;

	(void)state;
	for (i = 0; i < SAMPLE_CHAIN_MAX; i++)
		chain[i] = 0x401000;
	for (i = 0; i < 600; i++) {
		sample_random_init(&source, i, SAMPLE_RANDOM_NATIVE);
		sample_encoder_init(&encoder);
		sample_encoder_begin(&encoder, bytes, ROOM, 0);
		for (k = 0; k < 20; k++) {
			ev.kind = i % 2 ? SAMPLE_SWITCH : SAMPLE_TAKEN;
			ev.task.tid = ev.next.pid = (int32_t)sample_random_below(&source, 1000);
			ev.n_user = (uint16_t)(SAMPLE_CHAIN_MAX - sample_random_below(&source, 2));
			assert_int_equal(sample_encode(&encoder, &ev), WIRE_OK);
		}
		len = sample_encoder_end(&encoder);
		k = sample_random_below(&source, len);
		memset(bytes + k, 0xff, len - k);
		if (i % 4 > 1)
			len = k;
		sample_decoder_init(&decoder);
		sample_decoder_begin(&decoder, bytes, len, 0);
		for (k = 0; k < 5000 && sample_decode(&decoder, &ev) == WIRE_OK; k++)
			assert_true(ev.n_kernel + ev.n_user <= SAMPLE_CHAIN_MAX);
		refused += k < 5000;
		ev = (struct sample_event){ .mode = SAMPLE_USER, .chain = chain };
	}
	assert_true(refused > 500);
}

/* Exits at the same place but for one of the fields that name it come back with all of them. */
static void test_spots(void **state)
{
	struct sample_event ev = { .kind = SAMPLE_EXIT,
				   .mode = SAMPLE_GUEST_KERNEL,
				   .guest = SAMPLE_GUEST_PC | SAMPLE_GUEST_TABLE |
					    SAMPLE_GUEST_CONTEXT | SAMPLE_GUEST_TASK,
				   .task = { 70, 69, 1, "vcpu 1" } };
	uint64_t *const fields[] = { &ev.guest_pc, &ev.guest_table, &ev.guest_context,
				     &ev.guest_task };
	uint32_t i;

	(void)state;
	sample_encoder_init(&encoder);
	sample_decoder_init(&decoder);
	for (i = 0; i < 40; i++) {
		put(&ev);
		*fields[i % 4] += 0x1000;
	}
}

/* A block of which something is left is none. */
static void test_rest(void **state)
{
	struct sample_event ev;
	uint32_t len, i;

	(void)state;
	sample_random_init(&source, 5, SAMPLE_RANDOM_NATIVE);
	sample_encoder_init(&encoder);
	sample_encoder_begin(&encoder, bytes, ROOM, 0);
	for (i = 0; i < 50; i++) {
		sample_random_next(&source, &ev);
		assert_int_equal(sample_encode(&encoder, &ev), WIRE_OK);
	}
	len = sample_encoder_end(&encoder);
	sample_decoder_init(&decoder);
	assert_int_equal(sample_decoder_begin(&decoder, bytes, len, 0), WIRE_OK);
	for (i = 0; i < 20; i++)
		assert_int_equal(sample_decode(&decoder, &ev), WIRE_OK);
	assert_int_equal(sample_decoder_end(&decoder), WIRE_CORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_styles),	cmocka_unit_test(test_budget),
		cmocka_unit_test(test_same),	cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_damage),	cmocka_unit_test(test_rest),
		cmocka_unit_test(test_endless), cmocka_unit_test(test_spots),
	};

	return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
