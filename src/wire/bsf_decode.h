/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bsf_decode: reads a block of the mixed Binary and String Format.
 *
 * Decoding has two passes, as the format was published: from the tail of the block backwards, each
 * fixed header says where its texts are and so where the record before it ends; this gives the
 * intermediate log, in which left-out texts are marked. Then, from the head, each mark takes the
 * value before it. The log lies in memory of the caller, BSF_BLOCK_RECORDS_MAX entries are enough
 * for any block.
 */
#ifndef KISEKI_WIRE_BSF_DECODE_H
#define KISEKI_WIRE_BSF_DECODE_H

#include "wire/bsf.h"

struct bsf_log {
	struct bsf_entry *entries; /* the caller's memory */
	size_t room;		   /* how many it holds */
	struct bsf_entry *first;   /* the block's records in order, first[0 … count - 1] */
	size_t count;
	size_t bad_offset; /* after WIRE_CORRUPT: where in the block the damage showed */
};

void bsf_log_init(struct bsf_log *log, struct bsf_entry *entries, size_t room);

/* First pass: the intermediate log of a whole block. WIRE_FULL: `room` is too small. After anything
 * but WIRE_OK the log is empty. */
enum wire_status bsf_log_decode(struct bsf_log *log, const uint8_t *data, size_t len);

/* Second pass: fills every mark from the entry before. */
enum wire_status bsf_log_fill(struct bsf_log *log);

/* Both passes. */
enum wire_status bsf_decode(struct bsf_log *log, const uint8_t *data, size_t len);

#endif
