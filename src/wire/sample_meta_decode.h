/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sample_meta_decode: rows of what a profile, or a guest, says about itself, out of bytes (sample_meta.h,
 * docs/format/wire.md).
 *
 * Each function takes one row from a reader that stands at one. False: no encoder wrote it. Texts are borrowed from the
 * bytes, of at most SAMPLE_META_TEXT_MAX.
 */
#ifndef KISEKI_WIRE_SAMPLE_META_DECODE_H
#define KISEKI_WIRE_SAMPLE_META_DECODE_H

#include "wire/guest_link.h"
#include "wire/sample_meta.h"
#include "wire/varint.h"

#define SAMPLE_META_TEXT_MAX 4096U

#ifdef __cplusplus
extern "C" {
#endif

bool sample_meta_get_sampling(struct byte_reader *r, struct sample_sampling *ret);
bool sample_meta_get_mapping(struct byte_reader *r, struct sample_mapping *ret);
bool sample_meta_get_life(struct byte_reader *r, struct sample_life_row *ret);
bool sample_meta_get_kernel_name(struct byte_reader *r, struct sample_kernel_name *ret);
bool sample_meta_get_pace(struct byte_reader *r, struct sample_pace_row *ret);
bool sample_meta_get_table(struct byte_reader *r, struct sample_table_row *ret);
bool sample_meta_get_link(struct byte_reader *r, struct guest_link_row *ret);

#ifdef __cplusplus
}
#endif

/* Whether virtual machines were looked for in it. */
static inline bool sample_sampling_has_guests(const struct sample_sampling *s)
{
	return s->has & SAMPLE_HAS_GUESTS || s->exits != SAMPLE_EXITS_NONE;
}

#endif
