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

#define EVENTS 200000U
#define SEGMENT (48U * 1024) /* small, so that there are many */
#define ROOM (SEGMENT + FUNC_HOOK_BEGIN_ROOM + FUNC_HOOK_ROOM)
#define STATE_BUDGET (48U * 1024)

static struct func_random random_calls;
static struct func_hook hook;
static struct func_hook_decoder decoder, ahead;
static struct func_event events[ROOM];
static uint8_t bytes[ROOM];
static uint8_t *out; /* where the segment at hand goes on */
static size_t n_events;
static uint64_t start_tick;

/* Encodes one event more of the segment at hand. */
static void add(unsigned kind, uint64_t value, uint64_t tick, uint8_t os)
{
	struct func_event *ev = &events[n_events++];
	uint8_t *end;

	ev->kind = (uint8_t)kind;
	ev->value = value;
	ev->tick = tick;
	ev->os = os;
	if (kind == FUNC_ENTER)
		end = func_hook_enter(&hook, out, value, tick);
	else if (kind == FUNC_EXIT)
		end = func_hook_exit(&hook, out, value, tick);
	else
		end = func_hook_os(&hook, out, os, value, tick);
	assert_true(end > out && end <= out + FUNC_HOOK_ROOM);
	out = end;
}

static void begin(uint64_t tick)
{
	uint32_t len = func_hook_begin(&hook, bytes, tick);

	assert_true(len <= FUNC_HOOK_BEGIN_ROOM);
	out = bytes + len;
	n_events = 0;
	start_tick = tick;
}

static void check_stack(const struct func_stack *a, const struct func_stack *b)
{
	uint32_t i;

	assert_int_equal(a->depth, b->depth);
	assert_int_equal(a->floor, b->floor);
	for (i = a->floor; i != a->depth; i++)
		assert_true(func_stack_get(a, i)->address == func_stack_get(b, i)->address);
}

/* The segment at hand comes back. */
static void check_segment(void)
{
	struct byte_reader r;
	struct func_event ev;
	size_t i;

	reader_init(&r, bytes, (size_t)(out - bytes));
	assert_int_equal(func_hook_decode_begin(&decoder, &r, start_tick), WIRE_OK);
	for (i = 0; i < n_events; i++) {
		assert_int_equal(func_hook_decode(&decoder, &r, &ev), WIRE_OK);
		if (!func_event_equal(&ev, &events[i]))
			fail_msg("event %zu of the segment is another", i);
	}
	assert_int_equal(func_hook_decode(&decoder, &r, &ev), WIRE_MORE);
	assert_int_equal(reader_left(&r), 0);
	check_stack(&decoder.model.stack, &hook.model.stack);
}

