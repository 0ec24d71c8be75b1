/* SPDX-License-Identifier: MIT */
/*
 * ksk_source: see ksk_source.h. The merge is merge.h's; here are the file, its metadata, and the
 * thread that decodes ahead.
 */
#include "trace/ksk_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/ksk.h"
#include "trace/description_check.h"
#include "trace/info_meta.h"
#include "trace/merge.h"
#include "trace/read_ahead.h"

#define AHEAD_BYTES (4U << 20) /* files smaller than this are read before a thread would pay */

struct ksk_source {
	struct trace_source source;
	struct ksk_file *file;
	struct trace_orders orders;
	struct merge merge;
	bool wants_ahead;
	struct read_ahead *ahead; /* while it is there, its thread owns all the rest */
};

static void ksk_free(struct trace_source *s)
{
	struct ksk_source *k = (struct ksk_source *)s;

	read_ahead_free(k->ahead);
	merge_done(&k->merge);
	orders_done(&k->orders);
	ksk_file_free(k->file);
	info_done(&s->info);
	free(k);
}

static int produce(void *context, struct trace_item *ret, struct error *e)
{
	return merge_next(&((struct ksk_source *)context)->merge, ret, e);
}

static uint64_t produced(const void *context)
{
	return ((const struct ksk_source *)context)->merge.place;
}

static const struct read_ahead_ops ahead_ops = {
	.produce = produce,
	.progress = produced,
};

static int ksk_next(struct trace_source *s, struct trace_item *ret, struct error *e)
{
	struct ksk_source *k = (struct ksk_source *)s;

	if (k->wants_ahead && !k->ahead) {
		k->ahead = read_ahead_new(&ahead_ops, k);
		k->wants_ahead = k->ahead;
	}
	return k->ahead ? read_ahead_next(k->ahead, ret, e) : merge_next(&k->merge, ret, e);
}

static int ksk_seek(struct trace_source *s, uint64_t tick, struct error *e)
{
	struct ksk_source *k = (struct ksk_source *)s;

	(void)e;
	read_ahead_free(k->ahead);
	k->ahead = NULL;
	merge_seek(&k->merge, tick);
	return 0;
}

static int ksk_rewind(struct trace_source *s, struct error *e)
{
	return ksk_seek(s, 0, e);
}

static void ksk_progress(const struct trace_source *s, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct ksk_source *k = (const struct ksk_source *)s;

	*ret_done = k->ahead ? read_ahead_progress(k->ahead) : k->merge.place;
	*ret_total = k->file->end;
}

static const struct trace_source_ops ksk_ops = {
	.next = ksk_next,
	.rewind = ksk_rewind,
	.seek = ksk_seek,
	.progress = ksk_progress,
	.free = ksk_free,
};

/* All meta blocks, wherever they are: tasks are often known only at a recording's end. */
static int read_meta(struct ksk_source *k, struct error *e)
{
	const struct ksk_stream *meta = ksk_file_stream(k->file, STREAM_META);
	uint64_t offset, at;
	struct block b;
	size_t i;
	int r;

	for (i = 0; meta && i < meta->n; i++) {
		offset = meta->segments[i].offset;
		r = ksk_file_next(k->file, STREAM_META, &offset, &b, &at);
		if (r < 0)
			return error_set(e, r, "out of memory");
		if (r == 0 || at != meta->segments[i].offset || !b.payload || b.codec != CODEC_META)
			continue; /* torn: that is in the list of damage */
		r = info_decode(&k->source.info, &k->orders, b.payload, b.payload_len);
		if (r < 0) {
			description_explain(b.payload, b.payload_len, r, e);
			return error_prefix(e, r, "metadata at offset %llu",
					    (unsigned long long)meta->segments[i].offset);
		}
	}
	return 0;
}

static uint64_t first_offset(const struct ksk_stream *s)
{
	return s->n ? s->segments[0].offset : s->n_low ? s->blocks[0] : 0;
}

static void note_strays(struct ksk_source *k)
{
	size_t i;

	for (i = 0; i < k->file->n_streams; i++)
		if (k->file->streams[i]->stream >= STREAM_CPU(TRACE_CPUS_MAX) &&
		    !stream_is_boot(k->file->streams[i]->stream) &&
		    !stream_is_sample(k->file->streams[i]->stream) &&
		    !stream_is_func(k->file->streams[i]->stream))
			ksk_file_note(k->file, first_offset(k->file->streams[i]), 0,
				      "a stream that belongs to no CPU and no thread");
}

/* Takes the file, also when it fails. */
static int open_source(struct trace_source **ret, struct ksk_file *file, struct error *e)
{
	struct ksk_source *k = calloc(1, sizeof(*k));
	int r;

	if (!k || info_init(&k->source.info) < 0) {
		free(k);
		ksk_file_free(file);
		return error_set(e, ENOMEM, "out of memory");
	}
	k->source.ops = &ksk_ops;
	k->file = file;
	r = read_meta(k, e);
	if (r == 0) {
		note_strays(k);
		r = merge_init(&k->merge, &file->reader, &k->source.info, &k->orders);
		if (r < 0)
			error_set(e, r, "out of memory");
	}
	if (r < 0) {
		ksk_free(&k->source);
		return r;
	}
	k->wants_ahead = file->len >= AHEAD_BYTES && sysconf(_SC_NPROCESSORS_ONLN) > 1;
	*ret = &k->source;
	return 0;
}

void source_ksk_set_ahead(struct trace_source *s, bool wanted)
{
	((struct ksk_source *)s)->wants_ahead = wanted;
}

int source_ksk_open(struct trace_source **ret, const char *path, struct error *e)
{
	struct ksk_file *file;
	int r = ksk_file_open(&file, path, e);

	if (r < 0)
		return r;
	r = open_source(ret, file, e);
	return r < 0 ? error_prefix(e, r, "cannot read %s", path) : 0;
}

int source_ksk_open_memory(struct trace_source **ret, const uint8_t *data, size_t len,
			   struct error *e)
{
	struct ksk_file *file;
	int r = ksk_file_open_memory(&file, data, len, e);

	return r < 0 ? r : open_source(ret, file, e);
}

const struct stream_totals *source_ksk_totals(const struct trace_source *s, uint32_t cpu)
{
	return merge_totals(&((const struct ksk_source *)s)->merge, cpu);
}

struct ksk_file *source_ksk_file(const struct trace_source *s)
{
	return ((const struct ksk_source *)s)->file;
}
