/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * range_encode: the arithmetic coder's writing half (docs/format/wire.md, section 5).
 *
 * A range coder with 64 bits of low and range and carries that run back into the bytes already
 * written, which are all in the block at hand. It gives out 32 bits at a time, so most symbols cost
 * one multiplication or two and a branch that is rarely taken. The caller checks that there is room
 * before an event; the coder itself never does.
 */
#ifndef KISEKI_WIRE_RANGE_ENCODE_H
#define KISEKI_WIRE_RANGE_ENCODE_H

#include "wire/model.h"

struct range_encoder {
	uint64_t low;
	uint64_t range;
	uint8_t *out;
	uint32_t pos;
};

static inline void range_encode_begin(struct range_encoder *r, uint8_t *out)
{
	r->low = 0;
	r->range = UINT64_MAX;
	r->out = out;
	r->pos = 0;
}

static inline void range_encode_carry(struct range_encoder *r)
{
	uint32_t i = r->pos;

	while (i && ++r->out[--i] == 0)
		;
}

static inline void range_encode_renorm(struct range_encoder *r)
{
	if (r->range >> 32)
		return;
	put_be32(r->out + r->pos, (uint32_t)(r->low >> 32));
	r->pos += 4;
	r->low <<= 32;
	r->range <<= 32;
}

/* The same without a branch, for where nobody can predict it; the bytes are always written. Where a shift
 * of 64 bits is made of many it costs more than the branch. */
static ALWAYS_INLINE void range_encode_renorm_always(struct range_encoder *r)
{
	uint32_t due = r->range >> 32 ? 0 : 32;

	if (sizeof(long) < 8) {
		range_encode_renorm(r);
		return;
	}
	put_be32(r->out + r->pos, (uint32_t)(r->low >> 32));
	r->pos += due >> 3;
	r->low <<= due;
	r->range <<= due;
}

static inline void range_encode_add(struct range_encoder *r, uint64_t add)
{
	r->low += add;
	if (r->low < add)
		range_encode_carry(r);
}

/* n <= 16 bits with equal chances. */
static ALWAYS_INLINE void range_encode_raw(struct range_encoder *r, uint32_t value, uint32_t n)
{
	r->range >>= n;
	range_encode_add(r, r->range * value);
	range_encode_renorm_always(r);
}

static inline void range_encode_bit(struct range_encoder *r, struct bit_model *m, uint32_t bit)
{
	uint64_t bound = (r->range >> BIT_MODEL_SCALE) * bit_model_zero(m);

	/* Both ways are computed: the bit is what a branch predictor cannot know. */
	range_encode_add(r, bit ? bound : 0);
	r->range = bit ? r->range - bound : bound;
	bit_model_update(m, bit);
	range_encode_renorm(r);
}

static ALWAYS_INLINE void range_encode_nibble(struct range_encoder *r, struct nibble_model *m,
					      uint32_t s)
{
	uint64_t unit = r->range >> NIBBLE_MODEL_SCALE;
	uint32_t from;

	IN_REGISTER(m);
	from = nibble_model_from(m, s);
	range_encode_add(r, unit * from);
	r->range = unit * (nibble_model_to(m, s) - from);
	nibble_model_update(m, s);
	range_encode_renorm(r);
}

/*
 * Ends the payload with as few bytes as name a value inside the final interval; the decoder reads
 * zeros behind the end. Returns the payload's length.
 */
static inline uint32_t range_encode_end(struct range_encoder *r)
{
	uint32_t n;

	for (n = 0; n < 8; n++) {
		uint64_t mask = UINT64_MAX >> (8 * n);
		uint64_t value = (r->low + mask) & ~mask;

		if (n == 0)
			value = 0;
		if (value - r->low >= r->range)
			continue;
		if (value < r->low)
			range_encode_carry(r);
		r->low = value;
		break;
	}
	for (; n && r->low; n--) {
		r->out[r->pos++] = (uint8_t)(r->low >> 56);
		r->low <<= 8;
	}
	return r->pos;
}

#endif
