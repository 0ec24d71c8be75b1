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
 * A frame has the call's address, which decides, and what a codec expects of the caller when the
 * call has ended: `history` tells what the caller had done before, and `slot` stands for the
 * function. These two are the codec's own.
 */
#ifndef KISEKI_WIRE_FUNC_STACK_H
#define KISEKI_WIRE_FUNC_STACK_H

#include "wire/types.h"

#define FUNC_STACK_FRAMES 1024U

struct func_frame {
	uint64_t address;
	uint32_t history; /* of the caller, up to this call */
	uint32_t slot;
};

struct func_stack {
	uint32_t depth;
	uint32_t floor;
	struct func_frame frame[FUNC_STACK_FRAMES];
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

/* The open call at `depth`: the innermost one is at s->depth - 1. */
static inline struct func_frame *func_stack_frame(struct func_stack *s, uint32_t depth)
{
	return &s->frame[depth & (FUNC_STACK_FRAMES - 1)];
}

static inline const struct func_frame *func_stack_get(const struct func_stack *s, uint32_t depth)
{
	return &s->frame[depth & (FUNC_STACK_FRAMES - 1)];
}

static inline void func_stack_push(struct func_stack *s, uint64_t address, uint32_t history,
				   uint32_t slot)
{
	struct func_frame *frame = func_stack_frame(s, s->depth);

	frame->address = address;
	frame->history = history;
	frame->slot = slot;
	s->depth++;
	s->floor += s->depth - s->floor > FUNC_STACK_FRAMES;
}

/* Is the innermost open call known, and this one? */
static inline bool func_stack_is_top(const struct func_stack *s, uint64_t address)
{
	return s->depth != s->floor && func_stack_get(s, s->depth - 1)->address == address;
}

/* How many known calls lie inside of the innermost one of this function; FUNC_STACK_FRAMES if none
 * of it is known. */
static inline uint32_t func_stack_find(const struct func_stack *s, uint64_t address)
{
	uint32_t n, known = func_stack_known(s);

	for (n = 0; n < known; n++)
		if (func_stack_get(s, s->depth - 1 - n)->address == address)
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
