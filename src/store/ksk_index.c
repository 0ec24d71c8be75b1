/* SPDX-License-Identifier: MIT */
/*
 * ksk_index: reads the index at the end of a .ksk file (ksk.h). It is believed as a whole or not at
 * all; what it says of places is still checked where they are read.
 */
#include <errno.h>
#include <string.h>

#include "store/checksum.h"
#include "store/ksk.h"
#include "store/ksk_scan.h"
#include "wire/varint.h"

#define BLOCK_MIN 13U /* bytes: rows closer than this are no blocks */

static int read_segments(struct ksk_file *f, const struct block *b)
{
	struct byte_reader r;
	uint64_t offset = 0, tick = 0, stream, last;
	struct ksk_stream *s;
	int ret = 0;

	reader_init(&r, b->payload, b->payload_len);
	while (reader_left(&r) && ret == 0) {
		offset += reader_varint(&r);
		stream = reader_varint(&r);
		tick += (uint64_t)reader_signed(&r);
		last = f->n_chunks ? f->chunks[f->n_chunks - 1].offset : KSK_HEAD_LEN - BLOCK_MIN;
		if (r.bad || offset < last + BLOCK_MIN || offset >= f->end || stream > UINT32_MAX)
			return -EBADMSG;
		/* The first chunk starts with the blocks, whatever they are. */
		if (!f->n_chunks && offset != KSK_HEAD_LEN)
			ret = ksk_add_chunk(f, KSK_HEAD_LEN);
		if (ret == 0)
			ret = ksk_add_chunk(f, offset);
		if (ret == 0)
			ret = ksk_add_stream(f, (uint32_t)stream, &s);
		if (ret == 0 && s->n && s->segments[s->n - 1].tick > tick)
			ret = -EBADMSG;
		if (ret == 0)
			ret = ksk_add_segment(s, offset, tick);
	}
	return ret;
}

int ksk_index_totals(struct ksk_file *f, const struct block *b)
{
	struct byte_reader r;
	uint64_t stream = 0, start, grown, sequence;
	struct ksk_stream *s;
	int ret = 0;

	reader_init(&r, b->payload, b->payload_len);
	while (reader_left(&r) && ret == 0) {
		stream += reader_varint(&r);
		start = reader_varint(&r);
		grown = reader_varint(&r);
		sequence = reader_varint(&r);
		if (r.bad || stream > UINT32_MAX)
			return -EBADMSG;
		ret = ksk_add_stream(f, (uint32_t)stream, &s);
		if (ret == 0 && !s->counted) {
			s->counted = true;
			s->start = start;
			s->end = start + grown;
			s->end_sequence = sequence;
		}
	}
	return ret;
}

static int read_blocks(struct ksk_file *f, uint64_t at, uint64_t limit)
{
	uint64_t sequence = 0;
	struct block b;
	size_t i;
	int r = 0;

	for (; at < limit && r == 0; at += b.len) {
		if (checksum_decode_block(f->data + at, (size_t)(limit - at), &b) != WIRE_OK ||
		    b.codec != CODEC_INDEX || b.sequence != sequence++)
			return -ENODATA;
		if (b.stream == INDEX_SEGMENTS)
			r = read_segments(f, &b);
		else if (b.stream == INDEX_TOTALS)
			r = ksk_index_totals(f, &b);
	}
	for (i = 0; i < f->n_streams && r == 0; i++)
		if (!f->streams[i]->counted)
			r = -EBADMSG;
	if (r == 0 && !f->n_chunks && f->end > KSK_HEAD_LEN)
		r = ksk_add_chunk(f, KSK_HEAD_LEN);
	return r < 0 ? r : ksk_end_chunks(f);
}

/* A torn index still ends the blocks, if the trailer points at the likes of one. */
static bool is_index_start(const struct ksk_file *f, uint64_t offset)
{
	struct block b;

	return block_peek(f->data + offset, (size_t)(f->len - offset), &b) != WIRE_CORRUPT &&
	       b.codec == CODEC_INDEX && b.sequence == 0 && b.stream == INDEX_SEGMENTS;
}

int ksk_index_read(struct ksk_file *f)
{
	const uint8_t *trailer;
	uint64_t offset;
	int r;

	if (f->len < KSK_HEAD_LEN + KSK_TRAILER_LEN)
		return -ENODATA;
	trailer = f->data + f->len - KSK_TRAILER_LEN;
	if (memcmp(trailer + 8, KSK_TRAILER_MAGIC, 8))
		return -ENODATA;
	/* Whatever the rest is worth, these bytes are no block. */
	f->end = f->len - KSK_TRAILER_LEN;
	offset = get_le64(trailer);
	if (offset < KSK_HEAD_LEN || offset >= f->end)
		return -ENODATA;
	f->end = (size_t)offset;
	r = read_blocks(f, offset, f->len - KSK_TRAILER_LEN);
	f->indexed = r == 0;
	if (r == 0)
		return 0;
	ksk_forget(f);
	if (!is_index_start(f, offset))
		f->end = f->len - KSK_TRAILER_LEN;
	return r;
}
