/* SPDX-License-Identifier: MIT */
/* ksk_writer: see ksk_writer.h; the index's rows are in docs/format/ksk.md, section 3. */
#include "store/ksk_writer.h"

#include <errno.h>
#include <string.h>

#include "base/outfile.h"
#include "store/ksk.h"
#include "wire/varint.h"

#define ROW_MAX (3 * VARINT_MAX)
#define INDEX_PAYLOAD (256U * 1024)
#define ROWS_MAX (1U << 24) /* of 64 KiB segments: a terabyte */

struct row {
	uint64_t offset;
	uint64_t first_tick;
	uint32_t stream;
};

struct ksk_writer {
	struct outfile *file;
	struct row *rows;
	size_t n_rows, room_rows;
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
	free(w);
}

static int add_row(struct ksk_writer *w, const struct block *b)
{
	struct row *grown;
	size_t room;

	if (w->n_rows == w->room_rows) {
		room = w->room_rows ? w->room_rows * 2 : 256;
		if (room > ROWS_MAX)
			return -EFBIG;
		grown = realloc(w->rows, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		w->rows = grown;
		w->room_rows = room;
	}
	w->rows[w->n_rows].offset = outfile_offset(w->file);
	w->rows[w->n_rows].first_tick = b->first_tick;
	w->rows[w->n_rows].stream = b->stream;
	w->n_rows++;
	return 0;
}

int ksk_writer_put(struct ksk_writer *w, const struct block *b, const uint8_t *bytes, uint32_t len,
		   struct error *e)
{
	int r = 0;

	if (b->flags & BLOCK_KEY)
		r = add_row(w, b);
	if (r < 0)
		return error_set(e, r, "cannot keep the index: %s", strerror(-r));
	outfile_write(w->file, bytes, len);
	r = outfile_error(w->file);
	return r < 0 ? error_set(e, r, "cannot write: %s", strerror(-r)) : 0;
}

/* One index block with the rows from *at on, as many as fit. */
static void write_index_block(struct ksk_writer *w, uint8_t *buffer, size_t *at, uint64_t sequence)
{
	uint8_t *payload = buffer + BLOCK_HEADER_MAX, *p = payload, *start;
	struct block b = { .codec = CODEC_INDEX, .flags = BLOCK_KEY, .sequence = sequence };
	uint64_t offset = 0, tick = 0;
	uint32_t len;

	for (; *at < w->n_rows && (size_t)(p - payload) + ROW_MAX <= INDEX_PAYLOAD; (*at)++) {
		const struct row *row = &w->rows[*at];

		p = varint_put(p, row->offset - offset);
		p = varint_put(p, row->stream);
		p = varint_put_signed(p, (int64_t)(row->first_tick - tick));
		offset = row->offset;
		tick = row->first_tick;
	}
	b.payload_len = (uint32_t)(p - payload);
	start = block_encode(&b, payload, &len);
	outfile_write(w->file, start, len);
}

int ksk_writer_commit(struct ksk_writer *w, struct error *e)
{
	_cleanup_free_ uint8_t *buffer = malloc(BLOCK_HEADER_MAX + INDEX_PAYLOAD);
	uint8_t trailer[KSK_TRAILER_LEN];
	uint64_t sequence = 0;
	size_t at = 0;

	if (!buffer)
		return error_set(e, ENOMEM, "cannot write the index: out of memory");
	put_le64(trailer, outfile_offset(w->file));
	memcpy(trailer + 8, KSK_TRAILER_MAGIC, 8);
	do {
		write_index_block(w, buffer, &at, sequence++);
	} while (at < w->n_rows);
	outfile_write(w->file, trailer, sizeof(trailer));
	return outfile_commit(w->file, e);
}
