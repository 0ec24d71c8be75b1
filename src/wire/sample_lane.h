/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sample_lane: the records of one CPU into blocks (docs/format/sample.md), and these into whatever takes them.
 *
 * A block ends when it is full, when its oldest record has waited long enough, or before a loss, which the header of
 * the next one tells. A segment ends with the block that brings it to its size: whatever was learned is forgotten there,
 * and a reader can start. When a block finds no room its records are counted as lost, and a segment starts. What is
 * lost within a segment a block without records tells: its end says when the loss ended, to those who do not decode.
 */
#ifndef KISEKI_WIRE_SAMPLE_LANE_H
#define KISEKI_WIRE_SAMPLE_LANE_H

#include "wire/block_out.h"
#include "wire/sample_encode.h"

#define SAMPLE_LANE_BLOCK 16384U   /* bytes of payload at which a block ends */
#define SAMPLE_LANE_SEGMENT 65536U /* and a segment */
#define SAMPLE_LANE_FLUSH_MS 1000U /* the longest that a record waits in a block */
#define SAMPLE_LANE_ROOM (SAMPLE_LANE_BLOCK + SAMPLE_BLOCK_LEAST)

struct sample_lane {
	struct block_out *out; /* borrowed */
	uint32_t stream;
	bool is_open;
	bool is_key; /* of the open block; else: must the next one be? */
	uint64_t next_sequence, count, until;
	uint64_t pending[LOSS_CAUSES], lost[LOSS_CAUSES];
	uint32_t unknown; /* 1 << cause: some more are missing, and nobody knows how many */
	uint64_t first_tick, block_until;
	uint64_t since_ms;
	uint32_t segment_bytes;
	struct sample_encoder encoder;
	uint8_t room[BLOCK_HEADER_MAX + SAMPLE_LANE_ROOM];
};

void sample_lane_init(struct sample_lane *l, struct block_out *out, uint32_t cpu);

/* A time before that of the record before it becomes that one's: a stream is in order. */
void sample_lane_put(struct sample_lane *l, struct sample_event *ev, uint64_t now_ms);

/* So many are missing here, or LOSS_UNKNOWN. */
void sample_lane_lose(struct sample_lane *l, enum loss_cause cause, uint64_t count);

/* Ends the block if it has waited long enough. */
void sample_lane_flush(struct sample_lane *l, uint64_t now_ms);

/* Puts what is there, and what is lost and not told yet, until `tick`. 0, or why it could not. */
int sample_lane_stop(struct sample_lane *l, uint64_t tick);

#endif
