/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_hook: what encoder and decoder of the hook's stage of codec `func` both know
 * (docs/format/func.md, sections 3 to 5).
 *
 * This stage runs inside of the traced program, at every call and return. So it writes whole bytes
 * and hardly computes. What a function has done since it was called chooses a place in `guess`,
 * which says what it did there the last time: called something, or returned. If it does so again, and
 * soon, that is one byte. What is guessed is a slot of the dictionary, and the address in it is
 * compared with the one at hand, so the common case looks nothing up. Only a wrong guess searches
 * the dictionary and writes more.
 *
 * All of it has a fixed size and no pointers: it lies in memory that other processes read.
 */
#ifndef KISEKI_WIRE_FUNC_HOOK_H
#define KISEKI_WIRE_FUNC_HOOK_H

#include "wire/func_event.h"
#include "wire/func_stack.h"
#include "wire/varint.h"

#define FUNC_HOOK_SLOT_BITS 11
#define FUNC_HOOK_SLOTS (1U << FUNC_HOOK_SLOT_BITS) /* functions known at a time */
#define FUNC_HOOK_WAYS 4U			    /* places that a function may have */
#define FUNC_HOOK_EXIT 0U      /* as a guess: the innermost call ends; never a function's slot */
#define FUNC_HOOK_SURE 0x8000U /* beside a guess: it was right the last time */
#define FUNC_HOOK_GUESS_BITS 12
#define FUNC_HOOK_SECOND_BITS 11
#define FUNC_HOOK_HISTORY_SHIFT 7

/* The first byte of an event. */
enum func_hook_code {
	HOOK_GUESS = 0x00,	/* … + ticks: what was guessed happened */
	HOOK_EXIT = 0x80,	/* … + ticks: the innermost call ended */
	HOOK_ENTER = 0xc0,	/* … + high bits of the slot: a known function */
	HOOK_SECOND = 0xd0,	/* … + ticks: what was guessed in the second place */
	HOOK_ENTER_NEW = 0xf0,	/* its address */
	HOOK_EXIT_OUTER = 0xf1, /* a call further out ended, and all inside of it */
	HOOK_EXIT_KNOWN = 0xf2, /* a call that is not in the stack ended: its slot */
	HOOK_EXIT_NEW = 0xf3,	/* … its address */
	HOOK_OS = 0xf4,		/* type, value */
	HOOK_BACK = 0xf5,	/* the clock stepped back; the event follows */
};
#define HOOK_GUESS_TICKS 127U /* with this in place of ticks, the rest of them follow */
#define HOOK_EXIT_TICKS 63U
#define HOOK_SECOND_TICKS 31U
#define HOOK_ENTER_LOW_BITS 8

/* Most bytes of an event, and of a segment's start. */
#define FUNC_HOOK_ROOM 40U
#define FUNC_HOOK_BEGIN_ROOM (2 * VARINT_MAX + FUNC_STACK_FRAMES * (1 + VARINT_MAX))

struct func_hook_model {
	uint64_t tick;	   /* of the last event */
	uint64_t last_new; /* the last address that was written as such */
	uint32_t history;  /* of the innermost call: its function, and what it called */
	uint32_t turn;	   /* which way loses its function next */
	struct func_stack stack;
	uint64_t function[FUNC_HOOK_SLOTS];	      /* the dictionary: addresses by slot */
	uint16_t guess[1U << FUNC_HOOK_GUESS_BITS];   /* slots by history */
	uint16_t second[1U << FUNC_HOOK_SECOND_BITS]; /* slots by function and last call */
};

/* Nothing known, nothing open. */
void func_hook_model_init(struct func_hook_model *m);

/* A segment starts: forgets everything but what is open. */
void func_hook_model_clear(struct func_hook_model *m, uint64_t tick);

/* The slot of a function, 0 if it has none. */
uint32_t func_hook_model_find(const struct func_hook_model *m, uint64_t address);

/* Gives it a slot; another function may lose it. */
uint32_t func_hook_model_add(struct func_hook_model *m, uint64_t address);

/* What a call adds to the history of its caller, and begins its own with. */
static inline uint32_t func_hook_mark(uint32_t slot)
{
	return slot * 0x9e3779b1U;
}

static inline uint16_t *func_hook_guess(struct func_hook_model *m)
{
	return &m->guess[m->history >> (32 - FUNC_HOOK_GUESS_BITS)];
}

/* What is tried when the guess was wrong and it is a call: the low bits of the history are what is
 * left of the last call alone. */
static inline uint16_t *func_hook_second(struct func_hook_model *m)
{
	uint32_t last = m->history & ((1U << FUNC_HOOK_HISTORY_SHIFT) - 1), slot = 0;

	if (func_stack_known(&m->stack))
		slot = func_stack_get(&m->stack, m->stack.depth - 1)->slot;
	return &m->second[func_hook_mark(slot << FUNC_HOOK_HISTORY_SHIFT | last) >>
			  (32 - FUNC_HOOK_SECOND_BITS)];
}

/* The guess was wrong: it gives way, unless it was right the time before. */
static inline void func_hook_guess_learn(uint16_t *guess, uint32_t slot)
{
	*guess = (uint16_t)(*guess & FUNC_HOOK_SURE ? *guess ^ FUNC_HOOK_SURE : slot);
}

static inline void func_hook_model_enter(struct func_hook_model *m, uint64_t address, uint32_t slot)
{
	func_stack_push(&m->stack, address, m->history, slot);
	m->history = func_hook_mark(slot);
}

/* The innermost call, which is known, ended. */
static inline void func_hook_model_exit(struct func_hook_model *m)
{
	const struct func_frame *frame = func_stack_get(&m->stack, --m->stack.depth);

	m->history = frame->history << FUNC_HOOK_HISTORY_SHIFT ^ func_hook_mark(frame->slot);
}

/* A call ended that is not known. */
static inline void func_hook_model_stray(struct func_hook_model *m, uint32_t slot)
{
	func_stack_pop_unknown(&m->stack);
	m->history = m->history << FUNC_HOOK_HISTORY_SHIFT ^ func_hook_mark(slot);
}

#endif
