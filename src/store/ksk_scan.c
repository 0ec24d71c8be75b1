/* SPDX-License-Identifier: MIT */
/*
 * ksk_scan: see ksk_scan.h.
 *
 * A chunk's bounds come from the index, and the index can be wrong where a file was patched: so a
 * sound block may run across the end of its chunk. It belongs to the chunk it starts in.
 */
#include "store/ksk_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "store/checksum.h"
#include "store/ksk.h"

#define ROWS_MAX (1U << 24)   /* of segments, chunks: a terabyte of 64 KiB segments */
#define BLOCKS_MAX (1U << 28) /* of a stream */
#define DAMAGE_MAX (1U << 16) /* beyond this, damage is still skipped but no longer listed */

static void note(struct ksk_file *f, const struct ksk_damage *d)
{
	size_t at;

	for (at = f->n_damage; at && f->damage[at - 1].offset >= d->offset; at--)
		if (f->damage[at - 1].offset == d->offset)
			return;
	if (array_grow(&f->damage, f->n_damage, &f->room_damage, sizeof(*f->damage), DAMAGE_MAX) <
	    0)
		return;
	memmove(f->damage + at + 1, f->damage + at, (f->n_damage - at) * sizeof(*f->damage));
	f->damage[at] = *d;
	f->n_damage++;
}

void ksk_file_note(struct ksk_file *f, uint64_t offset, uint64_t len, const char *what)
{
	const struct ksk_damage d = { .offset = offset, .len = len, .what = what };

	note(f, &d);
}

static struct ksk_stream *get_stream(const struct ksk_file *f, uint32_t stream, size_t *ret_at)
{
	size_t lo = 0, hi = f->n_streams, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->streams[mid]->stream < stream)
			lo = mid + 1;
		else
			hi = mid;
	}
	*ret_at = lo;
	return lo < f->n_streams && f->streams[lo]->stream == stream ? f->streams[lo] : NULL;
}

const struct ksk_stream *ksk_file_stream(const struct ksk_file *f, uint32_t stream)
{
	size_t at;

	return get_stream(f, stream, &at);
}

int ksk_add_stream(struct ksk_file *f, uint32_t stream, struct ksk_stream **ret)
{
	size_t at;
	int r;

	*ret = get_stream(f, stream, &at);
	if (*ret)
		return 0;
	r = array_grow(&f->streams, f->n_streams, &f->room_streams, sizeof(*f->streams),
		       KSK_STREAMS_MAX);
	if (r < 0)
		return r;
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->stream = stream;
	memmove(f->streams + at + 1, f->streams + at, (f->n_streams - at) * sizeof(*f->streams));
	f->streams[at] = *ret;
	f->n_streams++;
	return 0;
}

int ksk_add_segment(struct ksk_stream *s, uint64_t offset, uint64_t tick)
{
	int r = array_grow(&s->segments, s->n, &s->room, sizeof(*s->segments), ROWS_MAX);

	if (r < 0)
		return r;
	s->segments[s->n++] = (struct ksk_segment){ .offset = offset, .tick = tick };
	return 0;
}

int ksk_add_chunk(struct ksk_file *f, uint64_t offset)
{
	int r = array_grow(&f->chunks, f->n_chunks, &f->room_chunks, sizeof(*f->chunks), ROWS_MAX);

	if (r < 0)
		return r;
	f->chunks[f->n_chunks] = (struct ksk_chunk){ .offset = offset, .unscanned = f->n_chunks };
	f->n_chunks++;
	return 0;
}

int ksk_end_chunks(struct ksk_file *f)
{
	int r = ksk_add_chunk(f, f->end);

	if (r == 0)
		f->n_chunks--;
	return r;
}

size_t ksk_unscanned(struct ksk_file *f, size_t chunk)
{
	struct ksk_chunk *c = f->chunks;

	while (c[chunk].unscanned != chunk) {
		c[chunk].unscanned = c[c[chunk].unscanned].unscanned;
		chunk = c[chunk].unscanned;
	}
	return chunk;
}

void ksk_forget(struct ksk_file *f)
{
	size_t i;

	for (i = 0; i < f->n_streams; i++) {
		free(f->streams[i]->segments);
		free(f->streams[i]->blocks);
		free(f->streams[i]);
	}
	f->n_streams = 0;
	f->n_chunks = 0;
}

/* Moves the gap of the list to where this offset belongs. */
static void move_gap(struct ksk_stream *s, uint64_t offset)
{
	uint64_t *high = s->blocks + s->room_blocks - s->n_high;
	size_t n = 0;

	while (n < s->n_low && s->blocks[s->n_low - 1 - n] > offset)
		n++;
	memmove(high - n, s->blocks + s->n_low - n, n * sizeof(*high));
	s->n_low -= n;
	s->n_high += n;
	high -= n;
	for (n = 0; n < s->n_high && high[n] < offset; n++)
		;
	memmove(s->blocks + s->n_low, high, n * sizeof(*high));
	s->n_low += n;
	s->n_high -= n;
}

