/* SPDX-License-Identifier: MIT */
/*
 * budget_func: what codec `func` may cost, in figures that do not depend on a clock.
 *
 *	budget_func [hook=N] [encode=N] [decode=N]
 *
 * A fixed program of loops and nested calls runs through the hook's stage, which it teaches quickly, so
 * that nearly all of its events are one byte: that is the path inside of every traced program. The
 * same events go through the strong stage and back. Each is done N times, once if not said; the program
 * itself checks that they come back, how many bits they took and how large the states are.
 * instructions.py runs it under callgrind with one more turn: the difference is what that turn costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/func_random.h"
#include "wire/func_decode.h"
#include "wire/func_encode.h"
#include "wire/func_hook_encode.h"

#define EVENTS 100000U
#define FUNCTIONS 40U
#define ROOM (1U << 20)
#define HOOK_BITS_BUDGET 8.1
#define STRONG_BITS_BUDGET 0.40 /* 5 % above what it was when last changed */
#define HOOK_STATE_BUDGET (48U * 1024)
#define STRONG_STATE_BUDGET (512U * 1024)

static struct func_event events[EVENTS + 64];
static uint32_t n_events;
static struct func_hook hook;
static struct func_encoder encoder;
static struct func_decoder decoder;
static struct func_event decoded;
static uint8_t hook_bytes[ROOM], strong_bytes[ROOM];
static uint64_t tick = 1000;
static uint32_t state = 1;

static void add(uint8_t kind, uint32_t function)
{
	struct func_event *ev = &events[n_events++];

	state = state * 1664525U + 1013904223U;
	tick += 7 + (state >> 28 == 0) + (state >> 20 == 0 ? 60 : 0);
	ev->kind = kind;
	ev->value = 0x401000 + 64ULL * function;
	ev->tick = tick;
}

/* Function n calls 2n + 1 twice and 2n + 2 once, as far as there are such. */
static void run(uint32_t function)
{
	uint32_t call;

	if (n_events >= EVENTS)
		return;
	add(FUNC_ENTER, function);
	for (call = 0; call < 3; call++)
		if (2 * function + 1 + call / 2 < FUNCTIONS)
			run(2 * function + 1 + call / 2);
	add(FUNC_EXIT, function);
}

/* Returns how many bytes there are. */
static size_t run_hook(void)
{
	const struct func_event *ev;
	uint8_t *out = hook_bytes;

	func_hook_init(&hook);
	out += func_hook_begin(&hook, out, events[0].tick);
	for (ev = events; ev < events + n_events; ev++)
		if (ev->kind == FUNC_ENTER)
			out = func_hook_enter(&hook, out, ev->value, ev->tick);
		else
			out = func_hook_exit(&hook, out, ev->value, ev->tick);
	return (size_t)(out - hook_bytes);
}

/* Returns how many bytes there are, 0 if they do not fit. */
static uint32_t encode(void)
{
	uint32_t i;

	func_encoder_init(&encoder, NULL);
	func_encoder_begin(&encoder, strong_bytes, ROOM, events[0].tick);
	for (i = 0; i < n_events; i++)
		if (func_encode(&encoder, &events[i]) != WIRE_OK)
			return 0;
	return func_encoder_end(&encoder);
}

/* Returns how many events there are, 0 if something is damaged. */
static uint32_t decode(uint32_t len)
{
	uint32_t i;

	func_decoder_init(&decoder);
	if (func_decoder_begin(&decoder, strong_bytes, len, events[0].tick) != WIRE_OK)
		return 0;
	for (i = 0; i < n_events; i++)
		if (func_decode(&decoder, &decoded) != WIRE_OK)
			return 0;
	return func_decoder_end(&decoder) == WIRE_OK ? i : 0;
}

/* The number behind "what=" among the arguments, 1 if there is none. */
static unsigned turns_of(const char *what, int argc, char **argv)
{
	size_t len = strlen(what);
	int i;

	for (i = 1; i < argc; i++)
		if (!strncmp(argv[i], what, len) && argv[i][len] == '=')
			return (unsigned)strtoul(argv[i] + len + 1, NULL, 10);
	return 1;
}

int main(int argc, char **argv)
{
	unsigned hooks = turns_of("hook", argc, argv), encodes = turns_of("encode", argc, argv);
	unsigned decodes = turns_of("decode", argc, argv);
	uint32_t len = 0, n = 0;
	double hook_bits = 0, strong_bits;

	while (n_events < EVENTS)
		run(0);
	for (; hooks; hooks--)
		hook_bits = 8.0 * (double)run_hook() / n_events;
	for (; encodes; encodes--)
		len = encode();
	for (; decodes && len; decodes--)
		n = decode(len);
	if (n != n_events || !func_event_equal(&decoded, &events[n_events - 1])) {
		fprintf(stderr, "budget_func: the events do not come back\n");
		return 1;
	}
	strong_bits = 8.0 * len / n_events;
	printf("events %u\nhook_bits_per_event %.3f of %.3f\nstrong_bits_per_event %.3f of %.3f\n",
	       n_events, hook_bits, HOOK_BITS_BUDGET, strong_bits, STRONG_BITS_BUDGET);
	printf("hook_bytes %zu of %u\nencoder_bytes %zu of %u\n", sizeof(hook), HOOK_STATE_BUDGET,
	       sizeof(encoder), STRONG_STATE_BUDGET);
	return hook_bits <= HOOK_BITS_BUDGET && strong_bits <= STRONG_BITS_BUDGET &&
			       sizeof(hook) <= HOOK_STATE_BUDGET &&
			       sizeof(encoder) <= STRONG_STATE_BUDGET
		       ? 0
		       : 1;
}
