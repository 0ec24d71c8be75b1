/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_encode: one thread's calls into the payload of codec `func`, in its strong stage
 * (docs/format/func.md, sections 6 to 8).
 *
 *	func_encoder_init(&e, stack);                 a segment starts; stack: what is open, or NULL
 *	func_encoder_begin(&e, out, room, tick);      a block starts; tick: of its first event,
 *	                                              looked at only when the segment starts
 *	func_encode(&e, &event) …                     WIRE_FULL: end this block, begin another
 *	len = func_encoder_end(&e);                   the payload is complete
 *
 * Blocks may end anywhere; what was learned stays until the next init. All memory is inside the
 * struct. Not one call allocates, sleeps or fails otherwise.
 */
#ifndef KISEKI_WIRE_FUNC_ENCODE_H
#define KISEKI_WIRE_FUNC_ENCODE_H

#include "wire/func_model.h"
#include "wire/range_encode.h"

/* An event needs at most this much, and a segment's first block this much for what is open: a block
 * has at least the sum of both. */
#define FUNC_EVENT_ROOM 128U
#define FUNC_BEGIN_ROOM (64U + FUNC_STACK_FRAMES * 24U)

struct func_encoder {
	struct range_encoder rc;
	uint32_t room;
	uint32_t events; /* in this block */
	bool fresh;	 /* no block of this segment has begun */
	struct func_model model;
};

void func_encoder_init(struct func_encoder *e, const struct func_stack *stack);
void func_encoder_begin(struct func_encoder *e, uint8_t *out, uint32_t room, uint64_t tick);
enum wire_status func_encode(struct func_encoder *e, const struct func_event *ev);
uint32_t func_encoder_end(struct func_encoder *e);

#endif
