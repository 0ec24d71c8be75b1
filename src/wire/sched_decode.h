/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sched_decode: the payload of codec `sched` back into events (docs/format/sched.md,
 * section 6).
 *
 *	sched_decoder_init(&d, cpu);                  a segment starts
 *	sched_decoder_begin(&d, in, len, tick);       a block; tick as the encoder was given it
 *	sched_decode(&d, &event) …                    as often as the block has events
 *	sched_decoder_end(&d)                         WIRE_CORRUPT if that was not all of it
 *
 * After WIRE_CORRUPT the rest of the segment is lost; nothing else is. The event's filename lies in
 * the decoder and stays until the next call.
 */
#ifndef KISEKI_WIRE_SCHED_DECODE_H
#define KISEKI_WIRE_SCHED_DECODE_H

#include "wire/range_decode.h"
#include "wire/sched_model.h"

struct sched_decoder {
	struct range_decoder rc;
	bool fresh;
	bool corrupt;
	struct sched_model model;
	char filename[SCHED_FILENAME_MAX + 1];
};

void sched_decoder_init(struct sched_decoder *d, uint32_t cpu);
void sched_decoder_begin(struct sched_decoder *d, const uint8_t *in, uint32_t len, uint64_t tick);
enum wire_status sched_decode(struct sched_decoder *d, struct sched_event *ret);
enum wire_status sched_decoder_end(struct sched_decoder *d);

#endif
