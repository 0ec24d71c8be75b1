/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sched_encode: one CPU's scheduler events into the payload of codec `sched`
 * (docs/format/sched.md, section 6).
 *
 *	sched_encoder_init(&e, cpu);                  a segment starts: nothing is known
 *	sched_encoder_begin(&e, out, room, tick);     a block starts; tick: of its first event,
 *	                                              looked at only when the segment starts
 *	sched_encode(&e, &event) …                    WIRE_FULL: end this block, begin another
 *	len = sched_encoder_end(&e);                  the payload is complete
 *
 * Blocks may end anywhere; what was learned stays until the next init. All memory is inside the
 * struct: it can live in a probe's per-CPU area. Not one call allocates, sleeps or fails otherwise.
 */
#ifndef KISEKI_WIRE_SCHED_ENCODE_H
#define KISEKI_WIRE_SCHED_ENCODE_H

#include "wire/range_encode.h"
#include "wire/sched_model.h"

/* An event needs at most this much, and its filename's length beside it. */
#define SCHED_EVENT_ROOM 2048U
#define SCHED_HASH_BITS 10

struct sched_encoder {
	struct range_encoder rc;
	uint32_t room;
	uint32_t events;		      /* in this block */
	bool fresh;			      /* no block of this segment has begun */
	uint32_t multiplier;		      /* of the hash of pids */
	uint16_t head[1U << SCHED_HASH_BITS]; /* slots by pid */
	uint16_t chain[SCHED_SLOTS];
	uint8_t has_row
		[SCHED_ROWS]; /* of the model, made new in this segment: sched_model_restart() */
	uint8_t has_next[SCHED_GUESS_GROUPS], has_wakee[SCHED_GUESS_GROUPS];
	struct sched_model model;
};

void sched_encoder_init(struct sched_encoder *e, uint32_t cpu);

/* Right after init: another way to look pids up. Who knows the way could choose pids that take a
 * thousand steps each; the bytes do not depend on it. */
void sched_encoder_set_hash(struct sched_encoder *e, uint32_t seed);
void sched_encoder_begin(struct sched_encoder *e, uint8_t *out, uint32_t room, uint64_t tick);
enum wire_status sched_encode(struct sched_encoder *e, const struct sched_event *ev);
uint32_t sched_encoder_end(struct sched_encoder *e);

#endif
