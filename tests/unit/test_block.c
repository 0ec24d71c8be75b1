/* SPDX-License-Identifier: MIT */
/*
 * block: headers of every shape come back, fit the room there is for them, and no cut or flipped
 * block is taken for a sound one. The bytes of the vectors are those of docs/format/wire.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tools/sched_random.h"
#include "wire/block.h"

#define PAYLOAD_ROOM 4096U

static uint8_t buffer[BLOCK_HEADER_MAX + PAYLOAD_ROOM];
static struct sched_random numbers;

static uint64_t any_number(void)
{
	return sched_random_bits(&numbers) >> sched_random_below(&numbers, 64);
}

static void make_block(struct block *b)
{
	uint32_t i;

	memset(b, 0, sizeof(*b));
	b->codec = (uint8_t)sched_random_below(&numbers, 16);
	b->flags = sched_random_below(&numbers, 2) ? BLOCK_KEY : 0;
	b->stream = (uint32_t)any_number();
	b->sequence = any_number();
	if (b->flags & BLOCK_KEY) {
		b->first_tick = any_number();
		b->before = any_number();
	}
	b->ticks = any_number();
	b->events = (uint32_t)any_number() % (BLOCK_EVENTS_MAX + 1);
	for (i = 0; i < LOSS_CAUSES; i++) {
		if (sched_random_below(&numbers, 3))
			continue;
		b->lost[i] = sched_random_below(&numbers, 4) ? any_number() : LOSS_UNKNOWN;
		if (b->lost[i])
			b->flags |= BLOCK_LOST;
	}
	b->payload_len = sched_random_below(&numbers, 4)
				 ? sched_random_below(&numbers, 200)
				 : sched_random_below(&numbers, PAYLOAD_ROOM);
	for (i = 0; i < b->payload_len; i++)
		buffer[BLOCK_HEADER_MAX + i] = (uint8_t)sched_random_bits(&numbers);
}

static void expect_block(const struct block *a, const struct block *b, uint32_t len)
{
	assert_int_equal(a->codec, b->codec);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->stream, b->stream);
	assert_true(a->sequence == b->sequence);
	assert_true(a->first_tick == b->first_tick);
	assert_true(a->before == b->before);
	assert_true(a->ticks == b->ticks);
	assert_int_equal(a->events, b->events);
	assert_memory_equal(a->lost, b->lost, sizeof(a->lost));
	assert_int_equal(a->payload_len, b->payload_len);
	assert_int_equal(a->len, len);
	assert_ptr_equal(a->payload, buffer + BLOCK_HEADER_MAX);
}

static void test_round_trip(void **state)
{
	struct block b, back;
	uint32_t round, len;
	uint8_t *start;

	(void)state;
	sched_random_init(&numbers, 1, SCHED_RANDOM_REAL);
	for (round = 0; round < 100000; round++) {
		make_block(&b);
		start = block_encode(&b, buffer + BLOCK_HEADER_MAX, &len);
		assert_true(start >= buffer);
		assert_int_equal(block_decode(start, len + sched_random_below(&numbers, 2), &back),
				 WIRE_OK);
		expect_block(&back, &b, len);
	}
}

/* All numbers at their largest. */
static void test_header_max(void **state)
{
	struct block b, back;
	uint32_t i, len;
	uint8_t *start;

	(void)state;
	memset(&b, 0xff, sizeof(b));
	b.codec = 15;
	b.flags = BLOCK_KEY | BLOCK_LOST;
	b.events = BLOCK_EVENTS_MAX;
	for (i = 0; i < LOSS_CAUSES; i++)
		b.lost[i] = LOSS_UNKNOWN - 1;
	b.payload_len = PAYLOAD_ROOM;
	start = block_encode(&b, buffer + BLOCK_HEADER_MAX, &len);
	assert_true(start >= buffer);
	print_message("largest header: %u of %u bytes\n", len - PAYLOAD_ROOM, BLOCK_HEADER_MAX);
	assert_int_equal(block_decode(start, len, &back), WIRE_OK);
	expect_block(&back, &b, len);
}

static void test_cut(void **state)
{
	struct block b, back;
	uint32_t round, len, cut;
	uint8_t *start;

	(void)state;
	sched_random_init(&numbers, 2, SCHED_RANDOM_REAL);
	for (round = 0; round < 300; round++) {
		make_block(&b);
		start = block_encode(&b, buffer + BLOCK_HEADER_MAX, &len);
		for (cut = 0; cut < len; cut++) {
			assert_int_equal(block_decode(start, cut, &back), WIRE_MORE);
			/* As soon as the header is there, so is the length. */
			assert_int_equal(back.len, cut >= len - b.payload_len ? len : 0);
		}
	}
}

