/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * range_decode: the arithmetic coder's reading half (docs/format/wire.md, section 5).
 *
 * It keeps code = value - low, so it needs no low of its own. Behind the end of the payload it
 * reads zeros, as the encoder drops trailing ones; it counts those words, and a decoder that has
 * run far beyond the end knows that the payload is corrupt. No input makes it read outside.
 */
#ifndef KISEKI_WIRE_RANGE_DECODE_H
#define KISEKI_WIRE_RANGE_DECODE_H

#include "wire/model.h"

struct range_decoder {
	uint64_t code;
	uint64_t range;
	const uint8_t *in;
	uint32_t len;
	uint32_t pos; /* may run beyond len: see range_decode_overrun() */
};

static inline uint32_t range_decode_word(struct range_decoder *r)
{
	uint32_t word = 0, i;

	if (r->pos < r->len && r->len - r->pos >= 4)
		word = get_be32(r->in + r->pos);
	else
		for (i = 0; i < 4; i++)
			word = word << 8 | (r->pos + i < r->len ? r->in[r->pos + i] : 0);
	r->pos += 4;
	return word;
}

static inline void range_decode_begin(struct range_decoder *r, const uint8_t *in, uint32_t len)
{
	r->in = in;
	r->len = len;
	r->pos = 0;
	r->range = UINT64_MAX;
	r->code = (uint64_t)range_decode_word(r) << 32;
	r->code |= range_decode_word(r);
}

/* Has it consumed words that an encoder cannot have meant? The window is 8 bytes ahead. */
static inline bool range_decode_overrun(const struct range_decoder *r)
{
	return r->pos > r->len + 16;
}

static inline void range_decode_renorm(struct range_decoder *r)
{
	if (r->range >> 32)
		return;
	r->code = r->code << 32 | range_decode_word(r);
	r->range <<= 32;
	if (!r->range) /* only corrupt input gets here; keep the divisions defined */
		r->range = 1ULL << 32;
}

/* code / unit, at most 2^bits - 1; unit is below 2^(64 - bits), bits at most 16. Machines without a
 * 64-bit division do it in steps. */
static inline uint32_t range_decode_divide(uint64_t code, uint64_t unit, uint32_t bits)
{
#if __SIZEOF_POINTER__ >= 8
	uint64_t value = code / unit;

	return value >> bits ? (1U << bits) - 1 : (uint32_t)value;
#else
	uint32_t value = 0;

	while (bits--)
		if (code >= unit << bits) {
			code -= unit << bits;
			value |= 1U << bits;
		}
	return value;
#endif
}

static ALWAYS_INLINE uint32_t range_decode_raw(struct range_decoder *r, uint32_t n)
{
	uint32_t value;

	r->range >>= n;
	value = range_decode_divide(r->code, r->range, n);
	r->code -= value * r->range;
	range_decode_renorm(r);
	return value;
}

static inline uint32_t range_decode_bit(struct range_decoder *r, struct bit_model *m)
{
	uint64_t bound = (r->range >> BIT_MODEL_SCALE) * bit_model_zero(m);
	uint32_t bit = r->code >= bound;

	if (bit) {
		r->code -= bound;
		r->range -= bound;
	} else {
		r->range = bound;
	}
	bit_model_update(m, bit);
	range_decode_renorm(r);
	return bit;
}

static ALWAYS_INLINE uint32_t range_decode_nibble(struct range_decoder *r, struct nibble_model *m)
{
	uint64_t unit = r->range >> NIBBLE_MODEL_SCALE;
	uint32_t s, from;

	IN_REGISTER(m);
	s = nibble_model_find(m, range_decode_divide(r->code, unit, NIBBLE_MODEL_SCALE));
	from = nibble_model_from(m, s);
	r->code -= unit * from;
	r->range = unit * (nibble_model_to(m, s) - from);
	nibble_model_update(m, s);
	range_decode_renorm(r);
	return s;
}

/* The same for who has a guess of the symbol: if it is right there is no division, nothing is searched, and a processor that learns
 * which way branches go need not wait for anything. Lanes of symbols above 0 never come down to NIBBLE_AGE_MAX, so what
 * nibble_model_find() does about lane 0 makes no difference here. */
static ALWAYS_INLINE uint32_t range_decode_guess(struct range_decoder *r, struct nibble_model *m,
						 uint32_t guess)
{
	uint64_t unit = r->range >> NIBBLE_MODEL_SCALE, from, to;

	IN_REGISTER(m);
	from = unit * nibble_model_from(m, guess);
	to = unit * nibble_model_to(m, guess);
	if ((guess && r->code < from) || r->code >= to)
		return range_decode_nibble(r, m);
	r->code -= from;
	r->range = to - from;
	nibble_model_update(m, guess);
	range_decode_renorm(r);
	return guess;
}

#endif
