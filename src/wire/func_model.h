/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_model: what encoder and decoder of the strong stage of codec `func` both know about a
 * thread's calls so far, and hence expect of the next event (docs/format/func.md, sections 6 to 8).
 *
 * Both sides hold one, look at it in the same way to choose a context, and change it in the same
 * way after each event. Its size is fixed, it holds no pointer, and func_model_init() makes it new.
 *
 * What is expected: a function does what it did the last time it came this far. How far it came is
 * told by its `history`, the last few calls it made, and by its `path`, which also goes on into its
 * callers. Each leads to a guess with a count of how often it was right in a row; a third one knows
 * only the function and its last call. How long it takes follows from the event and the one before.
 *
 * A slot stands for a function, or for what the machine did (type and value together), so that both
 * are guessed alike. Slot 0 as a guess is the return of the innermost call.
 */
#ifndef KISEKI_WIRE_FUNC_MODEL_H
#define KISEKI_WIRE_FUNC_MODEL_H

#include "wire/func_event.h"
#include "wire/func_stack.h"
#include "wire/model.h"

/* The first byte of a payload. One segment has one stage. */
enum func_stage {
	FUNC_STAGE_HOOK = 0,  /* the hook's bytes as they are */
	FUNC_STAGE_RANGE = 1, /* through the range coder */
};

#define FUNC_SLOT_BITS 12
#define FUNC_SLOTS (1U << FUNC_SLOT_BITS) /* functions and doings known at a time */
#define FUNC_WAYS 4U			  /* places that one may have */
#define FUNC_SLOT_EXIT 0U
#define FUNC_GUESS_BITS 14
#define FUNC_LAST_BITS 11
#define FUNC_SURE_MAX 60U
#define FUNC_GUESS_CONTEXTS 4096U
#define FUNC_TIME_BITS 12
#define FUNC_MORE_BITS 12
#define FUNC_LOW_BITS 12
#define FUNC_TIME_YOUNG 4U /* age of a model that starts as another's copy */

/* Numbers written plainly, by use: each has its own statistics of sizes. */
enum func_number {
	FUNC_NUMBER_ADDRESS = 0,
	FUNC_NUMBER_VALUE = 1,
	FUNC_NUMBER_TYPE = 2,
	FUNC_NUMBER_BACK = 3,
	FUNC_NUMBER_TIME = 4,
	FUNC_NUMBER_DEPTH = 5,
	FUNC_NUMBERS = 6,
};

/* What happened when neither of the two guesses did. */
enum func_other {
	FUNC_OTHER_EXIT = 0,	  /* the innermost call ended */
	FUNC_OTHER_THIRD = 1,	  /* the third guess */
	FUNC_OTHER_KNOWN = 2,	  /* another slot */
	FUNC_OTHER_NEW = 3,	  /* a function that has no slot yet: its address */
	FUNC_OTHER_NEW_OS = 4,	  /* type and value */
	FUNC_OTHER_OUTER = 5,	  /* a call further out ended, and all inside of it */
	FUNC_OTHER_STRAY = 6,	  /* a call ended that is not in the stack: its slot */
	FUNC_OTHER_STRAY_NEW = 7, /* … its address */
	FUNC_OTHER_BACK = 8,	  /* the clock stepped back; the event follows */
	FUNC_OTHERS = 9,
};

/* What a slot stands for. */
enum func_type {
	FUNC_TYPE_NONE = 0,
	FUNC_TYPE_CALL = 1,
	FUNC_TYPE_OS = 2,     /* … + enum func_os_type */
	FUNC_TYPE_EXIT = 255, /* of an event; no slot has it */
};

struct func_guess {
	uint16_t slot;
	uint16_t sure; /* how often it was right since it was last wrong, about */
};

/* How often each slot is meant. */
struct func_slot_tree {
	struct nibble_model high;
	struct nibble_model middle[16];
	struct nibble_model low[256];
};

