/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* boot_text: see boot_text.h. */
#include "wire/boot_text.h"

static uint32_t mark(uint32_t v)
{
	return v * 0x9e3779b1U;
}

void boot_texts_init(struct boot_texts *t)
{
	memset(t, 0, sizeof(*t));
	NIBBLE_MODELS_INIT(t->high);
	NIBBLE_MODELS_INIT(t->low);
	BIT_MODELS_INIT(t->as_expected);
	nibble_model_init(&t->all_high);
	NIBBLE_MODELS_INIT(t->all_low);
	NIBBLE_MODELS_INIT(t->near);
}

static uint32_t room_of(enum boot_shelf shelf)
{
	return shelf == BOOT_SHELF_PLACES ? BOOT_TEXT_PLACES : BOOT_TEXT_NAMES;
}

const struct boot_short *boot_texts_get(const struct boot_texts *t, enum boot_shelf shelf,
					uint32_t number)
{
	if (number >= t->used[shelf])
		return NULL;
	return shelf == BOOT_SHELF_PLACES ? &t->places[number] : &t->names[number];
}

uint32_t boot_texts_find(const struct boot_texts *t, enum boot_shelf shelf, const char *text,
			 uint32_t len)
{
	const struct boot_short *s = shelf == BOOT_SHELF_PLACES ? t->places : t->names;
	uint32_t i, n = len > BOOT_SHORT_MAX ? 0 : t->used[shelf];

	for (i = 0; i < n; i++)
		if (s[i].len == len && (!len || (s[i].bytes[len - 1] == text[len - 1] &&
						 !memcmp(s[i].bytes, text, len))))
			return i;
	return BOOT_TEXT_NONE;
}

uint32_t boot_texts_put(struct boot_texts *t, enum boot_shelf shelf, const char *text, uint32_t len)
{
	uint32_t number = t->turn[shelf];
	struct boot_short *s;

	if (len > BOOT_SHORT_MAX)
		return BOOT_TEXT_NONE;
	t->turn[shelf] = (number + 1) & (room_of(shelf) - 1);
	if (t->used[shelf] == number)
		t->used[shelf]++;
	s = shelf == BOOT_SHELF_PLACES ? &t->places[number] : &t->names[number];
	s->len = (uint8_t)len;
	if (len)
		memcpy(s->bytes, text, len);
	return number;
}

/* Remembers where the last three bytes are, and returns where they were before, and 1. */
static uint32_t find_last(struct boot_texts *t)
{
	uint16_t *at = &t->follow[mark(t->last & 0xffffff) >> (32 - BOOT_FOLLOW_BITS)];
	uint32_t found = *at;

	*at = (uint16_t)(1 + (t->end & (BOOT_HISTORY - 1)));
	return found;
}

static void expect(struct boot_texts *t, uint32_t found)
{
	t->run = found != 0;
	t->from = found ? found - 1 : 0;
}

void boot_texts_start(struct boot_texts *t, uint32_t kind)
{
	t->last = kind;
	expect(t, find_last(t));
}

void boot_texts_next(struct boot_texts *t, uint32_t byte)
{
	bool right = t->run && boot_texts_expected(t) == byte;
	uint32_t found;

	t->history[t->end & (BOOT_HISTORY - 1)] = (uint8_t)byte;
	t->end++;
	t->last = t->last << 8 | byte;
	found = find_last(t);
	if (!right) {
		expect(t, found);
		return;
	}
	t->from = (t->from + 1) & (BOOT_HISTORY - 1);
	t->run += t->run < BOOT_RUN_MAX;
}

static struct nibble_model *young(struct nibble_model *m, const struct nibble_model *all)
{
	if (m->lane[0] == 0) {
		*m = *all;
		if (m->lane[0] > BOOT_TEXT_YOUNG)
			m->lane[0] = BOOT_TEXT_YOUNG;
	}
	return m;
}

struct nibble_model *boot_texts_high(struct boot_texts *t)
{
	uint32_t at = mark((t->last & 0xff) << 8) >> (32 - BOOT_NEAR_BITS);

	return young(&t->near[at], &t->all_high);
}

struct nibble_model *boot_texts_low(struct boot_texts *t, uint32_t high)
{
	uint32_t at = mark((t->last & 0xff) << 8 | (1 + high)) >> (32 - BOOT_NEAR_BITS);

	return young(&t->near[at], &t->all_low[high]);
}
