/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* func_decode: see func_decode.h; mirrors func_encode.c function by function. */
#include "wire/func_decode.h"

/* bits: one at least. */
static uint64_t get_raw(struct func_decoder *d, uint32_t bits)
{
	uint64_t v = 0;

	while (bits > 16) {
		bits -= 16;
		v = v << 16 | range_decode_raw(&d->rc, 16);
	}
	return v << bits | range_decode_raw(&d->rc, bits);
}

static uint64_t get_number(struct func_decoder *d, enum func_number use)
{
	uint32_t node = 1, i, length;

	for (i = 0; i < 7; i++)
		node = node << 1 | range_decode_bit(&d->rc, &d->model.number[use][node]);
	length = node & 127;
	if (length > 64) {
		d->corrupt = true;
		return 0;
	}
	if (length < 2)
		return length;
	return 1ULL << (length - 1) | get_raw(d, length - 1);
}

static uint32_t get_slot(struct func_decoder *d)
{
	struct func_slot_tree *tree = &d->model.tree;
	uint32_t slot = range_decode_nibble(&d->rc, &tree->high);

	slot = slot << 4 | range_decode_nibble(&d->rc, &tree->middle[slot]);
	slot = slot << 4 | range_decode_nibble(&d->rc, &tree->low[slot]);
	if (d->model.type[slot] == FUNC_TYPE_NONE)
		d->corrupt = true;
	return slot;
}

/* The same, of a function. */
static uint32_t get_function(struct func_decoder *d)
{
	uint32_t slot = get_slot(d);

	if (d->model.type[slot] != FUNC_TYPE_CALL)
		d->corrupt = true;
	return slot;
}

static uint32_t get_address(struct func_decoder *d)
{
	struct func_model *m = &d->model;
	uint64_t low = range_decode_nibble(&d->rc, &m->address_low);
	uint64_t far = (uint64_t)func_unzigzag(get_number(d, FUNC_NUMBER_ADDRESS));

	m->last_new = ((m->last_new >> 4) + far) << 4 | low;
	return func_model_add(m, FUNC_TYPE_CALL, m->last_new);
}

/* What a guess means happened. Returns its symbol. */
static ALWAYS_INLINE uint32_t apply(struct func_decoder *d, uint32_t slot, struct func_event *ret)
{
	struct func_model *m = &d->model;

	if (slot == FUNC_SLOT_EXIT) {
		if (!func_stack_known(&m->stack)) {
			d->corrupt = true;
			return 0;
		}
		ret->kind = FUNC_EXIT;
		ret->value = func_stack_get(&m->stack, m->stack.depth - 1)->address;
		return func_model_exit(m, 0);
	}
	ret->value = m->value[slot];
	if (m->type[slot] == FUNC_TYPE_CALL) {
		ret->kind = FUNC_ENTER;
		return func_model_enter(m, slot);
	}
	ret->kind = FUNC_OS;
	ret->os = (uint8_t)(m->type[slot] - FUNC_TYPE_OS);
	return func_model_os(m, slot);
}

static uint32_t get_outer(struct func_decoder *d, struct func_event *ret)
{
	struct func_model *m = &d->model;
	uint64_t inner = get_number(d, FUNC_NUMBER_DEPTH);

	if (inner >= func_stack_known(&m->stack)) {
		d->corrupt = true;
		return 0;
	}
	ret->kind = FUNC_EXIT;
	ret->value = func_stack_get(&m->stack, m->stack.depth - 1 - (uint32_t)inner)->address;
	return func_model_exit(m, (uint32_t)inner);
}

static uint32_t get_stray(struct func_decoder *d, uint32_t other, struct func_event *ret)
{
	uint32_t slot = other == FUNC_OTHER_STRAY ? get_function(d) : get_address(d);

	ret->kind = FUNC_EXIT;
	ret->value = d->model.value[slot];
	return func_model_stray(&d->model, slot);
}

