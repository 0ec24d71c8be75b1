/* SPDX-License-Identifier: MIT */
/* boot_index: see boot_index.h. */
#include "device/boot/boot_index.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "device/boot/boot_file.h"
#include "wire/block.h"
#include "wire/varint.h"

#define STREAMS_MAX 4098U   /* of the description, the CPUs and the boot chart */
#define STREAMS_AT_ONCE 64U /* the table grows by so many */
#define PAYLOAD 4096U
#define ROW_MOST 40U

enum { ROWS_SEGMENTS = 0, ROWS_TOTALS = 1 };

struct stream {
	uint32_t number;
	uint64_t start, count, until, next_sequence;
};

struct index {
	int fd;
	uint64_t at;	   /* where the next block of the index goes */
	uint64_t sequence; /* and its number */
	uint64_t last_offset, last_tick, last_stream;
	struct stream *streams;
	uint32_t n_streams;
	uint32_t kind, used; /* of the block that is being made */
	uint8_t room[BLOCK_HEADER_MAX + PAYLOAD + ROW_MOST];
};

static uint8_t *payload_of(struct index *x)
{
	return x->room + BLOCK_HEADER_MAX;
}

static int write_at(int fd, const uint8_t *p, size_t len, uint64_t at)
{
	ssize_t n;

	for (; len; p += n, at += (uint64_t)n, len -= (size_t)n) {
		n = pwrite(fd, p, len, (off_t)at);
		if (n <= 0)
			return n ? -errno : -ENOSPC;
	}
	return 0;
}

static int put_block(struct index *x)
{
	struct block b = { .codec = CODEC_INDEX,
			   .flags = BLOCK_KEY,
			   .stream = x->kind,
			   .sequence = x->sequence++,
			   .payload_len = x->used };
	uint32_t len;
	const uint8_t *bytes = block_encode(&b, payload_of(x), &len);
	int r = write_at(x->fd, bytes, len, x->at);

	x->at += len;
	x->used = 0;
	x->last_offset = x->last_tick = x->last_stream = 0;
	return r;
}

static struct stream *find(struct index *x, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < x->n_streams; i++)
		if (x->streams[i].number == number)
			return &x->streams[i];
	return NULL;
}

/* By rising number, as the totals are. */
static struct stream *add(struct index *x, uint32_t number)
{
	struct stream *more = x->streams;
	uint32_t i;

	if (x->n_streams == STREAMS_MAX)
		return NULL;
	if (x->n_streams % STREAMS_AT_ONCE == 0)
		more = realloc(x->streams, (x->n_streams + STREAMS_AT_ONCE) * sizeof(*more));
	if (!more)
		return NULL;
	x->streams = more;
	for (i = x->n_streams++; i && more[i - 1].number > number; i--)
		more[i] = more[i - 1];
	more[i] = (struct stream){ .number = number };
	return &more[i];
}

static int put_segment(struct index *x, uint64_t offset, const struct stream *s, uint64_t tick)
{
	uint8_t *p = payload_of(x) + x->used;

	p = varint_put(p, offset - x->last_offset);
	p = varint_put(p, s->number);
	p = varint_put_signed(p, (int64_t)(tick - x->last_tick));
	x->last_offset = offset;
	x->last_tick = tick;
	x->used = (uint32_t)(p - payload_of(x));
	return x->used >= PAYLOAD ? put_block(x) : 0;
}

static int take_block(struct index *x, const struct block *b, uint64_t offset)
{
	struct stream *s = find(x, b->stream);
	uint64_t told = block_told(b);
	bool is_first = !s;
	int r = 0;

	s = s ? s : add(x, b->stream);
	if (!s)
		return -ENOMEM;
	if (b->flags & BLOCK_KEY) {
		if (is_first)
			s->start = s->count = b->before - told;
		if (b->first_tick > s->until)
			s->until = b->first_tick;
		r = put_segment(x, offset, s, s->until);
		s->until =
			b->first_tick + b->ticks > s->until ? b->first_tick + b->ticks : s->until;
	} else {
		s->until += b->ticks;
	}
	s->count += told + b->events;
	s->next_sequence = b->sequence + 1;
	return r;
}

static int put_totals(struct index *x)
{
	const struct stream *s;
	uint8_t *p;
	int r = 0;

	x->kind = ROWS_TOTALS;
	for (s = x->streams; !r && s < x->streams + x->n_streams; s++) {
		p = payload_of(x) + x->used;
		p = varint_put(p, s->number - x->last_stream);
		p = varint_put(p, s->start);
		p = varint_put(p, s->count - s->start);
		p = varint_put(p, s->next_sequence);
		x->last_stream = s->number;
		x->used = (uint32_t)(p - payload_of(x));
		if (x->used >= PAYLOAD)
			r = put_block(x);
	}
	return !r && x->used ? put_block(x) : r;
}

static int walk(struct index *x, uint64_t end)
{
	uint8_t head[BLOCK_HEADER_MAX];
	uint64_t at = BOOT_FILE_HEAD;
	struct block b;
	ssize_t n;
	int r = 0;

	while (!r && at < end) {
		n = pread(x->fd, head, sizeof(head), (off_t)at);
		b.len = 0;
		if (n <= 0 || block_peek(head, (size_t)n, &b) == WIRE_CORRUPT || !b.len)
			return n < 0 ? -errno : -EBADMSG;
		r = take_block(x, &b, at);
		at += b.len;
	}
	return r;
}

int boot_index_put(int fd, uint64_t end, struct error *e)
{
	_cleanup_free_ struct index *x = calloc(1, sizeof(*x));
	uint8_t trailer[BOOT_FILE_HEAD];
	int r;

	if (!x)
		return error_set(e, ENOMEM, "cannot write the index: out of memory");
	x->fd = fd;
	x->at = end;
	r = walk(x, end);
	if (!r && (x->used || !x->sequence))
		r = put_block(x);
	if (!r)
		r = put_totals(x);
	free(x->streams);
	put_le64(trailer, end);
	memcpy(trailer + 8, "KSKINDEX", 8);
	if (!r)
		r = write_at(fd, trailer, sizeof(trailer), x->at);
	if (r < 0 && ftruncate(fd, (off_t)end))
		return error_set(e, errno, "cannot cut off half an index: %s", strerror(errno));
	return r < 0 ? error_set(e, -r, "cannot write the index: %s", strerror(-r)) : 0;
}
