/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_stack: the shadow stack of a function trace: which calls are open (docs/format/func.md,
 * section 3).
 *
 * Encoder and decoder keep one each and change it alike, so an exit need not say what it leaves. It
 * holds the innermost FUNC_STACK_FRAMES calls, as a ring: a recursion that is deeper forgets the
 * outermost ones, whose exits then say their function. `depth` counts all open calls and `floor`
 * those of them that are forgotten; both may wrap around, their difference does not.
 *
 * A frame has the call's address, which decides, and a number that its codec gives a meaning.
 */
#ifndef KISEKI_WIRE_FUNC_STACK_H
#define KISEKI_WIRE_FUNC_STACK_H

#include "wire/types.h"

#define FUNC_STACK_FRAMES 1024U

struct func_stack {
	uint32_t depth;
	uint32_t floor;
	uint64_t address[FUNC_STACK_FRAMES];
	uint16_t slot[FUNC_STACK_FRAMES];
};

static inline void func_stack_init(struct func_stack *s)
{
	s->depth = 0;
	s->floor = 0;
}

/* How many of the open calls are known. */
static inline uint32_t func_stack_known(const struct func_stack *s)
{
	return s->depth - s->floor;
}

/* Where the open call at `depth` lies; the innermost one is at s->depth - 1. */
static inline uint32_t func_stack_at(uint32_t depth)
{
	return depth & (FUNC_STACK_FRAMES - 1);
}

static inline void func_stack_push(struct func_stack *s, uint64_t address, uint32_t slot)
{
	uint32_t at = func_stack_at(s->depth);

	s->address[at] = address;
	s->slot[at] = (uint16_t)slot;
	s->depth++;
	s->floor += s->depth - s->floor > FUNC_STACK_FRAMES;
}

/* Is the innermost open call known, and this one? */
static inline bool func_stack_is_top(const struct func_stack *s, uint64_t address)
{
	return s->depth != s->floor && s->address[func_stack_at(s->depth - 1)] == address;
}

/* How many known calls lie inside of the innermost one of this function; FUNC_STACK_FRAMES if none
 * of it is known. */
static inline uint32_t func_stack_find(const struct func_stack *s, uint64_t address)
{
	uint32_t n, known = func_stack_known(s);

	for (n = 0; n < known; n++)
		if (s->address[func_stack_at(s->depth - 1 - n)] == address)
			return n;
	return FUNC_STACK_FRAMES;
}

/* A call ended that is not known: it was one of the forgotten ones, if nothing else is open. */
static inline void func_stack_pop_unknown(struct func_stack *s)
{
	if (s->depth == s->floor && s->floor) {
		s->depth--;
		s->floor--;
	}
}

#endif
