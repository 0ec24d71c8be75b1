/* SPDX-License-Identifier: MIT */
/*
 * recording_buffer: the threads in a record of libkiseki-func (docs/format/func-buffer.md).
 *
 * The file is small enough to be read whole. Chunks are put in the order of streams and sequences;
 * a segment starts at each that says so, and one that goes on needs the chunk before it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "recording.h"
#include "wire/func_buffer.h"
#include "wire/func_hook_decode.h"

struct chunk {
	uint32_t stream;
	uint64_t sequence;
	const uint8_t *at;
	uint32_t used;
};

struct chunks {
	struct chunk *list;
	size_t count;
};

static struct func_hook_decoder decoder;

static int read_whole(const char *path, uint8_t **ret, size_t *ret_len)
{
	_cleanup_free_ uint8_t *data = NULL;
	FILE *f = fopen(path, "rb");
	struct stat st;
	size_t len = 0;

	if (!f)
		return -errno;
	if (!fstat(fileno(f), &st) && (uint64_t)st.st_size < SIZE_MAX) {
		data = malloc((size_t)st.st_size + 1);
		len = data ? fread(data, 1, (size_t)st.st_size, f) : 0;
	}
	fclose(f);
	if (!data)
		return -ENOMEM;
	*ret = take_ptr(data);
	*ret_len = len;
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* Those that have something. */
static int find_chunks(struct chunks *c, const uint8_t *data, size_t len)
{
	uint32_t i, state, count, bytes;
	uint64_t at;

	if (len < FUNC_BUFFER_HEADER || memcmp(data, FUNC_BUFFER_MAGIC, 8) != 0)
		return -EBADMSG;
	count = get_le32(data + FUNC_BUFFER_AT_CHUNKS);
	bytes = get_le32(data + FUNC_BUFFER_AT_CHUNK_BYTES);
	at = get_le64(data + FUNC_BUFFER_AT_CHUNKS_AT);
	if (count > FUNC_BUFFER_CHUNKS_MAX || bytes < FUNC_CHUNK_HEAD || at > len ||
	    (uint64_t)count * bytes > len - at)
		return -EBADMSG;
	c->list = calloc((size_t)count + 1, sizeof(*c->list));
	if (!c->list)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		const uint8_t *head = data + at + (uint64_t)i * bytes;
		struct chunk chunk = { get_le32(head + FUNC_CHUNK_AT_STREAM),
				       get_le64(head + FUNC_CHUNK_AT_SEQUENCE), head,
				       get_le32(head + FUNC_CHUNK_AT_USED) };

		state = get_le32(head + FUNC_CHUNK_AT_STATE);
		if (state != FUNC_CHUNK_WRITING && state != FUNC_CHUNK_FULL)
			continue;
		if (chunk.used > bytes - FUNC_CHUNK_HEAD)
			return -EBADMSG;
		c->list[c->count++] = chunk;
	}
	qsort(c->list, c->count, sizeof(*c->list), by_place);
	return 0;
}

static int read_chunk(struct thread *t, const struct chunk *c, size_t limit)
{
	enum wire_status status = WIRE_OK;
	struct func_event ev;
	struct byte_reader r;
	int failed = 0;

	reader_init(&r, c->at + FUNC_CHUNK_HEAD, c->used);
	if (get_le32(c->at + FUNC_CHUNK_AT_FLAGS) & FUNC_CHUNK_KEY) {
		func_hook_decoder_init(&decoder);
		status = func_hook_decode_begin(&decoder, &r, get_le64(c->at + FUNC_CHUNK_AT_TICK));
	}
	while (status == WIRE_OK && !failed && reader_left(&r)) {
		status = func_hook_decode(&decoder, &r, &ev);
		if (status == WIRE_OK && t->count < limit)
			failed = recording_push(t, &ev);
	}
	return status == WIRE_OK ? failed : -EBADMSG;
}

/* Each stream becomes a thread; its chunks must be all there, from the first. */
static int read_threads(struct recording *r, const struct chunks *c, size_t limit)
{
	struct thread *t = NULL;
	uint64_t next = 0;
	int status = 0;
	size_t i;

	for (i = 0; i < c->count && !status; i++) {
		if (!i || c->list[i].stream != c->list[i - 1].stream) {
			if (r->count == RECORDING_THREADS_MAX)
				return -E2BIG;
			t = &r->threads[r->count++];
			next = 0;
		}
		if (c->list[i].sequence != next++)
			return -EBADMSG;
		status = read_chunk(t, &c->list[i], limit);
	}
	return status;
}

int recording_open_buffer(struct recording *r, const char *path, size_t limit)
{
	_cleanup_free_ uint8_t *data = NULL;
	struct chunks c = { 0 };
	size_t len = 0, i;
	int status;

	r->events = 0;
	r->count = 0;
	r->threads = calloc(RECORDING_THREADS_MAX, sizeof(*r->threads));
	if (!r->threads)
		return -ENOMEM;
	status = read_whole(path, &data, &len);
	if (!status)
		status = find_chunks(&c, data, len);
	if (!status)
		status = read_threads(r, &c, limit);
	free(c.list);
	for (i = 0; i < r->count; i++)
		r->events += r->threads[i].count;
	if (status)
		recording_close(r);
	return status;
}
