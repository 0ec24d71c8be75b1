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

#define EVENTS 200000U
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_styles),
	};

	return cmocka_run_group_tests_name("func", tests, NULL, NULL);
}
