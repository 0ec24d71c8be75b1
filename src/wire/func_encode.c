/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_encode: see func_encode.h, and func_model.h for what is expected of an event.
 *
 * The way of an event: was it the first guess, else the second, else what; then the time since the
 * last event. Two symbols, most of the time. func_decode.c mirrors this file function by function; a
 * change in one is a change in both and in the spec.
 */
#include "wire/func_encode.h"

/* bits: one at least. */
static void put_raw(struct func_encoder *e, uint64_t v, uint32_t bits)
{
	while (bits > 16) {
		bits -= 16;
		range_encode_raw(&e->rc, (uint32_t)(v >> bits) & 0xffff, 16);
	}
	range_encode_raw(&e->rc, (uint32_t)v & ((1U << bits) - 1), bits);
}

/* Its size in bits, and the bits below the leading one. */
static void put_number(struct func_encoder *e, enum func_number use, uint64_t v)
{
	uint32_t node = 1, i, bit, length = func_bit_length(v);

	for (i = 7; i--;) {
		bit = length >> i & 1;
		range_encode_bit(&e->rc, &e->model.number[use][node], bit);
		node = node << 1 | bit;
	}
	if (length > 1)
		put_raw(e, v, length - 1);
}

static void put_slot(struct func_encoder *e, uint32_t slot)
{
	struct func_slot_tree *tree = &e->model.tree;

	range_encode_nibble(&e->rc, &tree->high, slot >> 8);
	range_encode_nibble(&e->rc, &tree->middle[slot >> 8], slot >> 4 & 15);
	range_encode_nibble(&e->rc, &tree->low[slot >> 4], slot & 15);
}

/* The low bits of addresses are alike: functions are aligned. */
static uint32_t put_address(struct func_encoder *e, uint64_t address)
{
	struct func_model *m = &e->model;
	int64_t far = (int64_t)((address >> 4) - (m->last_new >> 4));

	range_encode_nibble(&e->rc, &m->address_low, (uint32_t)address & 15);
	put_number(e, FUNC_NUMBER_ADDRESS, func_zigzag(far));
	m->last_new = address;
	return func_model_add(m, FUNC_TYPE_CALL, address);
}

static inline uint32_t type_of(const struct func_event *ev)
{
	if (ev->kind == FUNC_ENTER)
		return FUNC_TYPE_CALL;
	return ev->kind == FUNC_EXIT ? FUNC_TYPE_EXIT : FUNC_TYPE_OS + ev->os;
}

/* Is this what a guess means? */
static inline bool is_event(const struct func_model *m, const struct func_event *ev, uint32_t slot)
{
	if (slot == FUNC_SLOT_EXIT)
		return ev->kind == FUNC_EXIT && func_stack_is_top(&m->stack, ev->value);
	return m->value[slot] == ev->value && m->type[slot] == type_of(ev);
}

/* What a guess means happened. Returns its symbol. */
static inline uint32_t apply(struct func_model *m, uint32_t slot)
{
	if (slot == FUNC_SLOT_EXIT)
		return func_model_exit(m, 0);
	return m->type[slot] == FUNC_TYPE_CALL ? func_model_enter(m, slot) : func_model_os(m, slot);
}

static void put_other(struct func_encoder *e, enum func_other other)
{
	range_encode_nibble(&e->rc, &e->model.other, other);
}

/* The end of a call that is not the innermost one. */
static uint32_t put_odd_exit(struct func_encoder *e, uint64_t address)
{
	struct func_model *m = &e->model;
	uint32_t slot, inner = func_stack_find(&m->stack, address);

	if (inner < FUNC_STACK_FRAMES) {
		put_other(e, FUNC_OTHER_OUTER);
		put_number(e, FUNC_NUMBER_DEPTH, inner);
		return func_model_exit(m, inner);
	}
	slot = func_model_find(m, FUNC_TYPE_CALL, address);
	if (slot) {
		put_other(e, FUNC_OTHER_STRAY);
		put_slot(e, slot);
	} else {
		put_other(e, FUNC_OTHER_STRAY_NEW);
		slot = put_address(e, address);
	}
	return func_model_stray(m, slot);
}

/* What has no slot. Returns the one it gets. */
static uint32_t put_new(struct func_encoder *e, const struct func_event *ev)
{
	if (ev->kind == FUNC_ENTER) {
		put_other(e, FUNC_OTHER_NEW);
		return put_address(e, ev->value);
	}
	put_other(e, FUNC_OTHER_NEW_OS);
	put_number(e, FUNC_NUMBER_TYPE, ev->os);
	put_number(e, FUNC_NUMBER_VALUE, ev->value);
	return func_model_add(&e->model, type_of(ev), ev->value);
}

/* The first guess was wrong. Returns the event's symbol. */
static NOINLINE uint32_t put_unexpected(struct func_encoder *e, const struct func_event *ev,
					struct func_guesses *g)
{
	struct func_model *m = &e->model;
	bool second = is_event(m, ev, g->slot[1]);
	uint32_t slot = g->slot[1];

	range_encode_bit(&e->rc, &m->second[g->context], !second);
	if (second) {
		func_guesses_learn(g, slot);
		return apply(m, slot);
	}
	if (ev->kind == FUNC_EXIT) {
		if (!func_stack_is_top(&m->stack, ev->value))
			return put_odd_exit(e, ev->value);
		put_other(e, FUNC_OTHER_EXIT);
		slot = FUNC_SLOT_EXIT;
	} else if (is_event(m, ev, g->slot[2])) {
		put_other(e, FUNC_OTHER_THIRD);
		slot = g->slot[2];
	} else {
		slot = func_model_find(m, type_of(ev), ev->value);
		if (slot) {
			put_other(e, FUNC_OTHER_KNOWN);
			put_slot(e, slot);
		} else {
			slot = put_new(e, ev);
		}
	}
	func_guesses_learn(g, slot);
	return apply(m, slot);
}

