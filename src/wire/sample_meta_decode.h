/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* sample_meta_decode: how a profile was made, out of its item META_SAMPLING (docs/format/wire.md, section 7). */
#ifndef KISEKI_WIRE_SAMPLE_META_DECODE_H
#define KISEKI_WIRE_SAMPLE_META_DECODE_H

#include "wire/sample_meta.h"
#include "wire/varint.h"

/* WIRE_CORRUPT: no encoder wrote it, and nothing is changed. */
static inline enum wire_status sample_meta_get_sampling(struct sample_sampling *ret,
							struct byte_reader *r)
{
	uint64_t period = reader_varint(r), jitter = reader_varint(r);
	uint64_t collector = reader_varint(r), method = reader_varint(r);
	uint64_t exits = reader_varint(r), has = reader_varint(r);

	if (r->bad || jitter > UINT32_MAX || collector > UINT8_MAX || method > UINT8_MAX ||
	    exits > UINT8_MAX || has > UINT32_MAX)
		return WIRE_CORRUPT;
	ret->period = period;
	ret->jitter = (uint32_t)jitter;
	ret->collector = (uint8_t)collector;
	ret->method = (uint8_t)method;
	ret->exits = (uint8_t)exits;
	ret->has = (uint32_t)has;
	return WIRE_OK;
}

/* Whether virtual machines were looked for in it. */
static inline bool sample_sampling_has_guests(const struct sample_sampling *s)
{
	return s->has & SAMPLE_HAS_GUESTS || s->exits != SAMPLE_EXITS_NONE;
}

#endif
