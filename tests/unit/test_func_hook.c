/* SPDX-License-Identifier: MIT */
/*
 * func_hook: the hook's stage of codec `func`: what comes back is what went in, whatever the program
 * did, and most events are one byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/func_random.h"
#include "wire/func_hook_decode.h"
#include "wire/func_hook_encode.h"

#define EVENTS 300000U
#define SEGMENT (48U * 1024) /* small, so that there are many */
#define ROOM (SEGMENT + FUNC_HOOK_BEGIN_ROOM + FUNC_HOOK_ROOM)

static struct func_random random_calls;
static struct func_hook hook;
static struct func_hook_decoder decoder;
static struct func_event events[ROOM];
static uint8_t bytes[ROOM];

static uint8_t *encode(struct func_hook *h, uint8_t *out, const struct func_event *ev)
{
	uint8_t *end;

	if (ev->kind == FUNC_ENTER)
		end = func_hook_enter(h, out, ev->value, ev->tick);
	else if (ev->kind == FUNC_EXIT)
		end = func_hook_exit(h, out, ev->value, ev->tick);
	else
		end = func_hook_os(h, out, ev->os, ev->value, ev->tick);
	assert_true(end > out && end <= out + FUNC_HOOK_ROOM);
	return end;
}

static void check_stack(const struct func_stack *a, const struct func_stack *b)
{
	uint32_t i;

	assert_int_equal(a->depth, b->depth);
	assert_int_equal(a->floor, b->floor);
	for (i = a->floor; i != a->depth; i++)
		assert_true(func_stack_get(a, i)->address == func_stack_get(b, i)->address);
}

static void decode_segment(size_t len, uint64_t tick, size_t n)
{
	struct byte_reader r;
	struct func_event ev;
	size_t i;

	reader_init(&r, bytes, len);
	assert_int_equal(func_hook_decode_begin(&decoder, &r, tick), WIRE_OK);
	for (i = 0; i < n; i++) {
		assert_int_equal(func_hook_decode(&decoder, &r, &ev), WIRE_OK);
		if (!func_event_equal(&ev, &events[i]))
			fail_msg("event %zu of the segment is another", i);
	}
	assert_int_equal(func_hook_decode(&decoder, &r, &ev), WIRE_MORE);
	assert_int_equal(reader_left(&r), 0);
	check_stack(&decoder.model.stack, &hook.model.stack);
}

/* Encodes the next events of the generator as a segment and decodes it; returns its bytes. */
static size_t one_segment(size_t *events_left)
{
	uint8_t *out = bytes;
	uint64_t start = random_calls.tick;
	size_t n = 0;
	uint32_t len;

	len = func_hook_begin(&hook, out, start);
	assert_true(len <= FUNC_HOOK_BEGIN_ROOM);
	out += len;
	while (n < *events_left && out < bytes + SEGMENT) {
		func_random_next(&random_calls, &events[n]);
		out = encode(&hook, out, &events[n]);
		n++;
	}
	decode_segment((size_t)(out - bytes), start, n);
	*events_left -= n;
	return (size_t)(out - bytes);
}

static double round_trip(uint64_t seed, unsigned style, size_t n)
{
	size_t left = n, len = 0;

	func_random_init(&random_calls, seed, style);
	func_hook_init(&hook);
	while (left)
		len += one_segment(&left);
	return (double)len / (double)n;
}

static void test_styles(void **state)
{
	unsigned style;
	uint64_t seed;

	(void)state;
	for (style = 0; style < FUNC_RANDOM_STYLES; style++)
		for (seed = 1; seed <= 4; seed++)
			print_message("style %u seed %u: %.3f bytes an event\n", style,
				      (unsigned)seed, round_trip(seed, style, EVENTS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_styles),
	};

	return cmocka_run_group_tests_name("func_hook", tests, NULL, NULL);
}