/* Time runs backwards: the event follows as if it took none. */
static NOINLINE void put_back(struct func_encoder *e, uint64_t tick)
{
	struct func_model *m = &e->model;
	struct func_guesses g;

	func_model_guess(m, &g);
	range_encode_bit(&e->rc, &m->first[g.context], 1);
	range_encode_bit(&e->rc, &m->second[g.context], 1);
	put_other(e, FUNC_OTHER_BACK);
	put_number(e, FUNC_NUMBER_BACK, m->tick - tick);
	m->tick = tick;
}

static void put_wide_time(struct func_encoder *e, uint32_t ticks, uint32_t pair)
{
	struct func_model *m = &e->model;
	uint32_t octave = func_bit_length(ticks) - 8,
		 more = octave << 2 | (ticks >> (5 + octave) & 3);

	range_encode_nibble(&e->rc, func_more_of(m, pair, FUNC_TIME_WIDE), more);
	nibble_model_update(&m->more[FUNC_TIME_WIDE], more);
	put_raw(e, ticks, 5 + octave);
}

/* Times of 8 ticks and more. */
static NOINLINE void put_more_time(struct func_encoder *e, uint64_t ticks, uint32_t class,
				   uint32_t pair)
{
	struct func_model *m = &e->model;
	uint32_t more, low, bit, node = 1;

	if (class == FUNC_TIME_LONG) {
		put_number(e, FUNC_NUMBER_TIME, ticks - FUNC_TIME_LONG_FROM);
		return;
	}
	if (class == FUNC_TIME_WIDE) {
		put_wide_time(e, (uint32_t)ticks, pair);
		return;
	}
	low = func_time_classes[class].low;
	more = (uint32_t)(ticks - func_time_classes[class].from) >> low;
	range_encode_nibble(&e->rc, func_more_of(m, pair, class), more);
	nibble_model_update(&m->more[class], more);
	while (low--) {
		bit = ticks >> low & 1;
		range_encode_bit(&e->rc, func_low_of(m, pair, class << 4 | more, node), bit);
		node = node << 1 | bit;
	}
}

static inline uint32_t class_of(uint64_t ticks)
{
	if (ticks < FUNC_TIME_EXACT)
		return (uint32_t)ticks;
	if (ticks < 32)
		return 6 + (uint32_t)(ticks < 16 ? ticks >> 2 : 2 + (ticks >> 3));
	if (ticks < FUNC_TIME_WIDE_FROM)
		return ticks < 64 ? 12 : 13;
	return ticks < FUNC_TIME_LONG_FROM ? FUNC_TIME_WIDE : FUNC_TIME_LONG;
}

static void put_stack(struct func_encoder *e)
{
	struct func_model *m = &e->model;
	uint32_t i, slot, floor = m->stack.floor, known = func_stack_known(&m->stack);
	uint64_t address;

	put_number(e, FUNC_NUMBER_DEPTH, floor);
	put_number(e, FUNC_NUMBER_DEPTH, known);
	m->stack.depth = floor;
	for (i = 0; i < known; i++) {
		address = func_stack_get(&m->stack, m->stack.depth)->address;
		slot = func_model_find(m, FUNC_TYPE_CALL, address);
		range_encode_bit(&e->rc, &m->frame_known, slot != 0);
		if (slot)
			put_slot(e, slot);
		else
			slot = put_address(e, address);
		func_model_enter(m, slot);
	}
}

void func_encoder_init(struct func_encoder *e, const struct func_stack *stack)
{
	e->fresh = true;
	e->events = 0;
	func_model_init(&e->model);
	if (stack)
		e->model.stack = *stack;
}

void func_encoder_begin(struct func_encoder *e, uint8_t *out, uint32_t room, uint64_t tick)
{
	out[0] = FUNC_STAGE_RANGE;
	range_encode_begin(&e->rc, out + 1);
	e->room = room - 1;
	e->events = 0;
	if (!e->fresh)
		return;
	e->model.tick = tick;
	put_stack(e);
	e->fresh = false;
}

enum wire_status func_encode(struct func_encoder *e, const struct func_event *ev)
{
	struct func_model *m = &e->model;
	struct func_guesses g;
	struct range_encoder r;
	uint32_t symbol, class, pair;
	uint64_t ticks;
	bool right;

	if (e->rc.pos + FUNC_EVENT_ROOM > e->room)
		return WIRE_FULL;
	if ((ev->tick - m->tick) >> 63)
		put_back(e, ev->tick);
	func_model_guess(m, &g);
	r = e->rc; /* a copy that can live in registers */
	right = is_event(m, ev, g.slot[0]);
	range_encode_bit(&r, &m->first[g.context], !right);
	if (LIKELY(right)) {
		func_guesses_learn(&g, g.slot[0]);
		symbol = apply(m, g.slot[0]);
	} else {
		e->rc = r;
		symbol = put_unexpected(e, ev, &g);
		r = e->rc;
	}
	pair = func_model_time(m, symbol);
	ticks = ev->tick - m->tick;
	m->tick = ev->tick;
	class = class_of(ticks);
	range_encode_nibble(&r, func_time_of(m, pair), class);
	nibble_model_update(&m->time, class);
	e->rc = r;
	if (class >= FUNC_TIME_EXACT)
		put_more_time(e, ticks, class, pair);
	e->events++;
	return WIRE_OK;
}

uint32_t func_encoder_end(struct func_encoder *e)
{
	return 1 + range_encode_end(&e->rc);
}
