/* SPDX-License-Identifier: MIT */
/* func_merge: see func_merge.h. */
#include "trace/func_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/func_clock.h"
#include "trace/func_heap.h"

#define SECOND_NS 1000000000ULL

struct part {
	struct func_source *source;
	uint32_t first_thread;
	uint64_t add_ns; /* modulo 2^64: its nanoseconds to those of the axis */
};

struct func_merge {
	struct func_source source;
	struct part *parts;
	size_t n_parts;
	bool converts; /* ticks become nanoseconds */
	struct func_heap heap;
	struct error *error; /* the caller's, while it waits for next() */
};

static void merge_free(struct func_source *s)
{
	struct func_merge *m = (struct func_merge *)s;
	size_t i;

	for (i = 0; i < m->n_parts; i++)
		func_source_free(m->parts[i].source);
	free(m->parts);
	func_heap_done(&m->heap);
	func_source_done(s);
	free(m);
}

static uint64_t convert(const struct part *p, uint64_t tick)
{
	return func_clock_ns(p->source, tick) + p->add_ns;
}

static void convert_item(const struct part *p, struct func_item *i)
{
	if (i->type == FUNC_ITEM_EVENT) {
		i->event.tick = convert(p, i->event.tick);
		return;
	}
	if (i->loss.from_tick) /* 0: nothing came before */
		i->loss.from_tick = convert(p, i->loss.from_tick);
	i->loss.to_tick = convert(p, i->loss.to_tick);
}

static int fetch(void *owner, uint32_t number, struct func_item *ret)
{
	struct func_merge *m = owner;
	struct part *p = &m->parts[number];
	int r = p->source->ops->next(p->source, ret, m->error);

	if (r != 1)
		return r;
	if (m->converts)
		convert_item(p, ret);
	ret->thread += p->first_thread;
	return 1;
}

static int merge_next(struct func_source *s, struct func_item *ret, struct error *e)
{
	struct func_merge *m = (struct func_merge *)s;
	int r;

	m->error = e;
	r = func_heap_next(&m->heap, fetch, m, ret);
	m->error = NULL;
	return r;
}

static void fill_heap(struct func_merge *m)
{
	size_t i;

	func_heap_clear(&m->heap);
	for (i = 0; i < m->n_parts; i++)
		func_heap_push(&m->heap, 0, (uint32_t)i);
}

static int merge_rewind(struct func_source *s, struct error *e)
{
	struct func_merge *m = (struct func_merge *)s;
	size_t i;
	int r = 0;

	for (i = 0; i < m->n_parts && r == 0; i++)
		r = m->parts[i].source->ops->rewind(m->parts[i].source, e);
	fill_heap(m);
	return r;
}

static void merge_progress(const struct func_source *s, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct func_merge *m = (const struct func_merge *)s;
	uint64_t done, total;
	size_t i;

	*ret_done = *ret_total = 0;
	for (i = 0; i < m->n_parts; i++) {
		done = total = 0;
		if (m->parts[i].source->ops->progress)
			m->parts[i].source->ops->progress(m->parts[i].source, &done, &total);
		*ret_done += done;
		*ret_total += total;
	}
}

static const struct func_source_ops merge_ops = {
	.next = merge_next,
	.rewind = merge_rewind,
	.progress = merge_progress,
	.free = merge_free,
};

static int add_tables(struct func_merge *m, struct part *p)
{
	struct func_source *s = &m->source;
	uint32_t first_process = (uint32_t)s->n_processes;
	struct func_process process;
	struct func_thread thread;
	size_t i;
	int r = 0;

	p->first_thread = (uint32_t)s->n_threads;
	for (i = 0; i < p->source->n_processes && r == 0; i++) {
		r = func_process_dup(&process, &p->source->processes[i]);
		if (r == 0)
			r = func_source_add_process(s, &process, NULL);
	}
	for (i = 0; i < p->source->n_threads && r == 0; i++) {
		thread = p->source->threads[i];
		thread.process += first_process;
		r = func_source_add_thread(s, &thread, NULL);
	}
	return r;
}

