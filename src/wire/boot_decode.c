/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* boot_decode: see boot_decode.h; mirrors boot_encode.c function by function. */
#include "wire/boot_decode.h"

static uint64_t get_raw(struct boot_decoder *d, uint32_t bits)
{
	uint64_t v = 0;

	while (bits > 16) {
		bits -= 16;
		v = v << 16 | range_decode_raw(&d->rc, 16);
	}
	return bits ? v << bits | range_decode_raw(&d->rc, bits) : v;
}

static uint64_t get_sized(struct boot_decoder *d, struct boot_size *s)
{
	uint32_t high = range_decode_nibble(&d->rc, &s->high), size;

	size = range_decode_bit(&d->rc, &s->low[high][1]);
	size = size << 1 | range_decode_bit(&d->rc, &s->low[high][2 + size]);
	size |= high << 2;
	return 1ULL << size | get_raw(d, size);
}

static uint64_t get_plain(struct boot_decoder *d, enum boot_plain use)
{
	return get_sized(d, &d->model.plain[use]);
}

static uint64_t get_tick(struct boot_decoder *d, uint32_t kind)
{
	struct boot_model *m = &d->model;

	switch (range_decode_nibble(&d->rc, &m->times[kind])) {
	case BOOT_TIME_SAME:
		return m->tick;
	case BOOT_TIME_PASS:
		return m->pass;
	case BOOT_TIME_UP:
		return m->tick + get_plain(d, BOOT_PLAIN_UP);
	case BOOT_TIME_DOWN:
		return m->tick - get_plain(d, BOOT_PLAIN_DOWN);
	case BOOT_TIME_DUE:
		return m->pass + m->interval;
	case BOOT_TIME_LATE:
		return m->pass + m->interval + get_plain(d, BOOT_PLAIN_LATE);
	case BOOT_TIME_EARLY:
		return m->pass + m->interval - get_plain(d, BOOT_PLAIN_LATE);
	default:
		d->corrupt = true;
		return 0;
	}
}

static uint32_t get_key(struct boot_decoder *d, uint32_t kind)
{
	struct boot_model *m = &d->model;
	uint32_t symbol = range_decode_nibble(&d->rc, boot_model_keys(m, kind));
	uint32_t key, last = m->last_key[kind];
	uint64_t far;

	if (symbol == BOOT_KEY_SAME)
		return m->key;
	if (symbol == BOOT_KEY_NEXT)
		return last + 1;
	if (symbol < BOOT_KEY_SAME) {
		if (!boot_kind_is_task(kind))
			return symbol;
		key = boot_model_nth(m, last, symbol);
		d->corrupt |= !key;
		return key;
	}
	far = get_plain(d, BOOT_PLAIN_KEY) - 1;
	d->corrupt |= far > (symbol == BOOT_KEY_UP ? UINT32_MAX - last : last);
	return symbol == BOOT_KEY_UP ? last + (uint32_t)far : last - (uint32_t)far;
}

static uint64_t get_state(struct boot_decoder *d, uint32_t last)
{
	uint32_t state = range_decode_nibble(&d->rc, &d->model.state[last]);
	uint64_t letter;

	if (state != BOOT_STATE_OTHER)
		return boot_model_states[state];
	letter = get_plain(d, BOOT_PLAIN_STATE);
	d->corrupt |= boot_model_state(letter) != BOOT_STATE_OTHER;
	return letter;
}

/* Returns the difference. */
static uint64_t get_step(struct boot_decoder *d, struct boot_field *f, uint32_t step)
{
	uint64_t unit = boot_unit_get(&f->unit), size;
	bool down = step == BOOT_STEP_DOWN_FAR || step == BOOT_STEP_DOWN_ODD;

	if (step >= BOOT_STEPS) {
		d->corrupt = true;
		return 0;
	}
	if (step == BOOT_STEP_UP_ODD || step == BOOT_STEP_DOWN_ODD) {
		size = get_sized(d, &f->size);
	} else if (step == BOOT_STEP_UP_FAR || step == BOOT_STEP_DOWN_FAR) {
		size = (get_sized(d, &f->size) + (down ? BOOT_DOWN_MAX : BOOT_UP_MAX)) * unit;
	} else {
		down = step >= BOOT_STEP_DOWN;
		size = (1 + step - (down ? BOOT_STEP_DOWN : BOOT_STEP_UP)) * unit;
	}
	/* Nothing that an encoder made wraps around to no difference. */
	d->corrupt |= !size;
	boot_unit_learn(&f->unit, size);
	return down ? 0 - size : size;
}

/* Returns which of them were not as expected. */
static uint32_t get_numbers(struct boot_decoder *d, struct boot_event *ret)
{
	struct boot_model *m = &d->model;
	struct boot_field *f = &m->field[boot_model_fields[ret->kind]];
	struct boot_expected x;
	uint32_t i = 0, moved = 0, step;

	boot_model_expect(m, ret, &x);
	if (ret->kind == BOOT_TASK) {
		ret->number[0] = get_state(d, (uint32_t)x.number[0]);
		moved = boot_model_state(ret->number[0]) != x.number[0];
		i = 1;
	}
	for (; i < boot_shapes[ret->kind].numbers; i++) {
		step = range_decode_nibble(
			&d->rc, &f[i].step[(x.moved >> i & 1) | (moved << 1 >> i & 1) << 1]);
		ret->number[i] = x.number[i];
		if (step == BOOT_STEP_NONE)
			continue;
		ret->number[i] += get_step(d, &f[i], step);
		moved |= 1U << i;
	}
	return moved;
}

