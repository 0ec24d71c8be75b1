/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * model: adaptive probabilities of one bit and of one nibble (docs/format/wire.md, section 4).
 *
 * bit_model: the chance of a zero in 13 bits, and in the low 3 bits how often it was used, up to 7:
 * young models move fast, old ones by 1/32.
 *
 * nibble_model: for symbols 1 … 15 the cumulated chances before them, in 16-bit lanes. An update
 * moves every lane towards "up to s: nothing, beyond s: all" by 1/2^rate:
 *	c' = c - (c >> rate) + target[rate][s]
 * The targets are spaced so that no symbol's share falls under 2^rate / 65536. Lane 0 starts at 0
 * and its target is always 1: so it counts the model's age, up to 32, and gives the rate; it also
 * serves as the lower end of symbol 0, which gives away at most 32 of 65536 for having no special
 * case. Eight lanes are one vector in user space; a kernel probe has no vector unit and takes
 * as many lanes as a long has as one number, which comes to the same because no lane can over- or
 * underflow.
 */
#ifndef KISEKI_WIRE_MODEL_H
#define KISEKI_WIRE_MODEL_H

#include "wire/types.h"

#define BIT_MODEL_SCALE 16
#define NIBBLE_MODEL_SCALE 16
#define NIBBLE_RATE_MIN 2
#define NIBBLE_RATE_MAX 5
#define NIBBLE_AGE_MAX 32

struct bit_model {
	uint16_t v;
};

struct nibble_model {
	uint16_t lane[16];
} __attribute__((aligned(16)));

extern const uint8_t bit_model_rates[8];
extern const uint8_t nibble_model_rates[NIBBLE_AGE_MAX + 1];
extern const struct nibble_model nibble_model_targets[NIBBLE_RATE_MAX - NIBBLE_RATE_MIN + 1][16];
extern const struct nibble_model nibble_model_flat;

static inline void bit_model_init(struct bit_model *m)
{
	m->v = 0x8000;
}

/* In (0, 65536): never a certainty. */
static inline uint32_t bit_model_zero(const struct bit_model *m)
{
	return (m->v & 0xfff8U) | 4;
}

static inline void bit_model_update(struct bit_model *m, uint32_t bit)
{
	uint32_t p = m->v >> 3, age = m->v & 7, rate = bit_model_rates[age];
	uint32_t less = p - (p >> rate), more = p + ((8191 - p) >> rate);

	m->v = (uint16_t)((bit ? less : more) << 3 | (age + (age < 7)));
}

static inline void nibble_model_init(struct nibble_model *m)
{
	*m = nibble_model_flat;
}

/* All models of an array, of any dimensions: as new ones, or with the shares of another. */
#define BIT_MODELS_INIT(array) bit_models_init((array), sizeof(array))
#define NIBBLE_MODELS_INIT(array) nibble_models_init((array), sizeof(array), &nibble_model_flat)

/* What is in the first place of an array, in all of them. */
#define MODELS_REPEAT(array) models_repeat((array), sizeof(array), sizeof((array)[0]))

void bit_models_init(void *models, size_t len);
void nibble_models_init(void *models, size_t len, const struct nibble_model *from);

/* Of `len` bytes the first `done`, again and again up to the end. */
void models_repeat(void *models, size_t len, size_t done);

/* The share of s: from where, and up to where. */
static inline uint32_t nibble_model_from(const struct nibble_model *m, uint32_t s)
{
	return m->lane[s];
}

static inline uint32_t nibble_model_to(const struct nibble_model *m, uint32_t s)
{
	uint32_t next = (s + 1) & 15, to = m->lane[next];

	return next ? to : 1U << NIBBLE_MODEL_SCALE;
}

#if !defined(__KERNEL__) && (defined(__SSE2__) || defined(__ARM_NEON))
typedef uint16_t nibble_vector __attribute__((vector_size(16)));

static inline void nibble_model_update(struct nibble_model *m, uint32_t s)
{
	uint32_t rate = nibble_model_rates[m->lane[0]];
	const struct nibble_model *target = &nibble_model_targets[rate - NIBBLE_RATE_MIN][s];
	nibble_vector c0, c1, t0, t1;

	memcpy(&c0, m->lane, sizeof(c0));
	memcpy(&c1, m->lane + 8, sizeof(c1));
	memcpy(&t0, target->lane, sizeof(t0));
	memcpy(&t1, target->lane + 8, sizeof(t1));
	c0 += t0 - (c0 >> (uint16_t)rate);
	c1 += t1 - (c1 >> (uint16_t)rate);
	memcpy(m->lane, &c0, sizeof(c0));
	memcpy(m->lane + 8, &c1, sizeof(c1));
}

/* The symbol whose share holds `value`: as many lanes as are not above it, but for lane 0. */
static inline uint32_t nibble_model_find(const struct nibble_model *m, uint32_t value)
{
	uint16_t v = (uint16_t)(value < NIBBLE_AGE_MAX ? NIBBLE_AGE_MAX : value);
	nibble_vector c0, c1, below;
	uint64_t half[2];

	memcpy(&c0, m->lane, sizeof(c0));
	memcpy(&c1, m->lane + 8, sizeof(c1));
	below = -((nibble_vector)(c0 <= v) + (nibble_vector)(c1 <= v)); /* true is minus one */
	memcpy(half, &below, sizeof(half));
	/* The product's top lane is the sum of the lanes. */
	return (uint32_t)((half[0] + half[1]) * 0x0001000100010001ULL >> 48) - 1;
}
#else
/* The symbol whose share holds `value`. */
static inline uint32_t nibble_model_find(const struct nibble_model *m, uint32_t value)
{
	uint32_t s = m->lane[8] <= value ? 8 : 0;

	s += m->lane[s + 4] <= value ? 4 : 0;
	s += m->lane[s + 2] <= value ? 2 : 0;
	s += m->lane[s + 1] <= value ? 1 : 0;
	return s;
}

/* The lanes of one word. */
static ALWAYS_INLINE void nibble_word_move(uint16_t *lane, const uint16_t *target, uint32_t rate,
					   unsigned long keep)
{
	unsigned long c, t;

	memcpy(&c, lane, sizeof(c));
	memcpy(&t, target, sizeof(t));
	c += t - (c >> rate & keep);
	memcpy(lane, &c, sizeof(c));
}

/* Four lanes: 32-bit machines make shifts of 64 bits of many others. */
static ALWAYS_INLINE void nibble_model_move(uint16_t *lane, const uint16_t *target, uint32_t rate,
					    unsigned long keep)
{
	nibble_word_move(lane, target, rate, keep);
	if (sizeof(long) < 8)
		nibble_word_move(lane + 2, target + 2, rate, keep);
}

static inline void nibble_model_update(struct nibble_model *m, uint32_t s)
{
	uint32_t rate = nibble_model_rates[m->lane[0]];
	const struct nibble_model *target = &nibble_model_targets[rate - NIBBLE_RATE_MIN][s];
	unsigned long keep = ~0UL / 0xffff * (0xffffU >> rate);

	nibble_model_move(m->lane, target->lane, rate, keep);
	nibble_model_move(m->lane + 4, target->lane + 4, rate, keep);
	nibble_model_move(m->lane + 8, target->lane + 8, rate, keep);
	nibble_model_move(m->lane + 12, target->lane + 12, rate, keep);
}
#endif

#endif