static bool knows_monotonic(const struct func_source *s)
{
	return s->n_syncs || !strcmp(s->clock.name, "mono");
}

/* What its nanoseconds lack to those of the axis. */
static uint64_t axis_distance(const struct func_merge *m, const struct func_source *s,
			      enum func_axis axis)
{
	const struct func_source *first = m->parts[0].source;

	if (axis == FUNC_AXIS_REALTIME)
		return s->clock.has_realtime ? (uint64_t)s->clock.realtime_off_ns : 0;
	if (knows_monotonic(s) || !s->clock.has_realtime || !first->clock.has_realtime)
		return 0;
	return (uint64_t)s->clock.realtime_off_ns - (uint64_t)first->clock.realtime_off_ns;
}

/* The pairs of all together, and the rate that the first one knows for where they are too few. */
static int share_clock(struct func_merge *m)
{
	const struct trace_clock *first = &m->parts[0].source->clock;
	size_t i, k;
	uint32_t rest;
	int r = 0;

	m->source.clock = *first;
	for (i = 0; i < m->n_parts; i++) {
		const struct func_source *s = m->parts[i].source;

		for (k = 0; k < s->n_syncs && r == 0; k++)
			r = func_source_add_sync(&m->source, s->syncs[k].tick, s->syncs[k].mono_ns);
	}
	if (r == 0 && m->source.n_syncs)
		func_clock_settle(&m->source,
				  clock_divide(SECOND_NS, first->mult, first->shift, &rest));
	return r;
}

static void convert_clock(struct func_merge *m, enum func_axis axis)
{
	const struct trace_clock *first = &m->parts[0].source->clock;
	struct trace_clock *c = &m->source.clock;
	size_t i;

	m->converts = true;
	for (i = 0; i < m->n_parts; i++)
		m->parts[i].add_ns = axis_distance(m, m->parts[i].source, axis);
	clock_init(c);
	c->has_realtime = first->has_realtime;
	c->realtime_err_ns = first->realtime_err_ns;
	if (axis == FUNC_AXIS_REALTIME) {
		strcpy(c->name, "realtime");
		return;
	}
	memcpy(c->name, first->name, sizeof(c->name));
	c->realtime_off_ns = first->realtime_off_ns;
}

static int settle(struct func_merge *m, enum func_axis axis)
{
	size_t i;
	const char *origin = m->parts[0].source->origin;
	int r = func_source_set_origin(&m->source, origin ? origin : "");
	bool same = axis == FUNC_AXIS_MONOTONIC;

	for (i = 0; i < m->n_parts && r == 0; i++) {
		r = add_tables(m, &m->parts[i]);
		same = same && func_clock_is_same(m->parts[0].source, m->parts[i].source);
	}
	if (r == 0 && same)
		r = share_clock(m);
	else if (r == 0)
		convert_clock(m, axis);
	return r < 0 ? r : func_heap_init(&m->heap, m->n_parts);
}

int func_merge_new(struct func_source **sources, size_t n, enum func_axis axis,
		   struct func_source **ret, struct error *e)
{
	struct func_merge *m = calloc(1, sizeof(*m));
	int r = m && n ? 0 : n ? -ENOMEM : -EINVAL;
	size_t i;

	if (m)
		m->source.ops = &merge_ops;
	if (r == 0 && !(m->parts = calloc(n, sizeof(*m->parts))))
		r = -ENOMEM;
	for (i = 0; i < n; i++) {
		if (r == 0)
			m->parts[m->n_parts++].source = sources[i];
		else
			func_source_free(sources[i]);
	}
	if (r == 0)
		r = settle(m, axis);
	if (r < 0) {
		if (m)
			merge_free(&m->source);
		return error_set(e, r, "cannot merge: %s", strerror(-r));
	}
	fill_heap(m);
	*ret = &m->source;
	return 0;
}
