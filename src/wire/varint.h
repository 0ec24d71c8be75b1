/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * varint: whole numbers in as many bytes as they need, and cursors over bytes
 * (docs/format/wire.md, section 2).
 *
 * Seven bits a byte, low bits first, the top bit says that more follow; at most ten bytes. A reader
 * that hits the end or an overlong number sets `bad` and reads zeros from then on, so a parser may
 * read a whole structure and ask once.
 */
#ifndef KISEKI_WIRE_VARINT_H
#define KISEKI_WIRE_VARINT_H

#include "wire/types.h"

#define VARINT_MAX 10

struct byte_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

static inline uint8_t *varint_put(uint8_t *out, uint64_t v)
{
	while (v >= 0x80) {
		*out++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*out++ = (uint8_t)v;
	return out;
}

static inline uint8_t *varint_put_signed(uint8_t *out, int64_t v)
{
	return varint_put(out, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

static inline void reader_init(struct byte_reader *r, const void *data, size_t len)
{
	r->at = (const uint8_t *)data;
	r->end = r->at + len;
	r->bad = false;
}

static inline size_t reader_left(const struct byte_reader *r)
{
	return (size_t)(r->end - r->at);
}

static inline uint64_t reader_varint(struct byte_reader *r)
{
	uint64_t v = 0;
	uint32_t shift;

	for (shift = 0; shift < 7 * VARINT_MAX && r->at < r->end; shift += 7) {
		uint8_t b = *r->at++;

		if (shift == 63 && b > 1)
			break;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	r->bad = true;
	r->at = r->end;
	return 0;
}

static inline int64_t reader_signed(struct byte_reader *r)
{
	uint64_t v = reader_varint(r);

	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* The next `len` bytes, borrowed; NULL and bad if there are fewer. */
static inline const uint8_t *reader_bytes(struct byte_reader *r, uint64_t len)
{
	const uint8_t *p = r->at;

	if (len > reader_left(r)) {
		r->bad = true;
		r->at = r->end;
		return NULL;
	}
	r->at += len;
	return p;
}

static inline void put_le32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
}

static inline uint32_t get_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void put_le64(uint8_t *p, uint64_t v)
{
	put_le32(p, (uint32_t)v);
	put_le32(p + 4, (uint32_t)(v >> 32));
}

static inline uint64_t get_le64(const uint8_t *p)
{
	return get_le32(p) | (uint64_t)get_le32(p + 4) << 32;
}

#endif
