/* SPDX-License-Identifier: MIT */
/*
 * func_random: calls and returns of a thread out of a seed, for property tests of codecs and files.
 *
 * The same seed and style give the same events on every machine. The generator has a program in
 * mind: functions, each of which calls a few others, mostly in the same order.
 *
 *   REAL     what a program does: every call returns, time goes on, at times the thread sleeps
 *   DEEP     the same, with recursions of thousands of calls, straight and mutual
 *   BROKEN   the same as REAL, but calls are left by longjmp and exceptions, returns come of calls
 *            that were never seen, the clock steps back, and the machine's doings lie in between
 *   HOSTILE  no rule: any kind, address, value and time, though earlier ones return often
 */
#ifndef KISEKI_TESTS_FUNC_RANDOM_H
#define KISEKI_TESTS_FUNC_RANDOM_H

#include "wire/func_event.h"

#define FUNC_RANDOM_DEPTH 8192U
#define FUNC_RANDOM_FUNCTIONS 4096U
#define FUNC_RANDOM_CALLS 6U

enum func_random_style {
	FUNC_RANDOM_REAL = 0,
	FUNC_RANDOM_DEEP = 1,
	FUNC_RANDOM_BROKEN = 2,
	FUNC_RANDOM_HOSTILE = 3,
	FUNC_RANDOM_STYLES = 4,
};

struct func_random_function {
	uint64_t address;
	uint16_t calls[FUNC_RANDOM_CALLS];
	uint8_t n_calls;
};

struct func_random_frame {
	uint16_t function;
	uint8_t next; /* call to make */
};

/* About 150 KiB: not for the stack. */
struct func_random {
	uint64_t x; /* state of the generator of numbers */
	unsigned style;
	uint64_t tick;
	uint32_t n_functions;
	uint32_t depth;
	uint32_t deep; /* calls that the recursion at hand still makes */
	struct func_random_function function[FUNC_RANDOM_FUNCTIONS];
	struct func_random_frame frame[FUNC_RANDOM_DEPTH];
};

void func_random_init(struct func_random *r, uint64_t seed, unsigned style);

/* There is always a next event. */
void func_random_next(struct func_random *r, struct func_event *ret);

/* The numbers behind it: any 64 bits; one of 0 … n - 1. */
uint64_t func_random_bits(struct func_random *r);
uint32_t func_random_below(struct func_random *r, uint32_t n);

static inline bool func_event_equal(const struct func_event *a, const struct func_event *b)
{
	return a->tick == b->tick && a->value == b->value && a->kind == b->kind && a->os == b->os;
}

#endif
