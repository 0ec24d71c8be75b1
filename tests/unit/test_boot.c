/* SPDX-License-Identifier: MIT */
/*
 * boot: codec `boot`: what comes back is what went in, whatever was recorded and wherever blocks end;
 * what it costs; and bytes that no encoder made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/boot_random.h"
#include "wire/boot_decode.h"
#include "wire/boot_encode.h"

#define RECORDS 20000U
#define SEGMENT 8000U /* records, at most */
#define ROOM (64U * 1024)

static struct boot_random source, again;
static struct boot_encoder encoder;
static struct boot_decoder decoder;
static uint8_t bytes[ROOM];

/* A block of up to `most` records into `bytes`, and out again. Returns how many it has. */
static uint32_t pass_block(uint32_t room, uint32_t most, uint64_t tick, struct boot_event *waiting,
			   uint64_t *ret_bytes)
{
	struct boot_event ev;
	uint32_t n = 0, i, len;

	boot_encoder_begin(&encoder, bytes, room, tick);
	while (n < most && boot_encode(&encoder, waiting) == WIRE_OK) {
		n++;
		boot_random_next(&source, waiting);
	}
	assert_int_equal(encoder.events, n);
	len = boot_encoder_end(&encoder);
	assert_true(len <= room);
	assert_int_equal(boot_decoder_begin(&decoder, bytes, len, tick), WIRE_OK);
	for (i = 0; i < n; i++) {
		struct boot_event back;

		boot_random_next(&again, &ev);
		assert_int_equal(boot_decode(&decoder, &back), WIRE_OK);
		if (!boot_event_equal(&ev, &back))
			fail_msg("record %u of the block, of kind %u, is another", i, ev.kind);
	}
	assert_int_equal(boot_decoder_end(&decoder), WIRE_OK);
	*ret_bytes += len;
	return n;
}