/* Returns bytes an event. */
static double round_trip(uint64_t seed, unsigned style, size_t n)
{
	struct func_event ev;
	size_t len = 0, i = 0;

	func_random_init(&random_calls, seed, style);
	func_hook_init(&hook);
	while (i < n) {
		begin(random_calls.tick);
		for (; i < n && out < bytes + SEGMENT; i++) {
			func_random_next(&random_calls, &ev);
			add(ev.kind, ev.value, ev.tick, ev.os);
		}
		check_segment();
		len += (size_t)(out - bytes);
	}
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

/* A loop that calls the same three functions, one of them through another. */
static void one_turn(uint64_t *tick)
{
	static const uint64_t calls[] = { 0x4010, 0x4020, 0x4030 };
	unsigned i;

	for (i = 0; i < 3; i++) {
		add(FUNC_ENTER, calls[i], *tick += 7, 0);
		if (i == 1) {
			add(FUNC_ENTER, 0x4040, *tick += 100, 0);
			add(FUNC_EXIT, 0x4040, *tick += 126, 0);
		}
		add(FUNC_EXIT, calls[i], *tick += 8, 0);
	}
}

static void test_one_byte(void **state)
{
	uint64_t tick = 1000;
	uint8_t *before;
	unsigned i;

	(void)state;
	func_hook_init(&hook);
	begin(tick);
	add(FUNC_ENTER, 0x4000, tick, 0);
	for (i = 0; i < 20; i++)
		one_turn(&tick);
	before = out;
	one_turn(&tick);
	assert_int_equal(out - before, 8);
	before = out;
	add(FUNC_ENTER, 0x4010, tick += 127,
	    0); /* guessed, but a byte is not enough for its time */
	assert_int_equal(out - before, 2);
	check_segment();
}

/* longjmp from a deep call to an outer one, which then returns; and returns that nobody called. */
static void test_unbalanced(void **state)
{
	unsigned i;

	(void)state;
	func_hook_init(&hook);
	begin(5);
	for (i = 0; i < 10; i++)
		add(FUNC_ENTER, 0x1000 + 16 * i, 10 + i, 0);
	add(FUNC_EXIT, 0x1000 + 16 * 4, 30, 0);
	assert_int_equal(hook.model.stack.depth, 4);
	add(FUNC_EXIT, 0x9990, 31, 0); /* not known at all */
	add(FUNC_EXIT, 0x9990, 32, 0); /* known, not open */
	assert_int_equal(hook.model.stack.depth, 4);
	for (i = 0; i < 4; i++)
		add(FUNC_EXIT, 0x1000 + 16 * (3 - i), 40 + i, 0);
	add(FUNC_EXIT, 0x1000, 50, 0); /* nothing is open */
	assert_int_equal(hook.model.stack.depth, 0);
	check_segment();
}

static void test_recursion(void **state)
{
	uint64_t tick = 1;
	unsigned i;

	(void)state;
	func_hook_init(&hook);
	begin(tick);
	for (i = 0; i < 5000; i++)
		add(FUNC_ENTER, 0x2000 + 16 * (i % 3), tick += 9, 0);
	assert_int_equal(hook.model.stack.depth, 5000);
	assert_int_equal(func_stack_known(&hook.model.stack), FUNC_STACK_FRAMES);
	check_segment();
	begin(tick); /* with all frames known, and others forgotten */
	for (i = 5000; i-- > 2000;)
		add(FUNC_EXIT, 0x2000 + 16 * (i % 3), tick += 9, 0);
	assert_int_equal(hook.model.stack.depth, 2000);
	assert_int_equal(func_stack_known(&hook.model.stack), 0);
	check_segment();
	begin(tick);
	for (i = 2000; i-- > 0;)
		add(FUNC_EXIT, 0x2000 + 16 * (i % 3), tick += 9, 0);
	assert_int_equal(hook.model.stack.depth, 0);
	check_segment();
}

/* The longest start there can be: 1024 calls of as many functions with addresses far apart. */
static void test_begin_room(void **state)
{
	unsigned i;

	(void)state;
	func_hook_init(&hook);
	for (i = 0; i < 2000; i++)
		func_hook_pass_enter(&hook, i % 2 ? i : 0x7fffffffffffff00ULL + i);
	begin(1);
	assert_true(out - bytes > 10 * (int)FUNC_STACK_FRAMES);
	check_segment();
}

static void test_time(void **state)
{
	(void)state;
	func_hook_init(&hook);
	begin(1000);
	add(FUNC_ENTER, 0x10, 900, 0);
	add(FUNC_EXIT, 0x10, 0, 0);
	add(FUNC_ENTER, 0x10, UINT64_MAX, 0);
	add(FUNC_EXIT, 0x10, UINT64_MAX / 2, 0);
	add(FUNC_OS, UINT64_MAX, 3, FUNC_OS_MAX);
	add(FUNC_OS, 0, 2, 0);
	add(FUNC_ENTER, UINT64_MAX, 2, 0);
	add(FUNC_EXIT, UINT64_MAX, 1ULL << 62, 0);
	add(FUNC_ENTER, 0, 1ULL << 62, 0);
	add(FUNC_EXIT, 0, 1ULL << 62, 0);
	check_segment();
}

/* Whoever reads a chunk while it grows may stop at any byte: nothing is taken, nothing has changed,
 * and it goes on. */
static void test_cut(void **state)
{
	struct func_event ev;
	struct byte_reader r;
	size_t end, n = 0;

	(void)state;
	func_random_init(&random_calls, 7, FUNC_RANDOM_BROKEN);
	func_hook_init(&hook);
	for (n = 0; n < 40; n++)
		func_hook_pass_enter(&hook, 0x5000 + 64 * n);
	begin(random_calls.tick);
	for (n = 0; n < 3000; n++) {
		func_random_next(&random_calls, &ev);
		add(ev.kind, ev.value, ev.tick, ev.os);
	}
	reader_init(&r, bytes, 0);
	for (end = 0; func_hook_decode_begin(&decoder, &r, start_tick) == WIRE_MORE; end++)
		r.end = bytes + end;
	for (n = 0; n < n_events; end++) {
		r.end = bytes + end;
		ahead = decoder;
		if (func_hook_decode(&decoder, &r, &ev) == WIRE_OK)
			assert_true(func_event_equal(&ev, &events[n++]));
		else
			assert_memory_equal(&ahead, &decoder, sizeof(ahead));
	}
	assert_true(r.at == out);
}

static enum wire_status try_bytes(const char *text, size_t len)
{
	enum wire_status status;
	struct func_event ev;
	struct byte_reader r;

	reader_init(&r, text, len);
	status = func_hook_decode_begin(&decoder, &r, 0);
	while (status == WIRE_OK && reader_left(&r))
		status = func_hook_decode(&decoder, &r, &ev);
	return status;
}

static void test_corrupt(void **state)
{
	(void)state;
	assert_int_equal(try_bytes("\0\0", 2), WIRE_OK);
	assert_int_equal(try_bytes("\0", 1), WIRE_MORE);
	assert_int_equal(try_bytes("\0\x81\x08", 3), WIRE_CORRUPT);		/* 1025 calls */
	assert_int_equal(try_bytes("\xff\xff\xff\xff\x1f\0", 6), WIRE_CORRUPT); /* 2^33 forgotten */
	assert_int_equal(try_bytes("\0\1\x80\x10", 4), WIRE_CORRUPT);		/* slot 2048 */
	assert_int_equal(try_bytes("\0\0\0", 3), WIRE_CORRUPT);	      /* returns from nothing */
	assert_int_equal(try_bytes("\0\0\x81", 3), WIRE_CORRUPT);     /* the same, not guessed */
	assert_int_equal(try_bytes("\0\0\xc0\0\0", 5), WIRE_CORRUPT); /* slot 0 */
	assert_int_equal(try_bytes("\0\0\xc8\0\0", 5), WIRE_CORRUPT); /* no such code */
	assert_int_equal(try_bytes("\0\0\xff", 3), WIRE_CORRUPT);
	assert_int_equal(try_bytes("\0\0\xf5\1\xf5\1\xf0\2\1", 9), WIRE_CORRUPT); /* back twice */
	assert_int_equal(try_bytes("\0\0\xf0\2\1\xf1\1\1", 8), WIRE_CORRUPT); /* beyond the stack */
	assert_int_equal(try_bytes("\0\0\xf0\2\1\xf1\0\1", 8), WIRE_OK);
	assert_int_equal(try_bytes("\0\0\xf2\0\1", 5), WIRE_CORRUPT);
	assert_int_equal(try_bytes("\0\0\xf2\x80\x10\1", 6), WIRE_CORRUPT);
	assert_int_equal(try_bytes("\0\0\xf4\x80\0\1", 6), WIRE_CORRUPT); /* type 128 */
	assert_int_equal(try_bytes("\0\0\xf4\x7f\0\1", 6), WIRE_OK);
}

/* It lies in memory that every traced thread has. */
static void test_size(void **state)
{
	(void)state;
	print_message("func_hook %zu bytes\n", sizeof(struct func_hook));
	assert_true(sizeof(struct func_hook) <= STATE_BUDGET);
}

/* A slot of more than 32 bits is none, and not another one. */
static void test_wide_slot(void **state)
{
	static const uint8_t wide[] = { 0, 0, 0xf2, 0x80, 0x80, 0x80, 0x80, 0x10, 0 };
	struct func_event ev;
	struct byte_reader r;

	(void)state;
	reader_init(&r, wide, sizeof(wide));
	assert_int_equal(func_hook_decode_begin(&decoder, &r, 1), WIRE_OK);
	assert_int_equal(func_hook_decode(&decoder, &r, &ev), WIRE_CORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wide_slot), cmocka_unit_test(test_styles),
		cmocka_unit_test(test_one_byte),  cmocka_unit_test(test_unbalanced),
		cmocka_unit_test(test_recursion), cmocka_unit_test(test_begin_room),
		cmocka_unit_test(test_time),	  cmocka_unit_test(test_cut),
		cmocka_unit_test(test_corrupt),	  cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests_name("func_hook", tests, NULL, NULL);
}
