/* SPDX-License-Identifier: MIT */
/*
 * measure_ring: see measure.h. Writing a ring is the kernel's work and is not measured here.
 */
#include "convert/import.h"
#include "mapping.h"
#include "measure.h"

struct ring_run {
	struct import_bytes in;
	struct error *e;
};

static int read_all(void *ctx)
{
	struct ring_run *run = ctx;
	struct trace_source *source = NULL;
	struct trace_item item;
	int r = source_tracedat_open(&source, run->in, run->e);

	while (r == 0 && (r = source->ops->next(source, &item, run->e)) > 0)
		r = 0;
	source_free(source);
	return r;
}

int measure_ring(const struct measure *m, const struct pages *p, struct error *e)
{
	struct result *row = result_add(m->result, "ring", "ftrace ring");
	struct ring_run run = { .e = e };
	int r = 0;

	row->bytes = p->len;
	if (m->result->rewritten) /* the file is not what is measured */
		return 0;
	r = mapping_open(&run.in, m->result->path, e);
	if (r == 0)
		r = stopwatch_best(&m->watch, read_all, &run, &row->decode_ns);
	mapping_close(&run.in);
	return r;
}