static double round_trip(uint64_t seed, unsigned style, uint32_t room, uint32_t most)
{
	uint32_t left = RECORDS, in_segment = SEGMENT, n;
	uint64_t len = 0, tick = 0;
	struct boot_event ev;

	boot_random_init(&source, seed, style);
	boot_random_init(&again, seed, style);
	boot_random_next(&source, &ev);
	while (left) {
		if (in_segment >= SEGMENT) {
			boot_encoder_init(&encoder);
			boot_decoder_init(&decoder);
			tick = ev.tick;
			in_segment = 0;
		}
		n = pass_block(room, left < most ? left : most, tick, &ev, &len);
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
	for (style = 0; style < BOOT_RANDOM_STYLES; style++) {
		print_message("style %u: %.2f bits a record\n", style,
			      round_trip(style + 1, style, ROOM, UINT32_MAX));
		round_trip(style + 10, style, BOOT_BLOCK_LEAST, UINT32_MAX);
		round_trip(style + 20, style, ROOM, 1);
		round_trip(style + 30, style, BOOT_BLOCK_LEAST + 777, 50);
	}
}

/* A recorder's records stay small: this is what a device sends, and it must not grow unnoticed. */
static void test_budget(void **state)
{
	(void)state;
	assert_true(round_trip(1, BOOT_RANDOM_REAL, ROOM, UINT32_MAX) < 34.0);
	assert_true(sizeof(struct boot_model) <= 160U * 1024);
}

/* One record, in a block of its own. */
static void put(struct boot_event ev)
{
	struct boot_event back;
	uint32_t len;

	boot_encoder_begin(&encoder, bytes, ROOM, ev.tick);
	assert_int_equal(boot_encode(&encoder, &ev), WIRE_OK);
	len = boot_encoder_end(&encoder);
	assert_int_equal(boot_decoder_begin(&decoder, bytes, len, ev.tick), WIRE_OK);
	assert_int_equal(boot_decode(&decoder, &back), WIRE_OK);
	assert_true(boot_event_equal(&ev, &back));
}

/* What said the same again costs next to nothing. */
static void test_same(void **state)
{
	const char *text = "wait_for_completion_killable_timeout";
	struct boot_event ev = { .tick = 5, .kind = BOOT_WAIT, .key = 77, .text = text };
	uint32_t i;

	(void)state;
	ev.text_len = (uint32_t)strlen(text);
	boot_encoder_init(&encoder);
	boot_decoder_init(&decoder);
	for (i = 0; i < 20; i++)
		put(ev);
	boot_encoder_begin(&encoder, bytes, ROOM, 5);
	for (i = 0; i < 400; i++)
		assert_int_equal(boot_encode(&encoder, &ev), WIRE_OK);
	assert_true(boot_encoder_end(&encoder) <= 14); /* bytes: a quarter of a bit each */
}

static void test_refused(void **state)
{
	struct boot_event ev = { .kind = BOOT_KINDS };
	char text[BOOT_TEXT_MAX + 1] = { 0 };

	(void)state;
	boot_encoder_init(&encoder);
	boot_encoder_begin(&encoder, bytes, BOOT_BLOCK_LEAST, 0);
	assert_int_equal(boot_encode(&encoder, &ev), WIRE_CORRUPT);
	ev.kind = BOOT_MARK;
	ev.text = text;
	ev.text_len = BOOT_TEXT_MAX + 1;
	assert_int_equal(boot_encode(&encoder, &ev), WIRE_CORRUPT);
	ev.text_len = BOOT_TEXT_MAX;
	assert_int_equal(boot_encode(&encoder, &ev), WIRE_OK);
	assert_int_equal(encoder.events, 1);
	boot_encoder_begin(&encoder, bytes, BOOT_BLOCK_LEAST - 1, 0);
	assert_int_equal(boot_encode(&encoder, &ev), WIRE_FULL);
	assert_int_equal(boot_encoder_end(&encoder), 0);
}

/* Any bytes: it ends, it stays within bounds, and says that they are corrupt sooner or later. */
static void test_garbage(void **state)
{
	struct boot_event ev;
	uint32_t i, k, n;

	(void)state;
	boot_random_init(&source, 99, BOOT_RANDOM_HOSTILE);
	for (i = 0; i < 300; i++) {
		n = boot_random_below(&source, 400);
		for (k = 0; k < n; k++)
			bytes[k] = (uint8_t)boot_random_below(&source, i % 3 ? 256 : 4);
		boot_decoder_init(&decoder);
		assert_int_equal(boot_decode(&decoder, &ev), WIRE_CORRUPT); /* nothing begun */
		assert_int_equal(boot_decoder_begin(&decoder, bytes, n, 7), WIRE_OK);
		for (k = 0; k < 100000; k++)
			if (boot_decode(&decoder, &ev) != WIRE_OK)
				break;
		if (k < 100000) {
			assert_int_equal(boot_decode(&decoder, &ev), WIRE_CORRUPT);
			assert_int_equal(boot_decoder_begin(&decoder, bytes, n, 7), WIRE_CORRUPT);
			assert_int_equal(boot_decoder_end(&decoder), WIRE_CORRUPT);
		}
	}
}

/* A block of which something is left is none. */
static void test_rest(void **state)
{
	struct boot_event ev;
	uint32_t len, i;

	(void)state;
	boot_random_init(&source, 5, BOOT_RANDOM_REAL);
	boot_encoder_init(&encoder);
	boot_encoder_begin(&encoder, bytes, ROOM, 0);
	for (i = 0; i < 50; i++) {
		boot_random_next(&source, &ev);
		assert_int_equal(boot_encode(&encoder, &ev), WIRE_OK);
	}
	len = boot_encoder_end(&encoder);
	boot_decoder_init(&decoder);
	assert_int_equal(boot_decoder_begin(&decoder, bytes, len, 0), WIRE_OK);
	for (i = 0; i < 20; i++)
		assert_int_equal(boot_decode(&decoder, &ev), WIRE_OK);
	assert_int_equal(boot_decoder_end(&decoder), WIRE_CORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_styles),	cmocka_unit_test(test_budget),
		cmocka_unit_test(test_same),	cmocka_unit_test(test_refused),
		cmocka_unit_test(test_garbage), cmocka_unit_test(test_rest),
	};

	return cmocka_run_group_tests_name("boot", tests, NULL, NULL);
}
