/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sample_encode: records of a profile into the payload of codec `sample` (docs/format/sample.md).
 *
 *	sample_encoder_init(&e);                      a segment starts: nothing is known any more
 *	sample_encoder_begin(&e, out, room, tick);    a block starts; tick: of its first record,
 *	                                              looked at only when the segment starts
 *	sample_encode(&e, &event) …                   WIRE_FULL: end this block, begin another
 *	len = sample_encoder_end(&e);                 the payload is complete
 *
 * A record of no kind, or whose chain is longer than SAMPLE_CHAIN_MAX, is WIRE_CORRUPT: nothing is written and nothing
 * learned. Blocks may end anywhere; what was learned stays until the next init. All memory is inside the struct, and its
 * size does not depend on what is recorded.
 */
#ifndef KISEKI_WIRE_SAMPLE_ENCODE_H
#define KISEKI_WIRE_SAMPLE_ENCODE_H

#include "wire/range_encode.h"
#include "wire/sample_model.h"

/* A record needs at most this much beside its chain, an address of the chain at most so much when everything about
 * it is unexpected, and a block has at least this much and the longest chain. */
#define SAMPLE_EVENT_ROOM 512U
#define SAMPLE_FRAME_ROOM 20U
#define SAMPLE_BLOCK_LEAST (SAMPLE_EVENT_ROOM + SAMPLE_FRAME_ROOM * SAMPLE_CHAIN_MAX)

struct sample_encoder {
	struct range_encoder rc;
	uint32_t room;
	uint32_t events; /* in this block */
	bool fresh;	 /* no block of this segment has begun */
	struct sample_model model;
};

void sample_encoder_init(struct sample_encoder *e);
void sample_encoder_begin(struct sample_encoder *e, uint8_t *out, uint32_t room, uint64_t tick);
enum wire_status sample_encode(struct sample_encoder *e, const struct sample_event *ev);
uint32_t sample_encoder_end(struct sample_encoder *e);

#endif
