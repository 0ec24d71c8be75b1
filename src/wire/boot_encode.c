/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * boot_encode: see boot_encode.h, and boot_model.h for what is expected of a record.
 *
 * The way of a record: its kind, its tick, its key, its numbers, its text. boot_decode.c mirrors this file
 * function by function; a change in one is a change in both and in the spec.
 */
#include "wire/boot_encode.h"

static void put_raw(struct boot_encoder *e, uint64_t v, uint32_t bits)
{
	while (bits > 16) {
		bits -= 16;
		range_encode_raw(&e->rc, (uint32_t)(v >> bits) & 0xffff, 16);
	}
	if (bits)
		range_encode_raw(&e->rc, (uint32_t)v & ((1U << bits) - 1), bits);
}

/* A number that is not 0: its size in bits, and the bits below the leading one. */
static void put_sized(struct boot_encoder *e, struct boot_size *s, uint64_t v)
{
	uint32_t size = boot_bit_length(v) - 1, high = size >> 2;

	range_encode_nibble(&e->rc, &s->high, high);
	range_encode_bit(&e->rc, &s->low[high][1], size >> 1 & 1);
	range_encode_bit(&e->rc, &s->low[high][2 + (size >> 1 & 1)], size & 1);
	put_raw(e, v, size);
}

static void put_plain(struct boot_encoder *e, enum boot_plain use, uint64_t v)
{
	put_sized(e, &e->model.plain[use], v);
}

static void put_tick(struct boot_encoder *e, const struct boot_event *ev)
{
	struct boot_model *m = &e->model;
	struct nibble_model *times = &m->times[ev->kind];
	uint64_t late = ev->tick - (m->pass + m->interval), far = ev->tick - m->tick;
	bool back;

	if (ev->kind == BOOT_PASS) {
		back = late >> 63;
		range_encode_nibble(&e->rc, times,
				    !late  ? BOOT_TIME_DUE
				    : back ? BOOT_TIME_EARLY
					   : BOOT_TIME_LATE);
		if (late)
			put_plain(e, BOOT_PLAIN_LATE, back ? 0 - late : late);
		return;
	}
	if (!far || ev->tick == m->pass) {
		range_encode_nibble(&e->rc, times, far ? BOOT_TIME_PASS : BOOT_TIME_SAME);
		return;
	}
	back = far >> 63;
	range_encode_nibble(&e->rc, times, back ? BOOT_TIME_DOWN : BOOT_TIME_UP);
	put_plain(e, back ? BOOT_PLAIN_DOWN : BOOT_PLAIN_UP, back ? 0 - far : far);
}

static void put_key(struct boot_encoder *e, uint32_t kind, uint32_t key)
{
	struct boot_model *m = &e->model;
	struct nibble_model *keys = boot_model_keys(m, kind);
	uint32_t last = m->last_key[kind], near = key;

	if (boot_kind_is_task(kind))
		near = key == m->key ? BOOT_KEY_SAME : boot_model_rank(m, last, key);
	if (near < BOOT_KEY_SAME) {
		range_encode_nibble(&e->rc, keys, near);
	} else if (key == m->key) {
		range_encode_nibble(&e->rc, keys, BOOT_KEY_SAME);
	} else if (key - last == 1) {
		range_encode_nibble(&e->rc, keys, BOOT_KEY_NEXT);
	} else {
		range_encode_nibble(&e->rc, keys, key > last ? BOOT_KEY_UP : BOOT_KEY_DOWN);
		put_plain(e, BOOT_PLAIN_KEY, 1 + (uint64_t)(key > last ? key - last : last - key));
	}
}

static void put_state(struct boot_encoder *e, uint64_t letter, uint32_t last)
{
	uint32_t state = boot_model_state(letter);

	range_encode_nibble(&e->rc, &e->model.state[last], state);
	if (state == BOOT_STATE_OTHER)
		put_plain(e, BOOT_PLAIN_STATE, letter);
}

/* A difference, not 0, in units or plainly. */
static void put_step(struct boot_encoder *e, struct boot_field *f, struct nibble_model *step,
		     uint64_t difference)
{
	bool down = difference >> 63;
	uint32_t near = down ? BOOT_DOWN_MAX : BOOT_UP_MAX;
	uint64_t size = down ? 0 - difference : difference, rest = 0, units = size;

	if (boot_unit_get(&f->unit) > 1)
		units = boot_divide(size, boot_unit_get(&f->unit), &rest);
	if (rest) {
		range_encode_nibble(&e->rc, step, down ? BOOT_STEP_DOWN_ODD : BOOT_STEP_UP_ODD);
		put_sized(e, &f->size, size);
	} else if (units <= near) {
		range_encode_nibble(&e->rc, step,
				    (down ? BOOT_STEP_DOWN : BOOT_STEP_UP) + (uint32_t)units - 1);
	} else {
		range_encode_nibble(&e->rc, step, down ? BOOT_STEP_DOWN_FAR : BOOT_STEP_UP_FAR);
		put_sized(e, &f->size, units - near);
	}
	boot_unit_learn(&f->unit, size);
}

