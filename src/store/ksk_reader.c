/* SPDX-License-Identifier: MIT */
/* ksk_reader: a .ksk file as a block_reader. Its places are offsets in the file. */
#include "store/ksk_scan.h"

#include <string.h>

#include "wire/message.h"

static struct ksk_file *file_of(struct block_reader *r)
{
	return (struct ksk_file *)r;
}

static int reader_next(struct block_reader *r, uint32_t stream, uint64_t *place, struct block *ret,
		       uint64_t *ret_at)
{
	return ksk_file_next(file_of(r), stream, place, ret, ret_at);
}

static bool get_key(struct ksk_file *f, uint32_t stream, uint64_t offset, struct block *ret)
{
	uint64_t next = offset, at;

	return ksk_file_next(f, stream, &next, ret, &at) == 1 && at == offset &&
	       ret->flags & BLOCK_KEY;
}

/* The start of a stream is found without stepping through what other streams have before it, if the
 * index is there and its first segment is all there was. */
static void reader_start(struct block_reader *r, uint32_t stream, struct block_start *ret)
{
	struct ksk_file *f = file_of(r);
	const struct ksk_stream *s = ksk_file_stream(f, stream);
	struct block b;

	memset(ret, 0, sizeof(*ret));
	ret->before = s && s->counted ? s->start : 0;
	if (f->indexed && s && s->n && get_key(f, stream, s->segments[0].offset, &b) &&
	    b.before - block_told(&b) == s->start) {
		ret->place = s->segments[0].offset;
		ret->sequence = b.sequence;
	}
}

/* The segment to start in so that nothing at or after the tick is missed: its key block must be
 * there, and hold an event, so that a loss behind it starts where it would when read from the
 * file's start. */
static uint64_t reader_seek(struct block_reader *r, uint32_t stream, uint64_t tick)
{
	struct ksk_file *f = file_of(r);
	const struct ksk_stream *s = ksk_file_stream(f, stream);
	size_t lo = 0, hi = s ? s->n : 0, mid;
	struct block b;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->segments[mid].tick < tick)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 1)
		if (get_key(f, stream, s->segments[lo].offset, &b) && b.events)
			return s->segments[lo].offset;
	return 0;
}

static bool reader_stream(struct block_reader *r, uint32_t stream, struct block_stream *ret)
{
	const struct ksk_file *f = file_of(r);
	const struct ksk_stream *s = ksk_file_stream(f, stream);

	memset(ret, 0, sizeof(*ret));
	ret->gap_cause = ret->start_cause = LOSS_DAMAGE;
	if (!s)
		return false;
	ret->counted = s->counted;
	ret->start = s->start;
	ret->end = s->end;
	ret->end_sequence = s->end_sequence;
	ret->ends = f->indexed;
	return true;
}

/* Streams that belong to no CPU do not count. */
static uint32_t reader_streams(struct block_reader *r)
{
	const struct ksk_file *f = file_of(r);
	size_t i = f->n_streams;

	while (i && f->streams[i - 1]->stream >= MESSAGE_STREAMS_MAX)
		i--;
	return i ? f->streams[i - 1]->stream : 0;
}

static bool reader_find(struct block_reader *r, uint32_t from, uint32_t *ret)
{
	const struct ksk_file *f = file_of(r);
	size_t lo = 0, hi = f->n_streams, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->streams[mid]->stream < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < f->n_streams)
		*ret = f->streams[lo]->stream;
	return lo < f->n_streams;
}

static bool reader_torn(struct block_reader *r, uint64_t from, uint64_t to)
{
	const struct ksk_file *f = file_of(r);
	size_t i;

	for (i = f->n_damage; i-- > 0 && f->damage[i].offset >= from;)
		if (f->damage[i].torn && f->damage[i].offset < to)
			return true;
	return false;
}

static void reader_note(struct block_reader *r, uint64_t place, uint64_t len, const char *what)
{
	ksk_file_note(file_of(r), place, len, what);
}

static uint64_t reader_size(struct block_reader *r)
{
	return file_of(r)->end;
}

static void reader_free(struct block_reader *r)
{
	ksk_file_free(file_of(r));
}

const struct block_reader_ops ksk_reader_ops = {
	.next = reader_next,
	.seek = reader_seek,
	.start = reader_start,
	.stream = reader_stream,
	.streams = reader_streams,
	.find = reader_find,
	.torn = reader_torn,
	.note = reader_note,
	.size = reader_size,
	.free = reader_free,
};
