/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * meta_encode: items of metadata into bytes (docs/format/wire.md, section 7).
 *
 * Each function writes one item at p and returns the place behind it; the caller has the room:
 * META_ITEM_ROOM bytes for any but a text, which needs its own length beside them. Items are made
 * in place: their length is filled in when it is known, always in three bytes.
 */
#ifndef KISEKI_WIRE_META_ENCODE_H
#define KISEKI_WIRE_META_ENCODE_H

#include "wire/dialect.h"
#include "wire/meta.h"

#define META_ITEM_ROOM 128U
#define META_CLOCK_NAME_MAX 23U

struct meta_clock {
	const char *name; /* not terminated */
	uint32_t name_len;
	uint32_t mult, shift;
	uint64_t base_ns;
	uint32_t print_digits;
	bool has_realtime;
	int64_t realtime_off_ns;
	uint64_t realtime_err_ns;
	enum meta_whose whose; /* the real time is */
	int64_t own_off_ns;    /* META_WHOSE_BOTH */
};

/* The item's first byte of content; meta_item_end() gets it back, and the place behind the last. */
uint8_t *meta_item_begin(uint8_t *p, enum meta_item type);
uint8_t *meta_item_end(uint8_t *body, uint8_t *p);

uint8_t *meta_put_text(uint8_t *p, enum meta_item type, const char *text, size_t len);
uint8_t *meta_put_number(uint8_t *p, enum meta_item type, uint64_t v);
uint8_t *meta_put_clock(uint8_t *p, const struct meta_clock *c);
uint8_t *meta_put_dialect(uint8_t *p, const struct sched_dialect *d);

#endif
