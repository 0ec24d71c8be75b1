/* SPDX-License-Identifier: MIT */
/*
 * measure_text: see measure.h.
 *
 * Formatting is timed in batches whose items are made before the clock starts, so that only the
 * sink is measured; what it writes goes to /dev/null.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "convert/import.h"
#include "convert/sink.h"
#include "mapping.h"
#include "measure.h"
#include "packer.h"

#define BATCH 1024

struct text_run {
	const struct events *ev;
	struct import_bytes text;
	struct trace_item *batch; /* BATCH of them */
	struct error *e;
};

/* Feeds a sink from the source; *ret_ns is the time in it. */
static int feed(struct trace_sink *sink, struct trace_source *source, struct trace_item *batch,
		uint64_t *ret_ns, struct error *e)
{
	uint64_t start;
	size_t n, i;
	int r;

	*ret_ns = 0;
	r = sink->ops->begin(sink, &source->info, e);
	do {
		for (n = 0; n < BATCH && r >= 0; n++) {
			r = source->ops->next(source, &batch[n], e);
			if (r == 0)
				break;
		}
		start = stopwatch_cpu_ns();
		for (i = 0; i < n && r >= 0; i++)
			r = sink->ops->item(sink, &batch[i], e);
		*ret_ns += stopwatch_cpu_ns() - start;
	} while (r >= 0 && n == BATCH);
	return r < 0 ? r : sink->ops->end(sink, e);
}

static int format(const struct text_run *run, const char *path, uint64_t *ret_ns)
{
	struct trace_source *source = NULL;
	struct trace_sink *sink = NULL;
	int r = events_source_new(&source, run->ev, run->e);

	if (r == 0)
		r = sink_ftrace_new(&sink, path, run->e);
	if (r == 0)
		r = feed(sink, source, run->batch, ret_ns, run->e);
	sink_free(sink);
	source_free(source);
	return r;
}

static int format_best(const struct measure *m, const struct text_run *run, uint64_t *ret_ns)
{
	uint64_t ns, best = UINT64_MAX;
	unsigned i;
	int r;

	for (i = 0; i < m->watch.runs; i++) {
		r = format(run, "/dev/null", &ns);
		if (r < 0)
			return r;
		if (ns < best)
			best = ns;
	}
	*ret_ns = best;
	return 0;
}

static int parse(void *ctx)
{
	struct text_run *run = ctx;
	struct trace_source *source = NULL;
	struct trace_item item;
	int r = source_text_open(&source, run->text, run->e);

	while (r == 0 && (r = source->ops->next(source, &item, run->e)) > 0)
		r = 0;
	source_free(source);
	return r;
}

static int measure_gzip(const struct measure *m, struct import_bytes text, uint64_t text_ns,
			struct error *e)
{
	const struct packer *gzip = packer_find("gzip-6");
	struct result *row = result_add(m->result, "text-gzip-6", "ftrace text, gzip -6");
	size_t room = gzip->bound(text.len);
	_cleanup_free_ uint8_t *packed = malloc(room);
	uint64_t start;

	if (!packed)
		return error_set(e, ENOMEM, "out of memory");
	memset(packed, 0xff, room);
	start = stopwatch_cpu_ns();
	row->bytes = gzip->pack(packed, room, text.data, text.len);
	row->encode_ns = stopwatch_cpu_ns() - start + text_ns;
	return row->bytes ? 0 : error_set(e, EIO, "cannot pack the text with gzip");
}

static int measure_file(const struct measure *m, struct text_run *run, const char *path,
			struct error *e)
{
	struct result *row = result_add(m->result, "text", "ftrace text");
	uint64_t ns;
	int r;

	row->ours = true;
	r = format(run, path, &ns);
	if (r == 0)
		r = mapping_open(&run->text, path, e);
	if (r == 0)
		r = format_best(m, run, &row->encode_ns);
	if (r == 0)
		r = stopwatch_best(&m->watch, parse, run, &row->decode_ns);
	row->bytes = run->text.len;
	if (r == 0)
		r = measure_gzip(m, run->text, row->encode_ns, e);
	mapping_close(&run->text);
	return r;
}

int measure_text(const struct measure *m, const struct events *ev, struct error *e)
{
	_cleanup_free_ struct trace_item *batch = calloc(BATCH, sizeof(*batch));
	struct text_run run = { .ev = ev, .batch = batch, .e = e };
	char path[4096];
	int r;

	if (!batch)
		return error_set(e, ENOMEM, "out of memory");
	snprintf(path, sizeof(path), "%s/trace.txt", m->scratch);
	r = measure_file(m, &run, path, e);
	unlink(path);
	return r;
}
