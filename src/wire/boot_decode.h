/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * boot_decode: the payload of codec `boot` back into records (docs/format/boot.md).
 *
 *	boot_decoder_init(&d);                        a segment starts
 *	boot_decoder_begin(&d, in, len, tick);        a block; tick as the encoder was given it
 *	boot_decode(&d, &event) …                     as often as the block has records; their texts
 *	                                              are valid until the next one
 *	boot_decoder_end(&d)                          WIRE_CORRUPT if that was not all of it
 *
 * After WIRE_CORRUPT the rest of the segment is lost; nothing else is.
 */
#ifndef KISEKI_WIRE_BOOT_DECODE_H
#define KISEKI_WIRE_BOOT_DECODE_H

#include "wire/boot_model.h"
#include "wire/range_decode.h"

struct boot_decoder {
	struct range_decoder rc;
	bool fresh; /* no block of this segment has begun */
	bool corrupt;
	char text[BOOT_TEXT_MAX + 1];
	struct boot_model model;
};

void boot_decoder_init(struct boot_decoder *d);
enum wire_status boot_decoder_begin(struct boot_decoder *d, const uint8_t *in, uint32_t len,
				    uint64_t tick);
enum wire_status boot_decode(struct boot_decoder *d, struct boot_event *ret);
enum wire_status boot_decoder_end(struct boot_decoder *d);

#endif
