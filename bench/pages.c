/* SPDX-License-Identifier: MIT */
/* pages: see pages.h. */
#include "pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/sink.h"
#include "convert/tracedat.h"
#include "ftrace/bytes.h"
#include "mapping.h"

#define COUNT_SIZE 4U /* of a compressed range: how many chunks */
#define CHUNK_HEAD 8U /* of a chunk: its packed and its true length */

static int append(struct pages *p, const uint8_t *data, size_t len, struct error *e)
{
	uint8_t *grown;

	if (len > PAGES_MAX - p->len)
		return error_set(e, EFBIG, "more pages than %u MiB", PAGES_MAX >> 20);
	grown = realloc(p->data, p->len + len + 1);
	if (!grown)
		return error_set(e, ENOMEM, "out of memory");
	p->data = grown;
	if (data)
		memcpy(p->data + p->len, data, len);
	p->len += len;
	return 0;
}

/* One chunk at offset `at` of the range, which becomes that of the next. */
static int append_chunk(struct pages *p, const struct tracedat *t, struct import_bytes in,
			size_t *at, struct error *e)
{
	uint32_t packed, size;
	int r;

	if (in.len - *at < CHUNK_HEAD)
		return error_set(e, EBADMSG, "a chunk of pages is cut short");
	packed = bytes_get32(in.data + *at, t->big_endian);
	size = bytes_get32(in.data + *at + 4, t->big_endian);
	*at += CHUNK_HEAD;
	if (packed > in.len - *at || size > TRACEDAT_CHUNK_MAX)
		return error_set(e, EBADMSG, "a chunk of pages is damaged");
	r = append(p, NULL, size, e);
	if (r == 0 && tracedat_unzip(t->codec, (struct import_bytes){ in.data + *at, packed },
				     p->data + p->len - size, size) < 0)
		r = error_set(e, EBADMSG, "a chunk of pages does not decompress");
	*at += packed;
	return r;
}

static int append_packed(struct pages *p, const struct tracedat *t, struct import_bytes in,
			 struct error *e)
{
	size_t at = COUNT_SIZE;
	uint32_t chunks;
	int r = 0;

	if (in.len < COUNT_SIZE)
		return error_set(e, EBADMSG, "a range of pages is cut short");
	for (chunks = bytes_get32(in.data, t->big_endian); chunks && r == 0; chunks--)
		r = append_chunk(p, t, in, &at, e);
	return r;
}

static int append_ranges(struct pages *p, const struct tracedat *t, struct error *e)
{
	const struct tracedat_buffer *b = &t->buffers[0];
	uint32_t i;
	int r = 0;

	for (i = 0; i < b->n_ranges && r == 0; i++) {
		/* tracedat_cpu_open() knows what belongs to a range. */
		struct tracedat_cpu cpu;

		tracedat_cpu_open(&cpu, t, b, &b->ranges[i]);
		if (!cpu.bytes.len)
			continue;
		r = b->compressed ? append_packed(p, t, cpu.bytes, e)
				  : append(p, cpu.bytes.data, cpu.bytes.len, e);
		tracedat_cpu_close(&cpu);
	}
	return r;
}

int pages_load(struct pages *p, const char *path, struct error *e)
{
	struct import_bytes in = { NULL, 0 };
	struct tracedat t = { 0 };
	struct trace_info info;
	int r;

	memset(p, 0, sizeof(*p));
	r = mapping_open(&in, path, e);
	if (r < 0)
		return r;
	if (info_init(&info) < 0) {
		mapping_close(&in);
		return error_set(e, ENOMEM, "out of memory");
	}
	r = tracedat_open(&t, in, &info, e);
	if (r == 0)
		r = append_ranges(p, &t, e);
	tracedat_done(&t);
	info_done(&info);
	mapping_close(&in);
	if (r < 0) {
		pages_done(p);
		return error_prefix(e, -r, "cannot take the pages of %s", path);
	}
	return 0;
}

static int write_events(const struct events *ev, const char *path, struct error *e)
{
	struct trace_source *source = NULL;
	struct trace_sink *sink = NULL;
	struct trace_item item;
	int r = events_source_new(&source, ev, e);

	if (r == 0)
		r = sink_tracedat_new(&sink, path, e);
	if (r == 0)
		r = sink->ops->begin(sink, &source->info, e);
	while (r == 0 && (r = source->ops->next(source, &item, e)) > 0)
		r = sink->ops->item(sink, &item, e);
	if (r == 0)
		r = sink->ops->end(sink, e);
	sink_free(sink);
	source_free(source);
	return r;
}

int pages_from_events(struct pages *p, const struct events *ev, const char *scratch,
		      struct error *e)
{
	int r = write_events(ev, scratch, e);

	memset(p, 0, sizeof(*p));
	if (r == 0)
		r = pages_load(p, scratch, e);
	unlink(scratch);
	return r;
}

void pages_done(struct pages *p)
{
	free(p->data);
	memset(p, 0, sizeof(*p));
}