/* Chunks are mostly scanned one after the other: then the list's gap stays where it is needed. */
static int list_block(struct ksk_stream *s, uint64_t offset)
{
	size_t room = s->room_blocks;
	int r = array_grow(&s->blocks, s->n_low + s->n_high, &s->room_blocks, sizeof(*s->blocks),
			   BLOCKS_MAX);

	if (r < 0)
		return r;
	if (room != s->room_blocks)
		memmove(s->blocks + s->room_blocks - s->n_high, s->blocks + room - s->n_high,
			s->n_high * sizeof(*s->blocks));
	move_gap(s, offset);
	s->blocks[s->n_low++] = offset;
	return 0;
}

const uint64_t *ksk_find_block(const struct ksk_stream *s, uint64_t offset)
{
	bool in_low = s->n_low && s->blocks[s->n_low - 1] >= offset;
	size_t n = in_low ? s->n_low : s->n_high, lo = 0, hi = n, mid;
	const uint64_t *part;

	if (!n)
		return NULL;
	part = in_low ? s->blocks : s->blocks + s->room_blocks - s->n_high;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (part[mid] < offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n ? &part[lo] : NULL;
}

/* Without an index, the blocks say what it would: but a block that was there before starts no
 * segment. */
static int learn(struct ksk_stream *s, uint64_t offset, const struct block *b)
{
	bool repeated = b->sequence < s->next_sequence;
	uint64_t tick = s->until > b->first_tick ? s->until : b->first_tick;

	if (repeated)
		return 0;
	s->next_sequence = b->sequence + 1;
	s->until = ksk_until(s->until, b);
	return b->flags & BLOCK_KEY ? ksk_add_segment(s, offset, tick) : 0;
}

static int list_found(struct ksk_file *f, uint64_t offset, const struct block *b)
{
	struct ksk_stream *s;
	size_t at;
	int r;

	if (b->codec == CODEC_INDEX && !f->indexed) /* what is left of an index */
		return b->stream == INDEX_TOTALS ? ksk_index_totals(f, b) : 0;
	if (f->indexed) {
		s = b->codec == CODEC_INDEX ? NULL : get_stream(f, b->stream, &at);
		if (!s) {
			ksk_file_note(f, offset, b->len, "a block that the index does not know");
			return 0;
		}
		return list_block(s, offset);
	}
	r = ksk_add_stream(f, b->stream, &s);
	if (r == 0)
		r = learn(s, offset, b);
	return r < 0 ? r : list_block(s, offset);
}

/* The next offset below `limit` at which a sound block starts, or limit. What looks like a block
 * is checked, and made-up bytes can look like many long ones: so the work has a ceiling. */
static uint64_t resync(struct ksk_file *f, uint64_t offset, uint64_t limit)
{
	const uint8_t *p;
	struct block b;

	while (offset < limit) {
		p = memchr(f->data + offset, BLOCK_MAGIC0, (size_t)(limit - offset));
		if (!p)
			return limit;
		offset = (uint64_t)(p - f->data);
		if (block_peek(p, (size_t)(f->end - offset), &b) == WIRE_OK) {
			if (b.len > f->search_left)
				return limit;
			f->search_left -= b.len;
			if (checksum_decode_block(p, (size_t)(f->end - offset), &b) == WIRE_OK)
				return offset;
		}
		offset++;
	}
	return limit;
}

/* A file without index that ends within a block was cut there: the header is worth having. */
static int take_cut_block(struct ksk_file *f, uint64_t offset, const struct block *b)
{
	struct ksk_stream *s;
	size_t at;

	s = b->len ? get_stream(f, b->stream, &at) : NULL;
	return s && b->sequence >= s->next_sequence ? list_block(s, offset) : 0;
}

int ksk_scan_chunk(struct ksk_file *f, size_t chunk)
{
	uint64_t offset = f->chunks[chunk].offset, limit = f->chunks[chunk + 1].offset, next;
	enum wire_status status;
	struct ksk_damage d;
	struct block b;
	bool cut;
	int r = 0;

	f->chunks[chunk].unscanned = chunk + 1;
	while (offset < limit && r == 0) {
		status = checksum_decode_block(f->data + offset, (size_t)(f->end - offset), &b);
		if (status == WIRE_OK) {
			r = list_found(f, offset, &b);
			offset += b.len;
			continue;
		}
		next = resync(f, offset + 1, limit);
		cut = status == WIRE_MORE && next == f->len;
		d = (struct ksk_damage){ .offset = offset,
					 .len = next - offset,
					 .torn = !cut,
					 .what = cut ? "the file is cut within a block"
						     : "not a block, or its checksum is wrong" };
		note(f, &d);
		if (cut)
			r = take_cut_block(f, offset, &b);
		offset = next;
	}
	f->failure = f->failure ? f->failure : r;
	return r;
}
