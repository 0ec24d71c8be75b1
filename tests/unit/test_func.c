/* SPDX-License-Identifier: MIT */
/*
 * func: codec `func` as it is sent, in both stages: what comes back is what went in, whatever the
 * program did and wherever blocks end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/func_random.h"
#include "wire/func_decode.h"
#include "wire/func_encode.h"
#include "wire/func_hook_encode.h"

#define EVENTS 130000U
#define SEGMENT 40000U /* events, at most */
#define ROOM (FUNC_BEGIN_ROOM + 64U * 1024)
#define BLOCKS 4096U

struct part {
	uint32_t at, len, events;
	uint64_t tick;
};

static struct func_random random_calls;
static struct func_hook hook;
static struct func_encoder encoder;
static struct func_decoder decoder;
static struct func_event events[SEGMENT];
static struct part parts[BLOCKS];
static uint8_t bytes[SEGMENT * 40 + ROOM];
static uint32_t n_parts;

static void check_stack(const struct func_stack *a, const struct func_stack *b)
{
	uint32_t i;

	assert_int_equal(a->depth, b->depth);
	assert_int_equal(a->floor, b->floor);
	for (i = a->floor; i != a->depth; i++)
		assert_true(func_stack_get(a, i)->address == func_stack_get(b, i)->address);
}

/* Encodes events[0 … n) as a segment of blocks, each of about `block` bytes. Returns all bytes. */
static uint32_t encode_segment(const struct func_stack *stack, uint32_t n, uint32_t block)
{
	struct part *p = parts;
	uint32_t i = 0, at = 0;

	func_encoder_init(&encoder, stack);
	while (i < n) {
		assert_true(p < parts + BLOCKS);
		p->at = at;
		p->tick = events[i].tick;
		func_encoder_begin(&encoder, bytes + at, i ? block : FUNC_BEGIN_ROOM + block,
				   p->tick);
		while (i < n && func_encode(&encoder, &events[i]) == WIRE_OK)
			i++;
		p->events = encoder.events;
		assert_true(p->events);
		p->len = func_encoder_end(&encoder);
		assert_true(p->len <= (p == parts ? FUNC_BEGIN_ROOM + block : block));
		at += p++->len;
	}
	n_parts = (uint32_t)(p - parts);
	return at;
}

static void decode_segment(const struct func_stack *stack)
{
	struct func_event ev;
	uint32_t i, k, n = 0;

	func_decoder_init(&decoder);
	for (i = 0; i < n_parts; i++) {
		assert_int_equal(func_decoder_begin(&decoder, bytes + parts[i].at, parts[i].len,
						    parts[i].tick),
				 WIRE_OK);
		if (!i)
			check_stack(func_decoder_stack(&decoder), stack);
		for (k = 0; k < parts[i].events; k++, n++) {
			assert_int_equal(func_decode(&decoder, &ev), WIRE_OK);
			if (!func_event_equal(&ev, &events[n]))
				fail_msg("event %u of the segment is another", n);
		}
		assert_int_equal(func_decoder_end(&decoder), WIRE_OK);
	}
}

static double round_trip(uint64_t seed, unsigned style, uint32_t block)
{
	uint32_t left = EVENTS, n, i;
	struct func_stack *stack = malloc(sizeof(*stack));
	uint64_t len = 0;

	assert_non_null(stack);
	func_random_init(&random_calls, seed, style);
	func_hook_init(&hook);
	while (left) {
		n = 1 + func_random_below(&random_calls, SEGMENT);
		n = n < left ? n : left;
		*stack = hook.model.stack;
		for (i = 0; i < n; i++) {
			func_random_next(&random_calls, &events[i]);
			if (events[i].kind == FUNC_ENTER)
				func_hook_pass_enter(&hook, events[i].value);
			else if (events[i].kind == FUNC_EXIT)
				func_hook_pass_exit(&hook, events[i].value);
		}
		len += encode_segment(stack, n, block);
		decode_segment(stack);
		check_stack(func_decoder_stack(&decoder), &hook.model.stack);
		left -= n;
	}
	free(stack);
	return 8.0 * (double)len / EVENTS;
}

static void test_styles(void **state)
{
	unsigned style;
	uint64_t seed;

	(void)state;
	for (style = 0; style < FUNC_RANDOM_STYLES; style++)
		for (seed = 1; seed <= 2; seed++)
			print_message("style %u seed %u: %.3f bits an event\n", style,
				      (unsigned)seed,
				      round_trip(seed, style, seed == 1 ? 1000 : 60000));
}

