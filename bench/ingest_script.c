/* SPDX-License-Identifier: MIT */
/* ingest_script: see ingest_script.h. Blocks go as a device makes them: the description first, then
 * those of all streams in the order in which the file has them. */
#include "ingest_script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/ksk_file.h"
#include "wire/frame.h"
#include "wire/message.h"

static int add_frame(struct ingest_script *s, uint32_t type, const uint8_t *body, uint32_t len)
{
	size_t room = (s->len + len + FRAME_HEAD_MAX) * 2, n_room = s->n * 2 + 64;

	if (s->len + len + FRAME_HEAD_MAX > s->room) {
		s->bytes = realloc(s->bytes, room);
		s->room = room;
	}
	if (s->n == s->n_room) {
		s->ends = realloc(s->ends, n_room * sizeof(*s->ends));
		s->n_room = n_room;
	}
	if (!s->bytes || !s->ends)
		return -ENOMEM;
	s->len += frame_encode_head(s->bytes + s->len, type, len);
	memcpy(s->bytes + s->len, body, len);
	s->len += len;
	s->ends[s->n++] = s->len;
	return 0;
}

struct totals {
	uint64_t next_sequence, events;
	bool used;
};

static int add_block(struct ingest_script *s, const uint8_t *bytes, const struct block *b,
		     struct totals *totals)
{
	struct totals *t = &totals[b->stream];

	t->used = true;
	t->next_sequence = b->sequence + 1;
	if (b->flags & BLOCK_KEY)
		t->events = b->before;
	else
		t->events += block_told(b);
	t->events += b->events;
	s->events += b->events;
	return add_frame(s, FRAME_BLOCK, bytes, b->len);
}

static int add_end(struct ingest_script *s, const struct totals *totals)
{
	static uint8_t body[MESSAGE_STREAMS_MAX * 24 + 16];
	struct message_end m = { .n_rows = 0 };
	struct byte_writer w;
	uint32_t i;

	for (i = 0; i < MESSAGE_STREAMS_MAX; i++)
		m.n_rows += totals[i].used;
	writer_init(&w, body, sizeof(body));
	end_encode(&w, &m);
	for (i = 0; i < MESSAGE_STREAMS_MAX; i++) {
		struct message_stream_end row = { i, totals[i].next_sequence, totals[i].events };

		if (totals[i].used)
			end_put(&w, &row);
	}
	return add_frame(s, FRAME_RUN_END, body, (uint32_t)writer_len(&w));
}

/* The next sound block of any stream at or behind *at. */
static bool next_block(const struct ksk_file *f, size_t *at, struct block *b)
{
	for (; *at < f->end; ++*at)
		if (block_decode(f->data + *at, f->end - *at, b) == WIRE_OK)
			return true;
	return false;
}

int ingest_script_open(struct ingest_script *s, const char *path, struct error *e)
{
	static struct totals totals[MESSAGE_STREAMS_MAX];
	CLEANUP(ksk_file) struct ksk_file *f = NULL;
	struct block b;
	size_t at = 0;
	int r = ksk_file_open(&f, path, e);

	memset(s, 0, sizeof(*s));
	if (r < 0)
		return r;
	while (r == 0 && next_block(f, &at, &b)) {
		if (b.codec != CODEC_INDEX && b.stream < MESSAGE_STREAMS_MAX)
			r = add_block(s, f->data + at, &b, totals);
		at += b.len;
	}
	if (r == 0)
		r = add_end(s, totals);
	if (r < 0)
		return error_set(e, -r, "cannot load %s: out of memory", path);
	return s->n > 1 ? 0 : error_set(e, ENODATA, "cannot use %s: it has no block", path);
}

void ingest_script_close(struct ingest_script *s)
{
	free(s->bytes);
	free(s->ends);
}

uint64_t ingest_script_pass(const struct ingest_script *s)
{
	return INGEST_RUN_BYTES + s->len;
}

uint64_t ingest_script_until(const struct ingest_script *s, uint64_t frames)
{
	uint64_t passes = frames / s->n, rest = frames % s->n;

	return passes * ingest_script_pass(s) + (rest ? INGEST_RUN_BYTES + s->ends[rest - 1] : 0);
}
