/* SPDX-License-Identifier: MIT */
/* func_random: see func_random.h. */
#include "tools/func_random.h"

#define TEXT_START 0x5555555400c0ULL
#define SHARED_START 0x7ffff7c12340ULL
#define SHALLOW 60U /* calls deep, unless a recursion is on */

/* xorshift64*: small, the same everywhere, and good enough for this. */
uint64_t func_random_bits(struct func_random *r)
{
	r->x ^= r->x >> 12;
	r->x ^= r->x << 25;
	r->x ^= r->x >> 27;
	return r->x * 0x2545f4914f6cdd1dULL;
}

uint32_t func_random_below(struct func_random *r, uint32_t n)
{
	return (uint32_t)((func_random_bits(r) >> 32) * n >> 32);
}

static bool one_in(struct func_random *r, uint32_t n)
{
	return func_random_below(r, n) == 0;
}

static void make_program(struct func_random *r)
{
	uint64_t at = TEXT_START;
	struct func_random_function *f;
	uint32_t i, k;

	for (i = 0; i < r->n_functions; i++) {
		f = &r->function[i];
		if (i == r->n_functions / 2)
			at = SHARED_START;
		at += 16 + 4ULL * func_random_below(r, 300);
		f->address = at;
		f->n_calls = (uint8_t)func_random_below(r, FUNC_RANDOM_CALLS + 1);
		for (k = 0; k < f->n_calls; k++)
			f->calls[k] =
				(uint16_t)func_random_below(r, one_in(r, 4)
								       ? r->n_functions
								       : 1 + r->n_functions / 8);
	}
}

void func_random_init(struct func_random *r, uint64_t seed, unsigned style)
{
	r->x = seed * 0x9e3779b97f4a7c15ULL + 1;
	r->style = style;
	r->tick = 1 + (func_random_bits(r) >> 20);
	r->n_functions = one_in(r, 3) ? FUNC_RANDOM_FUNCTIONS : 200;
	r->depth = 0;
	r->deep = 0;
	make_program(r);
}

static void pass_time(struct func_random *r)
{
	uint32_t kind = func_random_below(r, 1000);

	if (kind < 900)
		r->tick += 7 + func_random_below(r, 4);
	else if (kind < 990)
		r->tick += func_random_below(r, 300);
	else if (kind < 999)
		r->tick += func_random_below(r, 100000);
	else
		r->tick += func_random_bits(r) >> (24 + func_random_below(r, 30));
	if (r->style == FUNC_RANDOM_BROKEN && one_in(r, 500))
		r->tick -= func_random_below(r, 5000);
}

static void call(struct func_random *r, uint32_t function, struct func_event *ret)
{
	ret->kind = FUNC_ENTER;
	ret->value = r->function[function].address;
	r->frame[r->depth].function = (uint16_t)function;
	r->frame[r->depth++].next = 0;
}

static void leave(struct func_random *r, uint32_t inner, struct func_event *ret)
{
	r->depth -= 1 + inner;
	ret->kind = FUNC_EXIT;
	ret->value = r->function[r->frame[r->depth].function].address;
}

/* Returns false if nothing odd happens. */
static bool break_flow(struct func_random *r, struct func_event *ret)
{
	switch (func_random_below(r, 400)) {
	case 0: /* longjmp, an exception: calls are passed over */
		if (r->depth < 3)
			return false;
		leave(r, 1 + func_random_below(r, r->depth - 1), ret);
		return true;
	case 1: /* a return of what was not seen to be called */
		ret->kind = FUNC_EXIT;
		ret->value = r->function[func_random_below(r, r->n_functions)].address;
		return true;
	case 2:
	case 3:
		ret->kind = FUNC_OS;
		ret->os = (uint8_t)func_random_below(r, FUNC_OS_MAPS + 1);
		ret->value = func_random_below(r, 200);
		return true;
	case 4: /* calls that nobody returns from, and nothing tells */
		if (r->depth)
			r->depth -= func_random_below(r, r->depth);
		return false;
	default:
		return false;
	}
}

static void next_hostile(struct func_random *r, struct func_event *ret)
{
	uint32_t shift = func_random_below(r, 64);

	ret->kind = (uint8_t)func_random_below(r, 3);
	if (ret->kind == FUNC_OS)
		ret->os = (uint8_t)func_random_below(r, FUNC_OS_MAX + 1);
	if (one_in(r, 3))
		ret->value = func_random_bits(r) >> shift;
	else
		ret->value = r->function[func_random_below(r, r->n_functions)].address;
	if (one_in(r, 50))
		ret->value = one_in(r, 2) ? 0 : UINT64_MAX;
	if (one_in(r, 4))
		r->tick = func_random_bits(r) >> func_random_below(r, 64);
	else
		r->tick += func_random_below(r, 300);
	ret->tick = r->tick;
}

void func_random_next(struct func_random *r, struct func_event *ret)
{
	const struct func_random_function *f;
	struct func_random_frame *top;

	memset(ret, 0, sizeof(*ret));
	if (r->style == FUNC_RANDOM_HOSTILE) {
		next_hostile(r, ret);
		return;
	}
	pass_time(r);
	ret->tick = r->tick;
	if (r->style == FUNC_RANDOM_BROKEN && break_flow(r, ret))
		return;
	if (!r->depth) {
		call(r, 0, ret);
		return;
	}
	top = &r->frame[r->depth - 1];
	f = &r->function[top->function];
	if (r->style == FUNC_RANDOM_DEEP && !r->deep && r->depth < SHALLOW && one_in(r, 3000))
		r->deep = func_random_below(r, FUNC_RANDOM_DEPTH - SHALLOW - 1);
	if (r->deep && r->depth < FUNC_RANDOM_DEPTH - 1) {
		r->deep--;
		call(r, one_in(r, 5) ? func_random_below(r, 9) : top->function, ret);
	} else if (top->next < f->n_calls && r->depth < SHALLOW && !one_in(r, 8)) {
		if (one_in(r, 6)) /* a branch not taken */
			top->next++;
		call(r, f->calls[top->next++ % f->n_calls], ret);
	} else {
		leave(r, 0, ret);
	}
}
