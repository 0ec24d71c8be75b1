/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_hook_decode: see func_hook_decode.h.
 *
 * An event is first read whole, without a change to the model, and then believed: that is how a cut
 * event leaves no trace.
 */
#include "wire/func_hook_decode.h"

/* An event as it is written. */
struct hook_event {
	uint8_t code; /* enum func_hook_code, without what is added to it */
	uint8_t os;
	bool back;
	uint32_t number; /* slot, or calls inside */
	uint64_t value;
	uint64_t ticks;
	uint64_t back_ticks;
};

static uint8_t get_byte(struct byte_reader *r)
{
	const uint8_t *p = reader_bytes(r, 1);

	return p ? *p : 0;
}

static uint64_t get_short(struct byte_reader *r, uint32_t ticks, uint32_t most)
{
	return ticks < most ? ticks : most + reader_varint(r);
}

/* The codes that have a byte for themselves. */
static void parse_rare(struct byte_reader *r, struct hook_event *ev)
{
	uint64_t number;

	switch (ev->code) {
	case HOOK_ENTER_NEW:
	case HOOK_EXIT_NEW:
		ev->value = (uint64_t)reader_signed(r);
		break;
	case HOOK_EXIT_OUTER:
	case HOOK_EXIT_KNOWN:
		number = reader_varint(r);
		ev->number = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
		break;
	default:
		ev->os = get_byte(r);
		ev->value = reader_varint(r);
		break;
	}
	ev->ticks = reader_varint(r);
}

static enum wire_status parse_event(struct byte_reader *r, struct hook_event *ev)
{
	uint8_t code = get_byte(r);

	memset(ev, 0, sizeof(*ev));
	if (code == HOOK_BACK) {
		ev->back = true;
		ev->back_ticks = reader_varint(r);
		code = get_byte(r);
	}
	if (code < HOOK_EXIT) {
		ev->code = HOOK_GUESS;
		ev->ticks = get_short(r, code, HOOK_GUESS_TICKS);
	} else if (code < HOOK_ENTER) {
		ev->code = HOOK_EXIT;
		ev->ticks = get_short(r, code - HOOK_EXIT, HOOK_EXIT_TICKS);
	} else if (code < HOOK_ENTER + (FUNC_HOOK_SLOTS >> HOOK_ENTER_LOW_BITS)) {
		ev->code = HOOK_ENTER;
		ev->number = (uint32_t)(code - HOOK_ENTER) << HOOK_ENTER_LOW_BITS | get_byte(r);
		ev->ticks = reader_varint(r);
	} else if (code >= HOOK_SECOND && code <= HOOK_SECOND + HOOK_SECOND_TICKS) {
		ev->code = HOOK_SECOND;
		ev->ticks = get_short(r, code - HOOK_SECOND, HOOK_SECOND_TICKS);
	} else if (code >= HOOK_ENTER_NEW && code < HOOK_BACK) {
		ev->code = code;
		parse_rare(r, ev);
	} else {
		return WIRE_CORRUPT;
	}
	return r->bad ? WIRE_MORE : WIRE_OK;
}

static bool is_slot(uint32_t slot)
{
	return slot != FUNC_HOOK_EXIT && slot < FUNC_HOOK_SLOTS;
}

static enum wire_status enter_known(struct func_hook_model *m, uint32_t slot,
				    struct func_event *ret)
{
	if (!is_slot(slot))
		return WIRE_CORRUPT;
	ret->kind = FUNC_ENTER;
	ret->value = m->function[slot];
	func_hook_model_enter(m, ret->value, slot);
	return WIRE_OK;
}

/* Leaves the call that `inner` others lie inside of. */
static enum wire_status exit_known(struct func_hook_model *m, uint32_t inner,
				   struct func_event *ret)
{
	if (inner >= func_stack_known(&m->stack))
		return WIRE_CORRUPT;
	m->stack.depth -= inner;
	ret->kind = FUNC_EXIT;
	ret->value = func_stack_get(&m->stack, m->stack.depth - 1)->address;
	func_hook_model_exit(m);
	return WIRE_OK;
}

static enum wire_status exit_stray(struct func_hook_model *m, uint32_t slot, uint64_t address,
				   struct func_event *ret)
{
	ret->kind = FUNC_EXIT;
	ret->value = address;
	func_hook_model_stray(m, slot);
	return WIRE_OK;
}

