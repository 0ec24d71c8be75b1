/* SPDX-License-Identifier: MIT */
/* ksk_writer: see ksk_writer.h; the index's rows are in docs/format/ksk.md, section 3. */
#include "store/ksk_writer.h"

#include <errno.h>
#include <string.h>

#include "base/outfile.h"
#include "store/array.h"
#include "store/ksk.h"
#include "wire/varint.h"

#define ROW_MAX (4 * VARINT_MAX)
#define INDEX_PAYLOAD (256U * 1024)
#define ROWS_MAX (1U << 24) /* of 64 KiB segments: a terabyte */

struct row {
	uint64_t offset;
	uint64_t tick;
	uint32_t stream;
};

/* What the index says of a stream, and what it takes to know that. */
struct total {
	uint32_t stream;
	bool anchored; /* a key block was seen: start and end are absolute */
	uint64_t start, end;
	uint64_t until;
	uint64_t next_sequence;
};

struct ksk_writer {
	struct outfile *file;
	struct row *rows;
	size_t n_rows, room_rows;
	struct total *totals; /* by rising stream */
	size_t n_totals, room_totals;
};

int ksk_writer_open(struct ksk_writer **ret, const char *path, struct error *e)
{
	CLEANUP(ksk_writer) struct ksk_writer *w = calloc(1, sizeof(*w));
	uint8_t head[KSK_HEAD_LEN] = { 0 };
	int r;

	if (!w)
		return error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	r = outfile_open(&w->file, path, e);
	if (r < 0)
		return r;
	memcpy(head, KSK_MAGIC, 8);
	head[8] = KSK_VERSION;
	outfile_write(w->file, head, sizeof(head));
	*ret = take_ptr(w);
	return 0;
}

void ksk_writer_free(struct ksk_writer *w)
{
	if (!w)
		return;
	outfile_free(w->file);
	free(w->rows);
	free(w->totals);
	free(w);
}

static int get_total(struct ksk_writer *w, uint32_t stream, struct total **ret)
{
	size_t at = 0, end = w->n_totals, mid;
	int r;

	while (at < end) {
		mid = at + (end - at) / 2;
		if (w->totals[mid].stream < stream)
			at = mid + 1;
		else
			end = mid;
	}
	if (at == w->n_totals || w->totals[at].stream != stream) {
		r = array_grow(&w->totals, w->n_totals, &w->room_totals, sizeof(*w->totals),
			       KSK_STREAMS_MAX);
		if (r < 0)
			return r;
		memmove(w->totals + at + 1, w->totals + at,
			(w->n_totals - at) * sizeof(*w->totals));
		w->totals[at] = (struct total){ .stream = stream };
		w->n_totals++;
	}
	*ret = &w->totals[at];
	return 0;
}

static int add_row(struct ksk_writer *w, const struct block *b, const struct total *t)
{
	int r = array_grow(&w->rows, w->n_rows, &w->room_rows, sizeof(*w->rows), ROWS_MAX);

	if (r < 0)
		return r;
	w->rows[w->n_rows].offset = outfile_offset(w->file);
	w->rows[w->n_rows].tick = t->until > b->first_tick ? t->until : b->first_tick;
	w->rows[w->n_rows].stream = b->stream;
	w->n_rows++;
	return 0;
}

static void count(struct total *t, const struct block *b)
{
	uint64_t told = block_told(b);

	if (b->flags & BLOCK_KEY) {
		/* What came before the first key block is in the file, too. */
		if (!t->anchored)
			t->start = b->before - told - t->end;
		t->anchored = true;
		t->end = b->before + b->events;
	} else {
		t->end += told + b->events;
	}
	t->until = ksk_until(t->until, b);
	t->next_sequence = b->sequence + 1;
}

int ksk_writer_put(struct ksk_writer *w, const struct block *b, const uint8_t *bytes, uint32_t len,
		   struct error *e)
{
	struct total *t;
	int r = get_total(w, b->stream, &t);

	if (r == 0 && b->flags & BLOCK_KEY)
		r = add_row(w, b, t);
	if (r < 0)
		return error_set(e, r, "cannot keep the index: %s",
				 r == -E2BIG ? "it has too many rows" : strerror(-r));
	count(t, b);
	outfile_write(w->file, bytes, len);
	r = outfile_error(w->file);
	return r < 0 ? error_set(e, r, "cannot write: %s", strerror(-r)) : 0;
}

static void write_index_block(struct ksk_writer *w, uint8_t *payload, const uint8_t *end,
			      struct block *b)
{
	uint8_t *start;
	uint32_t len;

	b->codec = CODEC_INDEX;
	b->flags = BLOCK_KEY;
	b->payload_len = (uint32_t)(end - payload);
	start = block_encode(b, payload, &len);
	outfile_write(w->file, start, len);
	b->sequence++;
}

/* One index block with the rows from *at on, as many as fit. */
static void write_segments(struct ksk_writer *w, uint8_t *payload, size_t *at, struct block *b)
{
	uint8_t *p = payload;
	uint64_t offset = 0, tick = 0;

	for (; *at < w->n_rows && (size_t)(p - payload) + ROW_MAX <= INDEX_PAYLOAD; (*at)++) {
		const struct row *row = &w->rows[*at];

		p = varint_put(p, row->offset - offset);
		p = varint_put(p, row->stream);
		p = varint_put_signed(p, (int64_t)(row->tick - tick));
		offset = row->offset;
		tick = row->tick;
	}
	b->stream = INDEX_SEGMENTS;
	write_index_block(w, payload, p, b);
}

static void write_totals(struct ksk_writer *w, uint8_t *payload, size_t *at, struct block *b)
{
	uint8_t *p = payload;
	uint32_t stream = 0;

	for (; *at < w->n_totals && (size_t)(p - payload) + ROW_MAX <= INDEX_PAYLOAD; (*at)++) {
		const struct total *t = &w->totals[*at];

		p = varint_put(p, t->stream - stream);
		p = varint_put(p, t->start);
		p = varint_put(p, t->end - t->start);
		p = varint_put(p, t->next_sequence);
		stream = t->stream;
	}
	b->stream = INDEX_TOTALS;
	write_index_block(w, payload, p, b);
}

int ksk_writer_commit(struct ksk_writer *w, struct error *e)
{
	_cleanup_free_ uint8_t *buffer = malloc(BLOCK_HEADER_MAX + INDEX_PAYLOAD);
	uint8_t trailer[KSK_TRAILER_LEN], *payload;
	struct block b = { .sequence = 0 };
	size_t at = 0;

	if (!buffer)
		return error_set(e, ENOMEM, "cannot write the index: out of memory");
	payload = buffer + BLOCK_HEADER_MAX;
	put_le64(trailer, outfile_offset(w->file));
	memcpy(trailer + 8, KSK_TRAILER_MAGIC, 8);
	do {
		write_segments(w, payload, &at, &b);
	} while (at < w->n_rows);
	for (at = 0; at < w->n_totals;)
		write_totals(w, payload, &at, &b);
	outfile_write(w->file, trailer, sizeof(trailer));
	return outfile_commit(w->file, e);
}

int ksk_writer_commit_cut(struct ksk_writer *w, struct error *e)
{
	return outfile_commit(w->file, e);
}
