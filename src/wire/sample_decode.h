/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sample_decode: the payload of codec `sample` back into records (docs/format/sample.md).
 *
 *	sample_decoder_init(&d);                      a segment starts
 *	sample_decoder_begin(&d, in, len, tick);      a block; tick as the encoder was given it
 *	sample_decode(&d, &event) …                   as often as the block has records; their chains
 *	                                              are valid until the next one
 *	sample_decoder_end(&d)                        WIRE_CORRUPT if that was not all of it
 *
 * After WIRE_CORRUPT the rest of the segment is lost; nothing else is.
 */
#ifndef KISEKI_WIRE_SAMPLE_DECODE_H
#define KISEKI_WIRE_SAMPLE_DECODE_H

#include "wire/range_decode.h"
#include "wire/sample_model.h"

/* What came the last time in a context. It says nothing about what comes: whoever guesses right decodes faster. */
struct sample_hint {
	uint8_t kind[SAMPLE_PREVIOUS * SAMPLE_PREVIOUS * 4];
	uint8_t shape[8];
	uint8_t time[1U << SAMPLE_TIME_BITS];
	uint8_t number[SAMPLE_NUMBERS];
};

struct sample_decoder {
	struct range_decoder rc;
	bool fresh; /* no block of this segment has begun */
	bool corrupt;
	uint64_t chain[SAMPLE_CHAIN_MAX];
	struct sample_hint hint;
	struct sample_model model;
};

void sample_decoder_init(struct sample_decoder *d);
enum wire_status sample_decoder_begin(struct sample_decoder *d, const uint8_t *in, uint32_t len,
				      uint64_t tick);
enum wire_status sample_decode(struct sample_decoder *d, struct sample_event *ret);
enum wire_status sample_decoder_end(struct sample_decoder *d);

#endif