static uint32_t get_new_os(struct func_decoder *d)
{
	uint64_t os = get_number(d, FUNC_NUMBER_TYPE);
	uint64_t value = get_number(d, FUNC_NUMBER_VALUE);

	if (os > FUNC_OS_MAX) {
		d->corrupt = true;
		os = 0;
	}
	return func_model_add(&d->model, FUNC_TYPE_OS + (uint32_t)os, value);
}

/* What neither of the first two guesses said, but for FUNC_OTHER_BACK. */
static uint32_t get_other(struct func_decoder *d, uint32_t other, struct func_guesses *g,
			  struct func_event *ret)
{
	uint32_t slot = FUNC_SLOT_EXIT;

	switch (other) {
	case FUNC_OTHER_EXIT:
		break;
	case FUNC_OTHER_THIRD:
		slot = g->slot[2];
		break;
	case FUNC_OTHER_KNOWN:
		slot = get_slot(d);
		break;
	case FUNC_OTHER_NEW:
		slot = get_address(d);
		break;
	case FUNC_OTHER_NEW_OS:
		slot = get_new_os(d);
		break;
	case FUNC_OTHER_OUTER:
		return get_outer(d, ret);
	case FUNC_OTHER_STRAY:
	case FUNC_OTHER_STRAY_NEW:
		return get_stray(d, other, ret);
	default:
		d->corrupt = true;
		break;
	}
	func_guesses_learn(g, slot);
	return apply(d, slot, ret);
}

/* The first guess was wrong; `g` has been used up if the clock stepped back. */
static NOINLINE uint32_t get_unexpected(struct func_decoder *d, struct func_guesses *g,
					struct func_event *ret)
{
	struct func_model *m = &d->model;
	uint32_t other;

	if (!range_decode_bit(&d->rc, &m->second[g->context])) {
		func_guesses_learn(g, g->slot[1]);
		return apply(d, g->slot[1], ret);
	}
	other = range_decode_nibble(&d->rc, &m->other);
	if (other != FUNC_OTHER_BACK)
		return get_other(d, other, g, ret);
	m->tick -= get_number(d, FUNC_NUMBER_BACK);
	func_model_guess(m, g);
	if (!range_decode_bit(&d->rc, &m->first[g->context])) {
		func_guesses_learn(g, g->slot[0]);
		return apply(d, g->slot[0], ret);
	}
	if (!range_decode_bit(&d->rc, &m->second[g->context])) {
		func_guesses_learn(g, g->slot[1]);
		return apply(d, g->slot[1], ret);
	}
	other = range_decode_nibble(&d->rc, &m->other);
	return get_other(d, other, g, ret);
}

/* Times of 8 ticks and more. */
static NOINLINE uint64_t get_more_time(struct func_decoder *d, uint32_t class, uint32_t pair)
{
	struct func_model *m = &d->model;
	uint32_t more, i, octave, node = 1;

	if (class == FUNC_TIME_LONG)
		return FUNC_TIME_LONG_FROM + get_number(d, FUNC_NUMBER_TIME);
	more = range_decode_nibble(&d->rc, func_more_of(m, pair, class));
	nibble_model_update(&m->more[class], more);
	if (class == FUNC_TIME_WIDE) {
		octave = more >> 2;
		return (uint64_t)(4 | (more & 3)) << (5 + octave) | get_raw(d, 5 + octave);
	}
	for (i = 0; i < func_time_classes[class].low; i++)
		node = node << 1 |
		       range_decode_bit(&d->rc, func_low_of(m, pair, class << 4 | more, node));
	return func_time_classes[class].from + (more << i) + (node ^ 1U << i);
}