struct func_model {
	uint64_t tick;	     /* of the last event */
	uint64_t last_new;   /* the last address that was written as such */
	uint32_t history;    /* of the innermost call: its function, and what it called */
	uint32_t path;	     /* the same, and how it came to be called */
	uint32_t os_history; /* the machine's doings since the last call or return */
	uint32_t last;	     /* slot of the last event, of an exit plus FUNC_SLOTS */
	uint32_t turn;	     /* which way loses its slot next */
	struct func_stack stack;
	uint32_t paths[FUNC_STACK_FRAMES]; /* of the callers, as the frames have histories */
	uint64_t value[FUNC_SLOTS];
	uint8_t type[FUNC_SLOTS]; /* enum func_type */
	struct func_guess by_path[1U << FUNC_GUESS_BITS];
	struct func_guess by_history[1U << FUNC_GUESS_BITS];
	struct func_guess by_last[1U << FUNC_LAST_BITS];

	/* Everything from here on is probabilities. */
	struct bit_model first[FUNC_GUESS_CONTEXTS];
	struct bit_model second[FUNC_GUESS_CONTEXTS];
	struct nibble_model other;
	struct func_slot_tree tree;
	struct nibble_model address_low;
	struct bit_model frame_known;
	struct bit_model number[FUNC_NUMBERS][128];
	struct nibble_model time;			   /* of all events */
	struct nibble_model more[16];			   /* by class */
	struct nibble_model time_of[1U << FUNC_TIME_BITS]; /* by event and the one before */
	struct nibble_model more_of[1U << FUNC_MORE_BITS];
	struct bit_model low_of[1U << FUNC_LOW_BITS];
};

/* What to expect: three slots to try in order, and the context to try them in. */
struct func_guesses {
	struct func_guess *by_path, *by_history, *by_last;
	uint32_t slot[3];
	uint32_t context;
};

void func_model_init(struct func_model *m);

/* The slot of a function or doing, 0 if it has none. */
uint32_t func_model_find(const struct func_model *m, uint32_t type, uint64_t value);

/* Gives it a slot; another one may lose it. */
uint32_t func_model_add(struct func_model *m, uint32_t type, uint64_t value);

extern const uint8_t func_model_steps[FUNC_SURE_MAX + 1];

static inline uint32_t func_mark(uint32_t symbol)
{
	return symbol * 0x9e3779b1U;
}

/* How sure a guess is, in eight steps. */
static inline uint32_t func_guess_step(const struct func_guess *g)
{
	return func_model_steps[g->sure];
}

static inline void func_guess_learn(struct func_guess *g, uint32_t slot)
{
	if (g->slot == slot) {
		g->sure = (uint16_t)(g->sure + (g->sure < FUNC_SURE_MAX));
	} else if (g->sure > 1) {
		g->sure >>= 2;
	} else {
		g->slot = (uint16_t)slot;
		g->sure = 0;
	}
}

static ALWAYS_INLINE void func_model_guess(struct func_model *m, struct func_guesses *g)
{
	uint32_t at, step1, step2, swap, slot = 0;

	at = (m->path ^ func_mark(m->os_history)) >> (32 - FUNC_GUESS_BITS);
	g->by_path = &m->by_path[at];
	at = (m->history ^ func_mark(m->os_history)) >> (32 - FUNC_GUESS_BITS);
	g->by_history = &m->by_history[at];
	if (func_stack_known(&m->stack))
		slot = func_stack_get(&m->stack, m->stack.depth - 1)->slot;
	at = func_mark(slot << 13 | m->last) >> (32 - FUNC_LAST_BITS);
	g->by_last = &m->by_last[at];
	step1 = func_guess_step(g->by_path);
	step2 = func_guess_step(g->by_history);
	swap = step2 > step1;
	g->slot[0] = swap ? g->by_history->slot : g->by_path->slot;
	g->slot[1] = swap ? g->by_path->slot : g->by_history->slot;
	g->slot[2] = g->by_last->slot;
	g->context = step1 | step2 << 3 | (uint32_t)(g->slot[0] == g->slot[1]) << 6 | swap << 7 |
		     func_guess_step(g->by_last) >> 1 << 8 |
		     (uint32_t)(g->slot[0] == g->slot[2]) << 10 |
		     (uint32_t)(g->slot[0] == FUNC_SLOT_EXIT) << 11;
	if (g->slot[0] == g->slot[1])
		g->slot[1] = g->slot[2];
}