/* One, two and three flipped bits are always found in blocks of this size; a flipped length may
 * also make the block seem longer than it is. */
static void test_flips(void **state)
{
	struct block b, back;
	uint32_t round, len, i, bit;
	uint8_t *start;

	(void)state;
	sched_random_init(&numbers, 3, SCHED_RANDOM_REAL);
	for (round = 0; round < 400; round++) {
		make_block(&b);
		start = block_encode(&b, buffer + BLOCK_HEADER_MAX, &len);
		for (bit = 0; bit < 8 * (len < 300 ? len : 300); bit++) {
			start[bit / 8] ^= (uint8_t)(1U << bit % 8);
			assert_int_not_equal(block_decode(start, len, &back), WIRE_OK);
			start[bit / 8] ^= (uint8_t)(1U << bit % 8);
		}
		for (i = 0; i < 3; i++) {
			bit = sched_random_below(&numbers, 8 * len);
			start[bit / 8] ^= (uint8_t)(1U << bit % 8);
			assert_int_not_equal(block_decode(start, len, &back), WIRE_OK);
		}
	}
}

/* In the payload and in the checksum, a flip is never a question of length. */
static void test_flipped_payload(void **state)
{
	struct block b = { .codec = CODEC_SCHED, .stream = 1, .payload_len = 100 }, back;
	uint32_t len, bit, byte;
	uint8_t *start = block_encode(&b, buffer + BLOCK_HEADER_MAX, &len);

	(void)state;
	for (byte = 0; byte < len; byte++)
		for (bit = 0; bit < 8 && ((byte >= 4 && byte < 8) || byte >= len - 100); bit++) {
			start[byte] ^= (uint8_t)(1U << bit);
			assert_int_equal(block_decode(start, len, &back), WIRE_CORRUPT);
			start[byte] ^= (uint8_t)(1U << bit);
		}
}

static void expect_bytes(const struct block *b, const char *payload, const char *hex)
{
	char text[256] = "";
	uint32_t len, i;
	uint8_t *start;

	memcpy(buffer + BLOCK_HEADER_MAX, payload, b->payload_len);
	start = block_encode(b, buffer + BLOCK_HEADER_MAX, &len);
	for (i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", start[i]);
	assert_string_equal(text, hex);
}

static void test_vectors(void **state)
{
	const struct block plain = { .codec = CODEC_SCHED,
				     .stream = STREAM_CPU(2),
				     .sequence = 7,
				     .ticks = 1000,
				     .events = 3,
				     .payload_len = 4 };
	const struct block key = { .codec = CODEC_BSF,
				   .flags = BLOCK_KEY,
				   .stream = STREAM_CPU(0),
				   .first_tick = 1000000000,
				   .before = 300,
				   .events = 1,
				   .lost = { [LOSS_RING] = 200, [LOSS_SPOOL] = LOSS_UNKNOWN },
				   .payload_len = 0 };
	const struct block meta = { .flags = BLOCK_KEY, .payload_len = 3 };

	(void)state;
	expect_bytes(&plain, "abcd", "b56b1100305fa5060307e807030461626364");
	expect_bytes(&key, "", "b56b1203721a7d0701008094ebdc03ac02000105c8010000");
	expect_bytes(&meta, "\x05\x01\x04", "b56b1001f040dfc000000000000003050104");
}

/* What no encoder writes. The checksum is made right, so it is the header that is refused. */
static void test_refused(void **state)
{
	struct block b = { .codec = CODEC_SCHED, .stream = 1, .events = 1 }, back;
	uint8_t bytes[64];
	uint32_t len;

	(void)state;
	b.events = BLOCK_EVENTS_MAX + 1;
	memcpy(bytes, block_encode(&b, buffer + BLOCK_HEADER_MAX, &len), 32);
	assert_int_equal(block_decode(bytes, len, &back), WIRE_CORRUPT);
	b.events = 1;
	b.payload_len = BLOCK_PAYLOAD_MAX + 1;
	{
		static uint8_t big[BLOCK_HEADER_MAX + BLOCK_PAYLOAD_MAX + 1];
		uint8_t *start = block_encode(&b, big + BLOCK_HEADER_MAX, &len);

		assert_int_equal(block_decode(start, len, &back), WIRE_CORRUPT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_header_max),
		cmocka_unit_test(test_cut),	   cmocka_unit_test(test_flips),
		cmocka_unit_test(test_vectors),	   cmocka_unit_test(test_flipped_payload),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
