/* SPDX-License-Identifier: MIT */
/*
 * source_tracedat_buffer: where a trace.dat has its pages, one buffer per instance of the tracer and
 * one range of the file per CPU of it; and which of the buffers is read.
 */
#include <errno.h>
#include <stdlib.h>

#include "convert/tracedat.h"

struct tracedat_buffer *tracedat_add_buffer(struct tracedat *t)
{
	struct tracedat_buffer *grown;

	grown = realloc(t->buffers, (t->n_buffers + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	t->buffers = grown;
	grown += t->n_buffers++;
	memset(grown, 0, sizeof(*grown));
	grown->page_size = t->page_size;
	return grown;
}

static int buffer_cpus(struct tracedat_buffer *b, struct tracedat_cursor *c, struct error *e)
{
	uint32_t i, n;

	b->page_size = tracedat_get32(c);
	n = tracedat_get32(c);
	if (c->failed || n > TRACE_CPUS_MAX)
		return error_set(e, EBADMSG, "trace.dat: a buffer of %u CPUs", n);
	b->ranges = calloc(n ? n : 1, sizeof(*b->ranges));
	if (!b->ranges)
		return error_set(e, ENOMEM, "cannot read trace.dat: out of memory");
	for (i = 0; i < n; i++) {
		b->ranges[i].cpu = tracedat_get32(c);
		b->ranges[i].offset = tracedat_get64(c);
		b->ranges[i].size = tracedat_get64(c);
		if (b->ranges[i].cpu >= TRACE_CPUS_MAX)
			return error_set(e, EBADMSG, "trace.dat: CPU number %u", b->ranges[i].cpu);
	}
	b->n_ranges = n;
	return 0;
}

int tracedat_buffer_option(struct tracedat *t, unsigned int id, struct tracedat_cursor *c,
			   struct trace_info *info, struct error *e)
{
	uint64_t offset = tracedat_get64(c);
	const char *name = tracedat_get_string(c), *clock = "";
	struct tracedat_buffer *b;
	int r = 0;

	if (t->n_buffers >= TRACEDAT_BUFFERS_MAX)
		return error_set(e, E2BIG, "trace.dat: more than %u buffers", TRACEDAT_BUFFERS_MAX);
	b = tracedat_add_buffer(t);
	if (!b)
		return error_set(e, ENOMEM, "cannot read trace.dat: out of memory");
	b->offset = offset;
	b->is_top = name && !*name;
	b->latency = id == TRACEDAT_BUFFER_TEXT;
	if (t->version >= 7) {
		clock = tracedat_get_string(c);
		if (!b->latency)
			r = buffer_cpus(b, c, e);
	}
	if (r < 0)
		return r;
	if (c->failed)
		return error_set(e, EBADMSG, "trace.dat: the option of a buffer is cut short");
	if (*clock && (b->is_top || !info->clock.name[0]))
		tracedat_set_clock(info, clock, strlen(clock));
	return 0;
}

/* Version 6: offset and size of every CPU's pages. */
int tracedat_read_cpu_table(struct tracedat *t, struct tracedat_buffer *b,
			    struct tracedat_cursor *c, struct error *e)
{
	uint32_t i;

	b->ranges = calloc(t->cpus ? t->cpus : 1, sizeof(*b->ranges));
	if (!b->ranges)
		return error_set(e, ENOMEM, "cannot read trace.dat: out of memory");
	for (i = 0; i < t->cpus; i++) {
		b->ranges[i].cpu = i;
		b->ranges[i].offset = tracedat_get64(c);
		b->ranges[i].size = tracedat_get64(c);
	}
	b->n_ranges = t->cpus;
	return c->failed ? error_set(e, EBADMSG, TRACEDAT_CUT_SHORT, "the table of CPUs", c->at)
			 : 0;
}

static bool has_pages(const struct tracedat_buffer *b)
{
	uint32_t i;

	for (i = 0; i < b->n_ranges; i++)
		if (b->ranges[i].size)
			return true;
	return false;
}

static uint32_t get_worth(const struct tracedat_buffer *b)
{
	return (has_pages(b) ? 2U : 0U) + (b->is_top ? 1U : 0U);
}

/* The top instance goes first; if it is empty, the first that is not. */
int tracedat_choose_buffer(struct tracedat *t, struct error *e)
{
	struct tracedat_buffer chosen;
	size_t i, best = SIZE_MAX;

	for (i = 0; i < t->n_buffers; i++) {
		if (t->buffers[i].latency)
			continue;
		if (best == SIZE_MAX || get_worth(&t->buffers[i]) > get_worth(&t->buffers[best]))
			best = i;
	}
	if (best == SIZE_MAX)
		return error_set(e, EOPNOTSUPP,
				 t->n_buffers ? "trace.dat: holds a latency tracer's text, no "
						"events to read"
					      : "trace.dat: holds no buffer");
	chosen = t->buffers[best];
	t->buffers[best] = t->buffers[0];
	t->buffers[0] = chosen;
	return 0;
}

int tracedat_check_buffers(struct tracedat *t, struct error *e)
{
	const struct tracedat_buffer *b;
	size_t i;
	uint32_t n;

	for (i = 0; i < t->n_buffers; i++) {
		b = &t->buffers[i];
		if (!b->latency &&
		    (b->page_size <= t->layout.data_offset || b->page_size > TRACEDAT_PAGE_MAX))
			return error_set(e, EBADMSG, "trace.dat: pages of %u bytes", b->page_size);
		for (n = 0; n < b->n_ranges; n++)
			if (b->ranges[n].size &&
			    (b->ranges[n].offset > t->in.len ||
			     b->ranges[n].size > t->in.len - b->ranges[n].offset))
				return error_set(e, EBADMSG,
						 "trace.dat: cut short, the pages of "
						 "CPU %u lie beyond its %zu bytes",
						 b->ranges[n].cpu, t->in.len);
	}
	return 0;
}
