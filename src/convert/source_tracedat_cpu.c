/* SPDX-License-Identifier: MIT */
/*
 * source_tracedat_cpu: one CPU's records, page by page.
 *
 * Uncompressed pages are read where they lie in the file. Compressed ones come in chunks of a few
 * pages; one chunk per CPU is held at a time, in memory that is reused. A chunk's place can only be
 * found by walking over those before it, so the first seek walks once and keeps at most MARKS_MAX
 * places, evenly spread: constant memory, and a seek decompresses a handful of chunks.
 */
#include <errno.h>
#include <stdlib.h>

#include "convert/tracedat.h"
#include "ftrace/bytes.h"
#include "wire/loss.h"

#define MARKS_MAX 512U /* even: see make_marks() */
#define COUNT_SIZE 4U
#define CHUNK_HEAD 8U

struct tracedat_marks {
	size_t at[MARKS_MAX];	  /* offset of the chunk */
	uint32_t left[MARKS_MAX]; /* chunks from there to the end */
	uint32_t n;
	uint32_t stride; /* chunks from one mark to the next */
};

static int fail(const struct tracedat_cpu *c, const char *what, size_t at, struct error *e)
{
	return error_set(e, EBADMSG, "trace.dat: %s of CPU %u at offset %llu", what, c->cpu,
			 (unsigned long long)(c->file_offset + at));
}

void tracedat_cpu_rewind(struct tracedat_cpu *c)
{
	memset(&c->page, 0, sizeof(c->page));
	c->missed = c->missed_first;
	c->first_tick = c->last_tick = 0;
	c->next_page = 0;
	c->next_chunk = 0;
	c->chunks_left = 0;
	if (!c->buffer->compressed) {
		c->pages = c->bytes;
		return;
	}
	c->pages.len = 0;
	if (c->bytes.len >= COUNT_SIZE) {
		c->chunks_left = bytes_get32(c->bytes.data, c->dat->big_endian);
		c->next_chunk = COUNT_SIZE;
	}
}

void tracedat_cpu_open(struct tracedat_cpu *c, const struct tracedat *t,
		       const struct tracedat_buffer *b, const struct tracedat_range *range)
{
	memset(c, 0, sizeof(*c));
	c->dat = t;
	c->buffer = b;
	c->cpu = range->cpu;
	c->chunk_max = TRACEDAT_CHUNKS_MAX / b->n_ranges;
	if (c->chunk_max > TRACEDAT_CHUNK_MAX)
		c->chunk_max = TRACEDAT_CHUNK_MAX;
	c->file_offset = range->offset;
	if (range->size) {
		c->bytes.data = t->in.data + (size_t)range->offset;
		c->bytes.len = (size_t)range->size;
		/* The size of compressed pages is written without the count before them. */
		if (b->compressed && t->in.len - (size_t)range->offset - c->bytes.len >= COUNT_SIZE)
			c->bytes.len += COUNT_SIZE;
	}
	tracedat_cpu_rewind(c);
}

void tracedat_cpu_close(struct tracedat_cpu *c)
{
	free(c->chunk);
	free(c->marks);
	c->chunk = NULL;
	c->marks = NULL;
}

/* Where the chunk at this offset, which is not behind the end, has its bytes, and how many come out of
 * it. */
static int chunk_head(const struct tracedat_cpu *c, size_t at, struct import_bytes *ret_packed,
		      uint32_t *ret_size, struct error *e)
{
	size_t left = c->bytes.len - at;
	const uint8_t *p = c->bytes.data + at;
	uint32_t packed;

	if (left < CHUNK_HEAD)
		return fail(c, "no compressed chunk", at, e);
	packed = bytes_get32(p, c->dat->big_endian);
	*ret_size = bytes_get32(p + 4, c->dat->big_endian);
	*ret_packed = (struct import_bytes){ p + CHUNK_HEAD, packed };
	if (packed > left - CHUNK_HEAD)
		return fail(c, "a compressed chunk overruns the pages", at, e);
	if (!*ret_size || *ret_size % c->buffer->page_size || *ret_size > c->chunk_max)
		return fail(c, "a compressed chunk is not of whole pages:", at, e);
	return 0;
}

static int load_chunk(struct tracedat_cpu *c, struct error *e)
{
	struct import_bytes packed;
	uint32_t size;
	uint8_t *grown;
	int r;

	r = chunk_head(c, c->next_chunk, &packed, &size, e);
	if (r < 0)
		return r;
	if (size > c->chunk_room) {
		grown = realloc(c->chunk, size);
		if (!grown)
			return error_set(e, ENOMEM, "cannot read trace.dat: out of memory");
		c->chunk = grown;
		c->chunk_room = size;
	}
	if (tracedat_unzip(c->dat->codec, packed, c->chunk, size) < 0)
		return fail(c, "a chunk does not decompress:", c->next_chunk, e);
	c->pages = (struct import_bytes){ c->chunk, size };
	c->next_page = 0;
	c->next_chunk += CHUNK_HEAD + packed.len;
	c->chunks_left--;
	return 0;
}

static void add_missed(struct tracedat_cpu *c, uint64_t n)
{
	if (n == LOSS_UNKNOWN || c->missed == LOSS_UNKNOWN || n > LOSS_UNKNOWN - 1 - c->missed)
		c->missed = LOSS_UNKNOWN;
	else
		c->missed += n;
}

