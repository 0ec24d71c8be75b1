/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * boot_encode: records of a boot chart into the payload of codec `boot` (docs/format/boot.md).
 *
 *	boot_encoder_init(&e);                        a segment starts: nothing is known any more
 *	boot_encoder_begin(&e, out, room, tick);      a block starts; tick: of its first record,
 *	                                              looked at only when the segment starts
 *	boot_encode(&e, &event) …                     WIRE_FULL: end this block, begin another
 *	len = boot_encoder_end(&e);                   the payload is complete
 *
 * Blocks may end anywhere; what was learned stays until the next init. After an init the caller says
 * everything again: what processes there are, their names, their states and all counters. All memory is
 * inside the struct, and its size does not depend on what is recorded. Nothing allocates or fails otherwise.
 */
#ifndef KISEKI_WIRE_BOOT_ENCODE_H
#define KISEKI_WIRE_BOOT_ENCODE_H

#include "wire/boot_model.h"
#include "wire/range_encode.h"

/* A record needs at most this much beside its text, a byte of the text at most so much when everything about
 * it is unexpected, and a block has at least this much and the longest text. */
#define BOOT_EVENT_ROOM 256U
#define BOOT_BYTE_ROOM 4U
#define BOOT_BLOCK_LEAST (BOOT_EVENT_ROOM + BOOT_BYTE_ROOM * BOOT_TEXT_MAX)

struct boot_encoder {
	struct range_encoder rc;
	uint32_t room;
	uint32_t events; /* in this block */
	bool fresh;	 /* no block of this segment has begun */
	struct boot_model model;
};

void boot_encoder_init(struct boot_encoder *e);
void boot_encoder_begin(struct boot_encoder *e, uint8_t *out, uint32_t room, uint64_t tick);
enum wire_status boot_encode(struct boot_encoder *e, const struct boot_event *ev);
uint32_t boot_encoder_end(struct boot_encoder *e);

#endif