static inline void func_guesses_learn(struct func_guesses *g, uint32_t slot)
{
	func_guess_learn(g->by_path, slot);
	func_guess_learn(g->by_history, slot);
	func_guess_learn(g->by_last, slot);
}

/* These four change what is open, and return the event's symbol for func_model_time(). */
static inline uint32_t func_model_enter(struct func_model *m, uint32_t slot)
{
	m->paths[m->stack.depth & (FUNC_STACK_FRAMES - 1)] = m->path;
	func_stack_push(&m->stack, m->value[slot], m->history, slot);
	m->history = func_mark(slot);
	m->path = m->path << 5 ^ func_mark(slot);
	m->os_history = 0;
	return slot;
}

/* The call that `inner` others lie inside of ended; all of them are known. */
static inline uint32_t func_model_exit(struct func_model *m, uint32_t inner)
{
	const struct func_frame *frame;
	uint32_t symbol;

	m->stack.depth -= 1 + inner;
	frame = func_stack_get(&m->stack, m->stack.depth);
	symbol = frame->slot + FUNC_SLOTS;
	m->history = frame->history << 7 ^ func_mark(symbol);
	m->path = m->paths[m->stack.depth & (FUNC_STACK_FRAMES - 1)] << 5 ^ func_mark(symbol);
	m->os_history = 0;
	return symbol;
}

static inline uint32_t func_model_stray(struct func_model *m, uint32_t slot)
{
	uint32_t symbol = slot + FUNC_SLOTS;

	func_stack_pop_unknown(&m->stack);
	m->history = m->history << 7 ^ func_mark(symbol);
	m->path = m->path << 5 ^ func_mark(symbol);
	m->os_history = 0;
	return symbol;
}

static inline uint32_t func_model_os(struct func_model *m, uint32_t slot)
{
	m->os_history = m->os_history << 7 ^ func_mark(slot);
	return slot;
}

/* A model that was never used starts as what is known of all. */
static ALWAYS_INLINE struct nibble_model *func_model_young(struct nibble_model *m,
							   const struct nibble_model *all)
{
	if (m->lane[0] == 0) {
		*m = *all;
		if (m->lane[0] > FUNC_TIME_YOUNG)
			m->lane[0] = FUNC_TIME_YOUNG;
	}
	return m;
}

/* The statistics of the time that an event took: which of them. Moves on to the next. */
static inline uint32_t func_model_time(struct func_model *m, uint32_t symbol)
{
	uint32_t pair = func_mark(symbol << 13 | m->last);

	m->last = symbol;
	return pair;
}

static inline struct nibble_model *func_time_of(struct func_model *m, uint32_t pair)
{
	return func_model_young(&m->time_of[pair >> (32 - FUNC_TIME_BITS)], &m->time);
}

static inline struct nibble_model *func_more_of(struct func_model *m, uint32_t pair,
						uint32_t time_class)
{
	return func_model_young(
		&m->more_of[(pair ^ func_mark(time_class)) >> (32 - FUNC_MORE_BITS)],
		&m->more[time_class]);
}

/* The low bits of a time, one by one: `node` is 1, then what was written of them behind a 1. */
static inline struct bit_model *func_low_of(struct func_model *m, uint32_t pair, uint32_t more,
					    uint32_t node)
{
	return &m->low_of[(pair ^ func_mark(more)) >> (32 - FUNC_LOW_BITS) ^ node];
}

/* Times by class: below 8 each is its own; then ranges, of which up to four bits are a symbol and
 * `low` bits follow; 14 and 15 are described in func.md. */
#define FUNC_TIME_EXACT 8U
#define FUNC_TIME_WIDE 14U
#define FUNC_TIME_LONG 15U
#define FUNC_TIME_WIDE_FROM 128U
#define FUNC_TIME_LONG_FROM 2048U

struct func_time_class {
	uint8_t from, low;
};

extern const struct func_time_class func_time_classes[FUNC_TIME_WIDE];

/* The size of a number in bits, 0 for 0. */
static inline uint32_t func_bit_length(uint64_t v)
{
	return v ? 64 - (uint32_t)__builtin_clzll(v) : 0;
}

static inline uint64_t func_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t func_unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

#endif
