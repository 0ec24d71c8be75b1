/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * model: adaptive probabilities of one bit and of one nibble (docs/format/wire.md, section 4).
 *
 * bit_model: the chance of a zero in 13 bits, and in the low 3 bits how often it was used, up to 7:
 * young models move fast, old ones by 1/32.
 *
 * nibble_model: for symbols 0 … 15 the cumulated chances before symbols 1 … 15 in 16-bit lanes, and
 * the age in the sixteenth. An update moves every lane towards "before s: 0, from s on: all" by
 * 1/2^rate, four lanes at a time in plain 64-bit arithmetic, because a kernel probe has no vector
 * unit:  c' = c - (c >> rate) + target[rate][s].  The targets are spaced so that no symbol's share
 * falls under 2^rate / 65536, and no lane can overflow into its neighbour.
 */
#ifndef KISEKI_WIRE_MODEL_H
#define KISEKI_WIRE_MODEL_H

#include "wire/types.h"

#define BIT_MODEL_SCALE 16
#define NIBBLE_MODEL_SCALE 16
#define NIBBLE_RATE_MIN 2
#define NIBBLE_RATE_MAX 5

struct bit_model {
	uint16_t v;
};

struct nibble_model {
	uint64_t lane[4]; /* lane 15 (the last word's top) is the age */
};

extern const uint8_t bit_model_rates[8];
extern const uint8_t nibble_model_rates[16];
extern const uint64_t nibble_model_targets[NIBBLE_RATE_MAX - NIBBLE_RATE_MIN + 1][16][4];
extern const uint64_t nibble_model_flat[4];

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

	if (bit)
		p -= p >> rate;
	else
		p += (8191 - p) >> rate;
	m->v = (uint16_t)(p << 3 | (age + (age < 7)));
}

static inline void nibble_model_init(struct nibble_model *m)
{
	memcpy(m->lane, nibble_model_flat, sizeof(m->lane));
}

/* The cumulated chance of all symbols before s; s may be 16. */
static inline uint32_t nibble_model_from(const struct nibble_model *m, uint32_t s)
{
	if (s == 0)
		return 0;
	if (s == 16)
		return 1U << NIBBLE_MODEL_SCALE;
	s--;
	return (uint32_t)(m->lane[s >> 2] >> (16 * (s & 3))) & 0xffff;
}

/* The symbol whose share holds `value`. */
static inline uint32_t nibble_model_find(const struct nibble_model *m, uint32_t value)
{
	uint32_t s = nibble_model_from(m, 8) <= value ? 8 : 0;

	s += nibble_model_from(m, s + 4) <= value ? 4 : 0;
	s += nibble_model_from(m, s + 2) <= value ? 2 : 0;
	s += nibble_model_from(m, s + 1) <= value ? 1 : 0;
	return s;
}

static inline void nibble_model_update(struct nibble_model *m, uint32_t s)
{
	uint32_t age = (uint32_t)(m->lane[3] >> 48), rate = nibble_model_rates[age];
	const uint64_t *target = nibble_model_targets[rate - NIBBLE_RATE_MIN][s];
	uint64_t keep = 0x0001000100010001ULL * (0xffffU >> rate);

	m->lane[0] += target[0] - (m->lane[0] >> rate & keep);
	m->lane[1] += target[1] - (m->lane[1] >> rate & keep);
	m->lane[2] += target[2] - (m->lane[2] >> rate & keep);
	m->lane[3] += target[3] - (m->lane[3] >> rate & keep & 0xffffffffffffULL);
	m->lane[3] += (uint64_t)(age < 15) << 48;
}

#endif