static void get_stack(struct func_decoder *d)
{
	struct func_model *m = &d->model;
	uint64_t floor = get_number(d, FUNC_NUMBER_DEPTH), known = get_number(d, FUNC_NUMBER_DEPTH);
	uint32_t slot;

	if (floor > UINT32_MAX || known > FUNC_STACK_FRAMES) {
		d->corrupt = true;
		return;
	}
	m->stack.depth = m->stack.floor = (uint32_t)floor;
	while (known-- && !d->corrupt) {
		if (range_decode_bit(&d->rc, &m->frame_known))
			slot = get_function(d);
		else
			slot = get_address(d);
		func_model_enter(m, slot);
	}
}

void func_decoder_init(struct func_decoder *d)
{
	d->fresh = true;
	d->corrupt = false;
	d->stage = FUNC_STAGE_HOOK;
	func_stack_init(&d->hook.model.stack);
}

static enum wire_status status_of(struct func_decoder *d)
{
	if (d->corrupt || range_decode_overrun(&d->rc)) {
		d->corrupt = true;
		return WIRE_CORRUPT;
	}
	return WIRE_OK;
}

static enum wire_status begin_hook(struct func_decoder *d, uint64_t tick)
{
	if (!d->fresh)
		return WIRE_OK;
	if (func_hook_decode_begin(&d->hook, &d->hook_bytes, tick) != WIRE_OK)
		d->corrupt = true;
	d->fresh = false;
	return d->corrupt ? WIRE_CORRUPT : WIRE_OK;
}

enum wire_status func_decoder_begin(struct func_decoder *d, const uint8_t *in, uint32_t len,
				    uint64_t tick)
{
	if (!len || in[0] > FUNC_STAGE_RANGE || (!d->fresh && in[0] != d->stage) || d->corrupt) {
		d->corrupt = true;
		return WIRE_CORRUPT;
	}
	d->stage = in[0];
	if (d->stage == FUNC_STAGE_HOOK) {
		reader_init(&d->hook_bytes, in + 1, len - 1);
		return begin_hook(d, tick);
	}
	range_decode_begin(&d->rc, in + 1, len - 1);
	if (d->fresh) {
		func_model_init(&d->model);
		d->model.tick = tick;
		get_stack(d);
	}
	d->fresh = false;
	return status_of(d);
}

static enum wire_status decode_hook(struct func_decoder *d, struct func_event *ret)
{
	if (func_hook_decode(&d->hook, &d->hook_bytes, ret) != WIRE_OK)
		d->corrupt = true;
	return d->corrupt ? WIRE_CORRUPT : WIRE_OK;
}

enum wire_status func_decode(struct func_decoder *d, struct func_event *ret)
{
	struct func_model *m = &d->model;
	uint32_t symbol, class, pair;
	struct func_guesses g;

	if (d->corrupt || d->fresh)
		return WIRE_CORRUPT;
	if (d->stage == FUNC_STAGE_HOOK)
		return decode_hook(d, ret);
	ret->os = 0;
	func_model_guess(m, &g);
	if (LIKELY(!range_decode_bit(&d->rc, &m->first[g.context]))) {
		func_guesses_learn(&g, g.slot[0]);
		symbol = apply(d, g.slot[0], ret);
	} else {
		symbol = get_unexpected(d, &g, ret);
	}
	if (d->corrupt)
		return WIRE_CORRUPT;
	pair = func_model_time(m, symbol);
	class = range_decode_nibble(&d->rc, func_time_of(m, pair));
	nibble_model_update(&m->time, class);
	m->tick += class < FUNC_TIME_EXACT ? class : get_more_time(d, class, pair);
	ret->tick = m->tick;
	return status_of(d);
}

enum wire_status func_decoder_end(struct func_decoder *d)
{
	if (d->corrupt)
		return WIRE_CORRUPT;
	if (d->stage == FUNC_STAGE_HOOK)
		return reader_left(&d->hook_bytes) ? WIRE_CORRUPT : WIRE_OK;
	return d->rc.pos + 4 < d->rc.len ? WIRE_CORRUPT : WIRE_OK;
}