static uint32_t get_byte(struct boot_decoder *d)
{
	struct boot_texts *t = &d->model.texts;
	uint32_t high, low, byte;

	if (t->run && !range_decode_bit(&d->rc, &t->as_expected[t->run])) {
		byte = boot_texts_expected(t);
	} else {
		high = range_decode_nibble(&d->rc, boot_texts_high(t));
		nibble_model_update(&t->all_high, high);
		low = range_decode_nibble(&d->rc, boot_texts_low(t, high));
		nibble_model_update(&t->all_low[high], low);
		byte = high << 4 | low;
	}
	boot_texts_next(t, byte);
	return byte;
}

static uint32_t get_known(struct boot_decoder *d, enum boot_shelf shelf)
{
	struct boot_texts *t = &d->model.texts;
	uint32_t high = range_decode_nibble(&d->rc, &t->high[shelf]);

	return high << 4 | range_decode_nibble(&d->rc, &t->low[shelf][high]);
}

static uint32_t get_new_text(struct boot_decoder *d, struct boot_event *ret)
{
	uint64_t len = get_plain(d, BOOT_PLAIN_TEXT) - 1;
	uint32_t i;

	if (len > BOOT_TEXT_MAX) {
		d->corrupt = true;
		return BOOT_TEXT_NONE;
	}
	boot_texts_start(&d->model.texts, ret->kind);
	for (i = 0; i < len; i++)
		d->text[i] = (char)get_byte(d);
	ret->text_len = (uint32_t)len;
	return boot_texts_put(&d->model.texts, boot_kind_shelf(ret->kind), d->text, (uint32_t)len);
}

/* Returns the number that the text has, or BOOT_TEXT_NONE. */
static uint32_t get_text(struct boot_decoder *d, struct boot_event *ret)
{
	uint32_t number = 0, symbol = range_decode_nibble(&d->rc, &d->model.text[ret->kind]);
	const struct boot_short *s = NULL;

	if (symbol == BOOT_TEXT_NEW)
		return get_new_text(d, ret);
	if (symbol == BOOT_TEXT_KNOWN) {
		number = get_known(d, boot_kind_shelf(ret->kind));
		s = boot_texts_get(&d->model.texts, boot_kind_shelf(ret->kind), number);
	} else if (symbol < BOOT_TEXT_KNOWN) {
		s = boot_model_said(&d->model, ret, symbol, &number);
	}
	if (!s) {
		d->corrupt = true;
		return BOOT_TEXT_NONE;
	}
	memcpy(d->text, s->bytes, s->len);
	ret->text_len = s->len;
	return number;
}

void boot_decoder_init(struct boot_decoder *d)
{
	d->fresh = true;
	d->corrupt = false;
	boot_model_init(&d->model);
}

enum wire_status boot_decoder_begin(struct boot_decoder *d, const uint8_t *in, uint32_t len,
				    uint64_t tick)
{
	if (d->corrupt)
		return WIRE_CORRUPT;
	range_decode_begin(&d->rc, in, len);
	if (d->fresh)
		d->model.tick = d->model.pass = tick;
	d->fresh = false;
	return WIRE_OK;
}

enum wire_status boot_decode(struct boot_decoder *d, struct boot_event *ret)
{
	uint32_t kind, moved = 0, number = BOOT_TEXT_NONE;

	if (d->corrupt || d->fresh)
		return WIRE_CORRUPT;
	memset(ret, 0, sizeof(*ret));
	kind = range_decode_nibble(&d->rc, boot_model_kinds(&d->model));
	if (kind >= BOOT_KINDS) {
		d->corrupt = true;
		return WIRE_CORRUPT;
	}
	ret->kind = (uint8_t)kind;
	ret->text = d->text;
	ret->tick = get_tick(d, kind);
	ret->key = get_key(d, kind);
	if (boot_shapes[kind].numbers)
		moved = get_numbers(d, ret);
	if (boot_shapes[kind].has_text && !d->corrupt)
		number = get_text(d, ret);
	if (d->corrupt || range_decode_overrun(&d->rc)) {
		d->corrupt = true;
		return WIRE_CORRUPT;
	}
	boot_model_learn(&d->model, ret, moved);
	if (boot_shapes[kind].has_text)
		boot_model_learn_text(&d->model, ret, number);
	return WIRE_OK;
}

enum wire_status boot_decoder_end(struct boot_decoder *d)
{
	if (d->corrupt)
		return WIRE_CORRUPT;
	return d->rc.pos + 4 < d->rc.len ? WIRE_CORRUPT : WIRE_OK;
}