static enum wire_status guessed(struct func_hook_model *m, struct func_event *ret)
{
	uint16_t *guess = func_hook_guess(m);
	uint32_t slot = *guess & ~FUNC_HOOK_SURE;

	*guess |= FUNC_HOOK_SURE;
	if (slot == FUNC_HOOK_EXIT)
		return exit_known(m, 0, ret);
	return enter_known(m, slot, ret);
}

/* An entry that was not guessed, or in the second place only. */
static enum wire_status entered(struct func_hook_model *m, const struct hook_event *ev,
				struct func_event *ret)
{
	uint16_t *second = func_hook_second(m);
	uint32_t slot = *second;

	if (ev->code == HOOK_ENTER)
		slot = ev->number;
	else if (ev->code == HOOK_ENTER_NEW)
		slot = func_hook_model_add(m, m->last_new + ev->value);
	*second = (uint16_t)slot;
	func_hook_guess_learn(func_hook_guess(m), slot);
	return enter_known(m, slot, ret);
}

static enum wire_status apply_event(struct func_hook_model *m, const struct hook_event *ev,
				    struct func_event *ret)
{
	uint64_t address = m->last_new + ev->value;

	switch (ev->code) {
	case HOOK_GUESS:
		return guessed(m, ret);
	case HOOK_EXIT:
		func_hook_guess_learn(func_hook_guess(m), FUNC_HOOK_EXIT);
		return exit_known(m, 0, ret);
	case HOOK_ENTER:
	case HOOK_ENTER_NEW:
	case HOOK_SECOND:
		return entered(m, ev, ret);
	case HOOK_EXIT_OUTER:
		return exit_known(m, ev->number, ret);
	case HOOK_EXIT_KNOWN:
		if (!is_slot(ev->number))
			return WIRE_CORRUPT;
		return exit_stray(m, ev->number, m->function[ev->number], ret);
	case HOOK_EXIT_NEW:
		return exit_stray(m, func_hook_model_add(m, address), address, ret);
	default:
		ret->kind = FUNC_OS;
		ret->os = ev->os;
		ret->value = ev->value;
		return ev->os > FUNC_OS_MAX ? WIRE_CORRUPT : WIRE_OK;
	}
}

void func_hook_decoder_init(struct func_hook_decoder *d)
{
	func_hook_model_init(&d->model);
}

enum wire_status func_hook_decode(struct func_hook_decoder *d, struct byte_reader *r,
				  struct func_event *ret)
{
	struct func_hook_model *m = &d->model;
	struct byte_reader ahead = *r;
	struct hook_event ev;
	enum wire_status status;

	if (!reader_left(r))
		return WIRE_MORE;
	status = parse_event(&ahead, &ev);
	if (status != WIRE_OK)
		return status;
	ret->os = 0;
	status = apply_event(m, &ev, ret);
	if (status != WIRE_OK)
		return status;
	m->tick += ev.ticks - ev.back_ticks;
	ret->tick = m->tick;
	*r = ahead;
	return WIRE_OK;
}

enum wire_status func_hook_decode_begin(struct func_hook_decoder *d, struct byte_reader *r,
					uint64_t tick)
{
	struct func_hook_model *m = &d->model;
	struct byte_reader ahead = *r;
	uint64_t floor = reader_varint(&ahead), known = reader_varint(&ahead), address, slot;

	func_hook_model_init(m);
	m->tick = tick;
	if (floor > UINT32_MAX || known > FUNC_STACK_FRAMES)
		return WIRE_CORRUPT;
	m->stack.depth = m->stack.floor = (uint32_t)floor;
	for (; known && !ahead.bad; known--) {
		slot = reader_varint(&ahead);
		if (slot >= FUNC_HOOK_SLOTS)
			return WIRE_CORRUPT;
		if (!slot) {
			address = m->last_new + (uint64_t)reader_signed(&ahead);
			slot = func_hook_model_add(m, address);
		}
		func_hook_model_enter(m, m->function[slot], (uint32_t)slot);
	}
	if (ahead.bad)
		return WIRE_MORE;
	*r = ahead;
	return WIRE_OK;
}
