/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bits: cursors that write and read whole bits, the most significant of a number first, from the
 * top bit of each byte down (docs/format/wire.md, section 2).
 *
 * For codecs that are defined bit by bit. A writer that runs out of room and a reader that runs
 * beyond the end set `bad`, write nothing more and read zeros, so that a record can be coded whole
 * and asked once.
 */
#ifndef KISEKI_WIRE_BITS_H
#define KISEKI_WIRE_BITS_H

#include "wire/types.h"

struct bit_writer {
	uint8_t *out;
	uint64_t at;   /* bits written */
	uint64_t room; /* bits there are */
	bool bad;
};

struct bit_reader {
	const uint8_t *in;
	uint64_t at;
	uint64_t len;
	bool bad;
};

static inline void bit_writer_init(struct bit_writer *w, uint8_t *out, size_t room)
{
	w->out = out;
	w->at = 0;
	w->room = (uint64_t)room * 8;
	w->bad = false;
}

/* The low n <= 64 bits of v. All of them or none. */
static inline void bit_writer_put(struct bit_writer *w, uint64_t v, uint32_t n)
{
	if (w->bad || n > w->room - w->at) {
		w->bad = true;
		return;
	}
	while (n--) {
		uint32_t in_byte = (uint32_t)(w->at & 7);
		uint8_t *byte = &w->out[w->at >> 3];

		if (in_byte == 0)
			*byte = 0;
		*byte = (uint8_t)(*byte | (v >> n & 1) << (7 - in_byte));
		w->at++;
	}
}

/* Bytes begun; the bits behind the last one written are zero. */
static inline size_t bit_writer_len(const struct bit_writer *w)
{
	return (size_t)((w->at + 7) >> 3);
}

static inline void bit_reader_init(struct bit_reader *r, const uint8_t *in, size_t len)
{
	r->in = in;
	r->at = 0;
	r->len = (uint64_t)len * 8;
	r->bad = false;
}

static inline uint64_t bit_reader_get(struct bit_reader *r, uint32_t n)
{
	uint64_t v = 0;

	if (r->bad || n > r->len - r->at) {
		r->bad = true;
		return 0;
	}
	while (n--) {
		v = v << 1 | (r->in[r->at >> 3] >> (7 - (r->at & 7)) & 1);
		r->at++;
	}
	return v;
}

#endif
