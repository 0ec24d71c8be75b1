/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bsf_encode: appends records to a block in the mixed Binary and String Format.
 *
 * The state is the record before, 56 bytes. A block starts with bsf_encoder_init(), whereby its
 * first record writes all texts and the block can be read without any other.
 */
#ifndef KISEKI_WIRE_BSF_ENCODE_H
#define KISEKI_WIRE_BSF_ENCODE_H

#include "wire/bsf.h"

struct bsf_encoder {
	struct bsf_record last; /* only the five values of the string section are kept */
	bool started;
};

void bsf_encoder_init(struct bsf_encoder *e);

/* Can the format hold these values, and is the name padded with NULs? */
bool bsf_record_valid(const struct bsf_record *r);

/* Writes one record to `out` and returns its length, at most BSF_RECORD_MAX. 0: the room is too
 * small or the record is not valid; then neither `out` nor the state has changed. */
size_t bsf_encode(struct bsf_encoder *e, uint8_t *out, size_t room, const struct bsf_record *r);

#endif