/* The hook's bytes as they are, a block after each few kilobytes. */
static void encode_hook_segment(uint32_t n)
{
	uint32_t i = 0;
	uint8_t *out = bytes;
	struct part *p = parts;

	while (i < n) {
		p->at = (uint32_t)(out - bytes);
		p->tick = events[i].tick;
		p->events = 0;
		*out++ = FUNC_STAGE_HOOK;
		if (!i)
			out += func_hook_begin(&hook, out, p->tick);
		while (i < n && p->events < 1000) {
			const struct func_event *ev = &events[i++];

			if (ev->kind == FUNC_ENTER)
				out = func_hook_enter(&hook, out, ev->value, ev->tick);
			else if (ev->kind == FUNC_EXIT)
				out = func_hook_exit(&hook, out, ev->value, ev->tick);
			else
				out = func_hook_os(&hook, out, ev->os, ev->value, ev->tick);
			p->events++;
		}
		p->len = (uint32_t)(out - bytes) - p->at;
		p++;
	}
	n_parts = (uint32_t)(p - parts);
}

static void test_hook_stage(void **state)
{
	struct func_stack *stack = malloc(sizeof(*stack));
	unsigned style, turn;
	uint32_t i;

	(void)state;
	assert_non_null(stack);
	for (style = 0; style < FUNC_RANDOM_STYLES; style++) {
		func_random_init(&random_calls, 11, style);
		func_hook_init(&hook);
		for (turn = 0; turn < 3; turn++) {
			*stack = hook.model.stack;
			for (i = 0; i < SEGMENT; i++)
				func_random_next(&random_calls, &events[i]);
			encode_hook_segment(SEGMENT);
			decode_segment(stack);
		}
	}
	free(stack);
}

/* All blocks of a segment have its stage; others, and unknown stages, are corrupt. */
static void test_stages(void **state)
{
	static const uint8_t hook_start[] = { FUNC_STAGE_HOOK, 0, 0 };
	static const uint8_t hook_rest[] = { FUNC_STAGE_HOOK, 0, 0, 0xf4, 1 };
	static const uint8_t unknown[] = { 2, 0, 0 };
	uint8_t strong[FUNC_BEGIN_ROOM + FUNC_EVENT_ROOM];
	uint32_t len;

	(void)state;
	func_encoder_init(&encoder, NULL);
	func_encoder_begin(&encoder, strong, sizeof(strong), 0);
	len = func_encoder_end(&encoder);
	assert_true(len < 8);
	func_decoder_init(&decoder);
	assert_int_equal(func_decoder_begin(&decoder, hook_start, 3, 0), WIRE_OK);
	assert_int_equal(func_decoder_end(&decoder), WIRE_OK);
	assert_int_equal(func_decoder_begin(&decoder, strong, len, 0), WIRE_CORRUPT);
	func_decoder_init(&decoder);
	assert_int_equal(func_decoder_begin(&decoder, strong, len, 0), WIRE_OK);
	assert_int_equal(func_decoder_end(&decoder), WIRE_OK);
	assert_int_equal(func_decoder_begin(&decoder, hook_start, 3, 0), WIRE_CORRUPT);
	func_decoder_init(&decoder);
	assert_int_equal(func_decoder_begin(&decoder, hook_rest, 5, 0), WIRE_OK);
	assert_int_equal(func_decoder_end(&decoder), WIRE_CORRUPT);
	func_decoder_init(&decoder);
	assert_int_equal(func_decoder_begin(&decoder, unknown, 3, 0), WIRE_CORRUPT);
	func_decoder_init(&decoder);
	assert_int_equal(func_decoder_begin(&decoder, strong, 0, 0), WIRE_CORRUPT);
}

/* The stream of a thread's switches and system calls: no call in it, and little to say. */
static void test_os_stream(void **state)
{
	uint32_t i, turn, len;
	uint64_t tick = 50;

	(void)state;
	for (i = 0; i < SEGMENT; i++) {
		turn = i % 4;
		events[i].kind = FUNC_OS;
		events[i].os = turn == 0   ? FUNC_OS_SYSCALL
			       : turn == 1 ? FUNC_OS_SWITCH_OUT
			       : turn == 2 ? FUNC_OS_SWITCH_IN
					   : FUNC_OS_SYSCALL_RETURN;
		events[i].value = turn == 1 ? 1 : turn == 2 ? i / 4 % 2 : 98;
		events[i].tick = tick += 100 + i % 3;
	}
	len = encode_segment(NULL, SEGMENT, 60000);
	func_hook_init(&hook);
	decode_segment(&hook.model.stack);
	print_message("%.3f bits an event\n", 8.0 * len / SEGMENT);
	assert_true(len < SEGMENT / 2);
}

