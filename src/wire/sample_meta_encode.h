/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sample_meta_encode: what a profile says about itself, into bytes (sample_meta.h, docs/format/wire.md).
 *
 *	body = meta_item_begin(p, META_MAPPED);
 *	p = sample_meta_put_mapping(body, &row) …     as many rows as there is room for
 *	p = meta_item_end(body, p);
 *
 * Every row stands for itself: it needs no other before it, and said again it changes nothing. Each function writes one
 * row at p and returns the place behind it; the caller has the room: SAMPLE_META_ROW_ROOM, and the lengths of
 * its texts beside.
 */
#ifndef KISEKI_WIRE_SAMPLE_META_ENCODE_H
#define KISEKI_WIRE_SAMPLE_META_ENCODE_H

#include "wire/meta_encode.h"
#include "wire/sample_meta.h"

#define SAMPLE_META_ROW_ROOM (8U * VARINT_MAX + 32U)

/* A whole item, META_SAMPLING. */
uint8_t *sample_meta_put_sampling(uint8_t *p, const struct sample_sampling *s);
uint8_t *sample_meta_put_mapping(uint8_t *p, const struct sample_mapping *r);
uint8_t *sample_meta_put_life(uint8_t *p, const struct sample_life_row *r);
uint8_t *sample_meta_put_kernel_name(uint8_t *p, const struct sample_kernel_name *r);
uint8_t *sample_meta_put_pace(uint8_t *p, const struct sample_pace_row *r);

/* The body of META_GUEST starts with this; items follow. */
uint8_t *sample_meta_put_guest(uint8_t *p, int32_t vm);
uint8_t *sample_meta_put_table(uint8_t *p, const struct sample_table_row *r);

#endif
