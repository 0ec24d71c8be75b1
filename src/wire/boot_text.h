/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * boot_text: what encoder and decoder of codec `boot` both know about the texts so far
 * (docs/format/boot.md, section 5).
 *
 * Names, functions of the kernel and arguments come again and again. Short texts get a number, so the next
 * time it is written instead of them; functions that processes wait in have numbers of their own, because a
 * flood of new processes must not take them away. Everything else is written byte by byte: as what followed
 * the last three bytes when they were last there, which most kernel messages and paths are for long stretches,
 * else as two nibbles by the byte before.
 */
#ifndef KISEKI_WIRE_BOOT_TEXT_H
#define KISEKI_WIRE_BOOT_TEXT_H

#include "wire/model.h"

#define BOOT_SHORT_MAX 47U    /* bytes of a text that gets a number */
#define BOOT_TEXT_NAMES 256U  /* numbers that texts can have … */
#define BOOT_TEXT_PLACES 128U /* … and functions to wait in */
#define BOOT_TEXT_NONE UINT32_MAX
#define BOOT_HISTORY 4096U
#define BOOT_FOLLOW_BITS 11
#define BOOT_NEAR_BITS 10
#define BOOT_RUN_MAX 15U
#define BOOT_TEXT_YOUNG 4U /* age of a model that starts as another's copy */

/* Which numbers a text is among. */
enum boot_shelf {
	BOOT_SHELF_NAMES = 0,
	BOOT_SHELF_PLACES = 1,
	BOOT_SHELVES = 2,
};

struct boot_short {
	uint8_t len;
	char bytes[BOOT_SHORT_MAX];
};

struct boot_texts {
	struct boot_short names[BOOT_TEXT_NAMES];
	struct boot_short places[BOOT_TEXT_PLACES];
	uint32_t used[BOOT_SHELVES]; /* numbers given */
	uint32_t turn[BOOT_SHELVES]; /* which is given next */

	uint8_t history[BOOT_HISTORY]; /* the last bytes written, a ring */
	uint32_t end;
	uint16_t follow[1U << BOOT_FOLLOW_BITS]; /* by the last three bytes: 1 + where they were */
	uint32_t last;				 /* the last bytes of the text under way */
	uint32_t from;				 /* in the history: what is expected */
	uint32_t run; /* how long it was right, and one; 0: nothing is expected */

	/* Everything from here on is probabilities. */
	struct nibble_model high[BOOT_SHELVES];
	struct nibble_model low[BOOT_SHELVES][16];
	struct bit_model as_expected[BOOT_RUN_MAX + 1];
	struct nibble_model all_high;
	struct nibble_model all_low[16];
	struct nibble_model near[1U << BOOT_NEAR_BITS];
};

void boot_texts_init(struct boot_texts *t);

/* The text with a number; NULL: nobody has it. */
const struct boot_short *boot_texts_get(const struct boot_texts *t, enum boot_shelf shelf,
					uint32_t number);

/* Its number, or BOOT_TEXT_NONE. */
uint32_t boot_texts_find(const struct boot_texts *t, enum boot_shelf shelf, const char *text,
			 uint32_t len);

/* Gives a new text a number, BOOT_TEXT_NONE if it is too long for one. */
uint32_t boot_texts_put(struct boot_texts *t, enum boot_shelf shelf, const char *text,
			uint32_t len);

/* A text of this kind is going to be written byte by byte … */
void boot_texts_start(struct boot_texts *t, uint32_t kind);
/* … and this was its next one. */
void boot_texts_next(struct boot_texts *t, uint32_t byte);

/* What is expected, if t->run is not 0. */
static inline uint32_t boot_texts_expected(const struct boot_texts *t)
{
	return t->history[t->from];
}

/* The statistics of the next byte's halves. Those never used start as what is known of all. */
struct nibble_model *boot_texts_high(struct boot_texts *t);
struct nibble_model *boot_texts_low(struct boot_texts *t, uint32_t high);

#endif
