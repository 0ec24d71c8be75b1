/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_hook_encode: calls and returns into bytes, inside of the traced program
 * (docs/format/func.md, sections 3 to 5).
 *
 *	func_hook_init(&h);                          nothing known, nothing open
 *	len = func_hook_begin(&h, out, tick);        a segment starts: the open calls are written
 *	out = func_hook_enter(&h, out, address, tick) …   each at most FUNC_HOOK_ROOM bytes, which the
 *	                                             caller has made sure of
 *
 * Bytes once written never change, so whoever reads along sees whole events. Nothing here allocates,
 * sleeps, fails or calls anything but memset. The common case of an entry and of an exit is inline:
 * it is to lie inside of the hook itself.
 */
#ifndef KISEKI_WIRE_FUNC_HOOK_ENCODE_H
#define KISEKI_WIRE_FUNC_HOOK_ENCODE_H

#include "wire/func_hook.h"

struct func_hook {
	struct func_hook_model model;
};

void func_hook_init(struct func_hook *h);

/* Forgets what was learned, keeps the stack and writes it: at most FUNC_HOOK_BEGIN_ROOM bytes. Returns
 * how many. */
uint32_t func_hook_begin(struct func_hook *h, uint8_t *out, uint64_t tick);

/* What the machine did; os is at most FUNC_OS_MAX. */
uint8_t *func_hook_os(struct func_hook *h, uint8_t *out, uint8_t os, uint64_t value, uint64_t tick);

/* Calls and returns that are lost still open and close, so that the next segment starts with the right
 * stack: it has to start before anything else is written. */
void func_hook_pass_enter(struct func_hook *h, uint64_t address);
void func_hook_pass_exit(struct func_hook *h, uint64_t address);

/* The cases that are not inline. */
uint8_t *func_hook_enter_rare(struct func_hook *h, uint8_t *out, uint64_t address, uint64_t tick);
uint8_t *func_hook_exit_rare(struct func_hook *h, uint8_t *out, uint64_t address, uint64_t tick);

static ALWAYS_INLINE uint8_t *func_hook_enter(struct func_hook *h, uint8_t *out, uint64_t address,
					      uint64_t tick)
{
	struct func_hook_model *m = &h->model;
	uint16_t *guess = func_hook_guess(m);
	uint64_t ticks = tick - m->tick;
	uint32_t slot = *guess & ~FUNC_HOOK_SURE;

	if (!LIKELY(slot != FUNC_HOOK_EXIT && m->function[slot] == address &&
		    ticks < HOOK_GUESS_TICKS))
		return func_hook_enter_rare(h, out, address, tick);
	*guess = (uint16_t)(slot | FUNC_HOOK_SURE);
	m->tick = tick;
	func_hook_model_enter(m, address, slot);
	*out = (uint8_t)(HOOK_GUESS + ticks);
	return out + 1;
}

static ALWAYS_INLINE uint8_t *func_hook_exit(struct func_hook *h, uint8_t *out, uint64_t address,
					     uint64_t tick)
{
	struct func_hook_model *m = &h->model;
	uint16_t *guess = func_hook_guess(m);
	uint64_t ticks = tick - m->tick;
	uint32_t slot = *guess & ~FUNC_HOOK_SURE;

	if (!LIKELY(slot == FUNC_HOOK_EXIT && func_stack_is_top(&m->stack, address) &&
		    ticks < HOOK_GUESS_TICKS))
		return func_hook_exit_rare(h, out, address, tick);
	*guess = FUNC_HOOK_EXIT | FUNC_HOOK_SURE;
	m->tick = tick;
	func_hook_model_exit(m);
	*out = (uint8_t)(HOOK_GUESS + ticks);
	return out + 1;
}

#endif
