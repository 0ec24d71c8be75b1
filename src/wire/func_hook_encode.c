/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* func_hook_encode: see func_hook_encode.h. Here is what is not one byte. */
#include "wire/func_hook_encode.h"

/* After this, time has not run backwards; returns the ticks since the last event. */
static uint64_t take_time(struct func_hook_model *m, uint8_t **out, uint64_t tick)
{
	uint64_t ticks = tick - m->tick;

	if (ticks >> 63) {
		*(*out)++ = HOOK_BACK;
		*out = varint_put(*out, 0 - ticks);
		ticks = 0;
	}
	m->tick = tick;
	return ticks;
}

/* A byte that has room for `most` ticks, and the rest if there are more. */
static uint8_t *put_short(uint8_t *out, uint32_t code, uint32_t most, uint64_t ticks)
{
	if (ticks < most) {
		*out++ = (uint8_t)(code + ticks);
		return out;
	}
	*out++ = (uint8_t)(code + most);
	return varint_put(out, ticks - most);
}

static uint8_t *put_address(struct func_hook_model *m, uint8_t *out, uint64_t address)
{
	return varint_put_signed(out, (int64_t)(address - m->last_new));
}

/* An entry that was not guessed, but maybe in the second place. Returns its slot. */
static uint32_t put_enter(struct func_hook_model *m, uint8_t **out, uint64_t address,
			  uint64_t ticks)
{
	uint16_t *second = func_hook_second(m);
	uint32_t slot = *second;

	if (slot && m->function[slot] == address) {
		*out = put_short(*out, HOOK_SECOND, HOOK_SECOND_TICKS, ticks);
		return slot;
	}
	slot = func_hook_model_find(m, address);
	if (slot) {
		*(*out)++ = (uint8_t)(HOOK_ENTER + (slot >> HOOK_ENTER_LOW_BITS));
		*(*out)++ = (uint8_t)slot;
	} else {
		*(*out)++ = HOOK_ENTER_NEW;
		*out = put_address(m, *out, address);
		slot = func_hook_model_add(m, address);
	}
	*second = (uint16_t)slot;
	*out = varint_put(*out, ticks);
	return slot;
}

NOINLINE uint8_t *func_hook_enter_rare(struct func_hook *h, uint8_t *out, uint64_t address,
				       uint64_t tick)
{
	struct func_hook_model *m = &h->model;
	uint64_t ticks = take_time(m, &out, tick);
	uint16_t *guess = func_hook_guess(m);
	uint32_t slot = *guess & ~FUNC_HOOK_SURE;

	if (slot != FUNC_HOOK_EXIT && m->function[slot] == address) {
		out = put_short(out, HOOK_GUESS, HOOK_GUESS_TICKS, ticks);
		*guess |= FUNC_HOOK_SURE;
	} else {
		slot = put_enter(m, &out, address, ticks);
		func_hook_guess_learn(guess, slot);
	}
	func_hook_model_enter(m, address, slot);
	return out;
}

/* The exit of a call that is not in the stack. */
static uint8_t *put_stray(struct func_hook_model *m, uint8_t *out, uint64_t address)
{
	uint32_t slot = func_hook_model_find(m, address);

	if (slot) {
		*out++ = HOOK_EXIT_KNOWN;
		out = varint_put(out, slot);
	} else {
		*out++ = HOOK_EXIT_NEW;
		out = put_address(m, out, address);
		slot = func_hook_model_add(m, address);
	}
	func_hook_model_stray(m, slot);
	return out;
}

NOINLINE uint8_t *func_hook_exit_rare(struct func_hook *h, uint8_t *out, uint64_t address,
				      uint64_t tick)
{
	struct func_hook_model *m = &h->model;
	uint64_t ticks = take_time(m, &out, tick);
	uint16_t *guess = func_hook_guess(m);
	uint32_t inner = func_stack_find(&m->stack, address);

	if (inner == 0) {
		if ((*guess & ~FUNC_HOOK_SURE) == FUNC_HOOK_EXIT) {
			out = put_short(out, HOOK_GUESS, HOOK_GUESS_TICKS, ticks);
			*guess |= FUNC_HOOK_SURE;
		} else {
			out = put_short(out, HOOK_EXIT, HOOK_EXIT_TICKS, ticks);
			func_hook_guess_learn(guess, FUNC_HOOK_EXIT);
		}
		func_hook_model_exit(m);
		return out;
	}
	if (inner == FUNC_STACK_FRAMES) {
		out = put_stray(m, out, address);
	} else {
		*out++ = HOOK_EXIT_OUTER;
		out = varint_put(out, inner);
		m->stack.depth -= inner;
		func_hook_model_exit(m);
	}
	return varint_put(out, ticks);
}

uint8_t *func_hook_os(struct func_hook *h, uint8_t *out, uint8_t os, uint64_t value, uint64_t tick)
{
	uint64_t ticks = take_time(&h->model, &out, tick);

	*out++ = HOOK_OS;
	*out++ = os;
	out = varint_put(out, value);
	return varint_put(out, ticks);
}

void func_hook_init(struct func_hook *h)
{
	func_hook_model_init(&h->model);
}

uint32_t func_hook_begin(struct func_hook *h, uint8_t *out, uint64_t tick)
{
	struct func_hook_model *m = &h->model;
	struct func_frame *frame;
	uint8_t *start = out;
	uint32_t i;

	func_hook_model_clear(m, tick);
	out = varint_put(out, m->stack.floor);
	out = varint_put(out, func_stack_known(&m->stack));
	for (i = m->stack.floor; i != m->stack.depth; i++) {
		frame = func_stack_frame(&m->stack, i);
		frame->slot = func_hook_model_find(m, frame->address);
		out = varint_put(out, frame->slot);
		if (!frame->slot) {
			out = put_address(m, out, frame->address);
			frame->slot = func_hook_model_add(m, frame->address);
		}
		frame->history = m->history;
		m->history = func_hook_mark(frame->slot);
	}
	return (uint32_t)(out - start);
}

void func_hook_pass_enter(struct func_hook *h, uint64_t address)
{
	func_stack_push(&h->model.stack, address, 0, FUNC_HOOK_EXIT);
}

void func_hook_pass_exit(struct func_hook *h, uint64_t address)
{
	uint32_t inner = func_stack_find(&h->model.stack, address);

	if (inner == FUNC_STACK_FRAMES)
		func_stack_pop_unknown(&h->model.stack);
	else
		h->model.stack.depth -= inner + 1;
}