/* 1: a page is open; 0: there is none left. */
static int next_page(struct tracedat_cpu *c, struct error *e)
{
	size_t len = c->buffer->page_size, at = c->next_page;
	int r;

	if (at >= c->pages.len) {
		if (!c->chunks_left)
			return 0;
		r = load_chunk(c, e);
		if (r < 0)
			return r;
		at = 0;
	}
	if (len > c->pages.len - at)
		len = c->pages.len - at;
	c->next_page = at + len;
	r = page_open(&c->page, &c->dat->layout, c->pages.data + at, len, e);
	if (r < 0)
		return error_prefix(e, -r, "trace.dat: CPU %u at offset %llu", c->cpu,
				    (unsigned long long)c->file_offset +
					    (c->buffer->compressed ? c->next_chunk : at));
	if (c->page.missed)
		add_missed(c, c->page.missed);
	return 1;
}

int tracedat_cpu_skip_page(struct tracedat_cpu *c)
{
	return next_page(c, NULL);
}

int tracedat_cpu_next(struct tracedat_cpu *c, struct error *e)
{
	int r;

	for (;;) {
		r = page_next(&c->page, &c->record, e);
		if (r > 0)
			return r;
		if (r < 0)
			return error_prefix(e, -r, "trace.dat: CPU %u before offset %llu", c->cpu,
					    (unsigned long long)c->file_offset +
						    (c->buffer->compressed ? c->next_chunk
									   : c->next_page));
		r = next_page(c, e);
		if (r <= 0)
			return r;
	}
}

/* Among the pages at hand, the last that starts before the stamp becomes the next. */
static void seek_page(struct tracedat_cpu *c, uint64_t stamp)
{
	size_t size = c->buffer->page_size, lo = 0, hi = c->pages.len / size, mid;

	/* Invariant: pages below lo start before the stamp, pages from hi on do not. */
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (page_get_stamp(&c->dat->layout, c->pages.data + mid * size) < stamp)
			lo = mid + 1;
		else
			hi = mid;
	}
	c->next_page = lo ? (lo - 1) * size : 0;
}

static void drop_every_other(struct tracedat_marks *m)
{
	uint32_t i;

	for (i = 0; 2 * i < m->n; i++) {
		m->at[i] = m->at[2 * i];
		m->left[i] = m->left[2 * i];
	}
	m->n = i;
	m->stride *= 2;
}

static int make_marks(struct tracedat_cpu *c, struct error *e)
{
	struct tracedat_marks *m = calloc(1, sizeof(*m));
	struct import_bytes packed;
	uint32_t size, i, left = c->chunks_left;
	size_t at = c->next_chunk;
	int r;

	if (!m)
		return error_set(e, ENOMEM, "cannot read trace.dat: out of memory");
	c->marks = m;
	m->stride = 1;
	for (i = 0; left; i++, left--) {
		r = chunk_head(c, at, &packed, &size, e);
		if (r < 0)
			return r;
		if (i % m->stride == 0) {
			/* An even number of strides is whole when they double, too. */
			if (m->n == MARKS_MAX)
				drop_every_other(m);
			m->at[m->n] = at;
			m->left[m->n++] = left;
		}
		at += CHUNK_HEAD + packed.len;
	}
	return 0;
}

static int load_chunk_at(struct tracedat_cpu *c, size_t at, uint32_t left, struct error *e)
{
	c->next_chunk = at;
	c->chunks_left = left;
	return load_chunk(c, e);
}

static uint64_t first_stamp(const struct tracedat_cpu *c)
{
	return page_get_stamp(&c->dat->layout, c->pages.data);
}

/* Loads the last chunk that starts before the stamp; the first if none does. */
static int seek_chunk(struct tracedat_cpu *c, uint64_t stamp, struct error *e)
{
	uint32_t lo = 0, hi, mid, left;
	size_t at, first;
	int r;

	if (!c->marks) {
		r = make_marks(c, e);
		if (r < 0)
			return r;
	}
	hi = c->marks->n;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		r = load_chunk_at(c, c->marks->at[mid], c->marks->left[mid], e);
		if (r < 0)
			return r;
		if (first_stamp(c) < stamp)
			lo = mid + 1;
		else
			hi = mid;
	}
	lo -= lo > 0;
	at = first = c->next_chunk = c->marks->at[lo];
	left = c->chunks_left = c->marks->left[lo];
	while (c->chunks_left) {
		size_t next = c->next_chunk;

		r = load_chunk(c, e);
		if (r < 0)
			return r;
		if (next != first && first_stamp(c) >= stamp)
			break;
		at = next;
		left = c->chunks_left + 1;
	}
	return load_chunk_at(c, at, left, e);
}

/* Are the pages at hand the first of this CPU? */
static bool is_at_start(const struct tracedat_cpu *c)
{
	return !c->buffer->compressed ||
	       c->chunks_left + 1 == bytes_get32(c->bytes.data, c->dat->big_endian);
}

int tracedat_cpu_seek(struct tracedat_cpu *c, uint64_t stamp, struct error *e)
{
	int r;

	tracedat_cpu_rewind(c);
	if (c->buffer->compressed) {
		if (!c->chunks_left)
			return 0;
		r = seek_chunk(c, stamp, e);
		if (r < 0)
			return r;
	}
	seek_page(c, stamp);
	if (c->next_page || !is_at_start(c))
		c->missed = 0;
	return 0;
}