/* Returns which of them were not as expected. */
static uint32_t put_numbers(struct boot_encoder *e, const struct boot_event *ev)
{
	struct boot_model *m = &e->model;
	struct boot_field *f = &m->field[boot_model_fields[ev->kind]];
	struct boot_expected x;
	struct nibble_model *step;
	uint32_t i = 0, moved = 0;

	boot_model_expect(m, ev, &x);
	if (ev->kind == BOOT_TASK) {
		put_state(e, ev->number[0], (uint32_t)x.number[0]);
		moved = boot_model_state(ev->number[0]) != x.number[0];
		i = 1;
	}
	for (; i < boot_shapes[ev->kind].numbers; i++) {
		step = &f[i].step[(x.moved >> i & 1) | (moved << 1 >> i & 1) << 1];
		if (ev->number[i] == x.number[i]) {
			range_encode_nibble(&e->rc, step, BOOT_STEP_NONE);
			continue;
		}
		put_step(e, &f[i], step, ev->number[i] - x.number[i]);
		moved |= 1U << i;
	}
	return moved;
}

static void put_byte(struct boot_encoder *e, uint32_t byte)
{
	struct boot_texts *t = &e->model.texts;
	bool right = t->run && boot_texts_expected(t) == byte;
	uint32_t high = byte >> 4;

	if (t->run)
		range_encode_bit(&e->rc, &t->as_expected[t->run], !right);
	if (!right) {
		range_encode_nibble(&e->rc, boot_texts_high(t), high);
		nibble_model_update(&t->all_high, high);
		range_encode_nibble(&e->rc, boot_texts_low(t, high), byte & 15);
		nibble_model_update(&t->all_low[high], byte & 15);
	}
	boot_texts_next(t, byte);
}

static bool is_said(const struct boot_encoder *e, const struct boot_event *ev, uint32_t back,
		    uint32_t *ret_number)
{
	const struct boot_short *s = boot_model_said(&e->model, ev, back, ret_number);

	return s && s->len == ev->text_len && (!s->len || !memcmp(s->bytes, ev->text, s->len));
}

static void put_known(struct boot_encoder *e, enum boot_shelf shelf, uint32_t number)
{
	struct boot_texts *t = &e->model.texts;

	range_encode_nibble(&e->rc, &t->high[shelf], number >> 4);
	range_encode_nibble(&e->rc, &t->low[shelf][number >> 4], number & 15);
}

/* Returns the number that the text has, or BOOT_TEXT_NONE. */
static uint32_t put_text(struct boot_encoder *e, const struct boot_event *ev)
{
	enum boot_shelf shelf = boot_kind_shelf(ev->kind);
	struct nibble_model *text = &e->model.text[ev->kind];
	uint32_t i, number;

	for (i = 0; i < 2; i++)
		if (is_said(e, ev, i, &number)) {
			range_encode_nibble(&e->rc, text, i ? BOOT_TEXT_BEFORE : BOOT_TEXT_LAST);
			return number;
		}
	number = boot_texts_find(&e->model.texts, shelf, ev->text, ev->text_len);
	if (number != BOOT_TEXT_NONE) {
		range_encode_nibble(&e->rc, text, BOOT_TEXT_KNOWN);
		put_known(e, shelf, number);
		return number;
	}
	range_encode_nibble(&e->rc, text, BOOT_TEXT_NEW);
	put_plain(e, BOOT_PLAIN_TEXT, 1 + (uint64_t)ev->text_len);
	boot_texts_start(&e->model.texts, ev->kind);
	for (i = 0; i < ev->text_len; i++)
		put_byte(e, (uint8_t)ev->text[i]);
	return boot_texts_put(&e->model.texts, shelf, ev->text, ev->text_len);
}

void boot_encoder_init(struct boot_encoder *e)
{
	e->fresh = true;
	e->events = 0;
	boot_model_init(&e->model);
}

void boot_encoder_begin(struct boot_encoder *e, uint8_t *out, uint32_t room, uint64_t tick)
{
	range_encode_begin(&e->rc, out);
	e->room = room;
	e->events = 0;
	if (e->fresh)
		e->model.tick = e->model.pass = tick;
	e->fresh = false;
}

enum wire_status boot_encode(struct boot_encoder *e, const struct boot_event *ev)
{
	uint32_t moved = 0, number = BOOT_TEXT_NONE, len = 0;

	if (ev->kind >= BOOT_KINDS)
		return WIRE_CORRUPT;
	if (boot_shapes[ev->kind].has_text)
		len = ev->text_len;
	if (len > BOOT_TEXT_MAX)
		return WIRE_CORRUPT;
	if (e->rc.pos + BOOT_EVENT_ROOM + BOOT_BYTE_ROOM * len > e->room)
		return WIRE_FULL;
	range_encode_nibble(&e->rc, boot_model_kinds(&e->model), ev->kind);
	put_tick(e, ev);
	put_key(e, ev->kind, ev->key);
	if (boot_shapes[ev->kind].numbers)
		moved = put_numbers(e, ev);
	if (boot_shapes[ev->kind].has_text)
		number = put_text(e, ev);
	boot_model_learn(&e->model, ev, moved);
	if (boot_shapes[ev->kind].has_text)
		boot_model_learn_text(&e->model, ev, number);
	e->events++;
	return WIRE_OK;
}

uint32_t boot_encoder_end(struct boot_encoder *e)
{
	return range_encode_end(&e->rc);
}