/* An interrupt between two calls changes nothing of what is expected after it. */
static void test_os_between(void **state)
{
	uint32_t i, without, with;
	uint64_t tick = 50;

	(void)state;
	for (i = 0; i < 20000; i++) {
		events[i].kind = i % 2 ? FUNC_EXIT : FUNC_ENTER;
		events[i].os = 0;
		events[i].value = 0x1000 + i / 2 % 5 * 16;
		events[i].tick = tick += 9;
	}
	without = encode_segment(NULL, 20000, 60000);
	memmove(events + 10001, events + 10000, 9999 * sizeof(events[0]));
	events[10000].kind = FUNC_OS;
	events[10000].os = FUNC_OS_INTERRUPT;
	events[10000].value = 30;
	events[10000].tick = events[9999].tick + 1;
	with = encode_segment(NULL, 20000, 60000);
	func_hook_init(&hook);
	decode_segment(&hook.model.stack);
	assert_true(with < without + 30);
}

static void check_young(const struct nibble_model *all, uint32_t symbol)
{
	struct nibble_model young;
	uint32_t i, s;

	nibble_model_init(&young);
	func_model_young(&young, all);
	for (i = 0; i < 400; i++)
		nibble_model_update(&young, symbol);
	for (s = 0; s < 16; s++)
		assert_true(nibble_model_from(&young, s) < nibble_model_to(&young, s));
}

/* A model that starts as another's copy, however extreme, still gives every symbol a share. */
static void test_young(void **state)
{
	struct nibble_model all;
	uint32_t age, symbol;

	(void)state;
	for (symbol = 0; symbol < 16; symbol++) {
		nibble_model_init(&all);
		for (age = 0; age < 600; age++) {
			nibble_model_update(&all, symbol);
			if (age > 40 && age % 40)
				continue;
			check_young(&all, 0);
			check_young(&all, 7);
			check_young(&all, 15);
		}
	}
}

/* Bytes that no encoder made end somewhere, and do no harm. */
static void test_damage(void **state)
{
	struct func_event ev;
	uint32_t turn, i, len, stopped = 0;

	(void)state;
	func_random_init(&random_calls, 5, FUNC_RANDOM_BROKEN);
	for (i = 0; i < 2000; i++)
		func_random_next(&random_calls, &events[i]);
	for (turn = 0; turn < 200; turn++) {
		len = encode_segment(NULL, 2000, 60000);
		bytes[1 + func_random_below(&random_calls, len - 1)] ^=
			(uint8_t)(1U << func_random_below(&random_calls, 8));
		if (turn % 2)
			len -= func_random_below(&random_calls, len / 2);
		func_decoder_init(&decoder);
		if (func_decoder_begin(&decoder, bytes, len, events[0].tick) != WIRE_OK)
			continue;
		for (i = 0; i < 2000 && func_decode(&decoder, &ev) == WIRE_OK; i++)
			;
		stopped += i < 2000 || func_decoder_end(&decoder) != WIRE_OK;
	}
	print_message("noticed %u of %u\n", stopped, turn);
	assert_true(stopped > turn / 2);
}

/* Any bytes, in both stages: it ends, an answer of corrupt stays one, and no record is taken before a block is begun. */
static void test_garbage(void **state)
{
	struct func_event ev;
	uint32_t turn, i, len, refused = 0;

	(void)state;
	func_random_init(&random_calls, 8, FUNC_RANDOM_BROKEN);
	for (turn = 0; turn < 20000; turn++) {
		len = 1 + func_random_below(&random_calls, 60);
		for (i = 0; i < len; i++)
			bytes[i] = (uint8_t)(func_random_below(&random_calls, 256) |
					     (turn % 3 && i > 3 ? 0x80 : 0));
		bytes[0] = turn % 2 ? FUNC_STAGE_HOOK : FUNC_STAGE_RANGE;
		func_decoder_init(&decoder);
		assert_int_equal(func_decode(&decoder, &ev), WIRE_CORRUPT);
		if (func_decoder_begin(&decoder, bytes, len, 5) == WIRE_OK) {
			for (i = 0; i < 500 && func_decode(&decoder, &ev) == WIRE_OK; i++)
				;
			if (i == 500)
				continue;
		}
		refused++;
		assert_int_equal(func_decode(&decoder, &ev), WIRE_CORRUPT);
		assert_int_equal(func_decoder_end(&decoder), WIRE_CORRUPT);
		assert_int_equal(func_decoder_begin(&decoder, bytes, len, 5), WIRE_CORRUPT);
	}
	assert_true(refused > turn / 4);
}

static void test_size(void **state)
{
	(void)state;
	print_message("func_model %zu, func_encoder %zu, func_decoder %zu bytes\n",
		      sizeof(struct func_model), sizeof(encoder), sizeof(decoder));
	assert_true(sizeof(encoder) <= 512U * 1024);
	assert_true(sizeof(decoder) <= 512U * 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_styles),	   cmocka_unit_test(test_hook_stage),
		cmocka_unit_test(test_stages),	   cmocka_unit_test(test_os_stream),
		cmocka_unit_test(test_os_between), cmocka_unit_test(test_young),
		cmocka_unit_test(test_damage),	   cmocka_unit_test(test_size),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests_name("func", tests, NULL, NULL);
}
