/* SPDX-License-Identifier: MIT */
/*
 * source_tracedat: a trace.dat as a source.
 *
 * All CPUs' records are merged by time through a binary heap; at the same time the lowest CPU goes
 * first. Records of kinds that are not carried go through the merge, too, and are counted there:
 * so the order is exactly that of `trace-cmd report`, even where a CPU's own stamps run backwards.
 * An event may point into its page, so a CPU moves on only when the next item is asked for.
 *
 * One instance is read. Records of the others are counted as skipped when the end is reached.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "convert/tracedat.h"

struct source {
	struct trace_source base;
	struct tracedat dat;
	uint64_t stamp_add; /* tick = stamp + this */
	struct tracedat_cpu *cpus;
	uint32_t n_cpus;
	struct entry {
		uint64_t tick;
		uint32_t index; /* in cpus[] */
	} * heap;
	uint32_t n_heap;
	uint32_t n_dropped; /* CPUs whose events lost at no known moment are still to be told */
	bool behind;	    /* the top of the heap was handed out and must move on */
	bool at_end;
	int failed;
	struct error why;
};

static struct source *to_source(struct trace_source *s)
{
	return (struct source *)s;
}

static bool goes_before(const struct source *s, struct entry a, struct entry b)
{
	if (a.tick != b.tick)
		return a.tick < b.tick;
	return s->cpus[a.index].cpu < s->cpus[b.index].cpu;
}

/* Lets the entry at i sink to its place. */
static void sift_down(struct source *s, uint32_t i)
{
	struct entry e = s->heap[i];
	uint32_t child;

	while ((child = 2 * i + 1) < s->n_heap) {
		if (child + 1 < s->n_heap && goes_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!goes_before(s, s->heap[child], e))
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	s->heap[i] = e;
}

static uint64_t record_tick(const struct source *s, const struct tracedat_cpu *c)
{
	return c->record.stamp + s->stamp_add;
}

/* The CPU at the top goes on to its next record, or leaves the heap. */
static int move_on(struct source *s, struct error *e)
{
	struct tracedat_cpu *c = &s->cpus[s->heap[0].index];
	int r = tracedat_cpu_next(c, e);

	if (r < 0)
		return r;
	if (r > 0)
		s->heap[0].tick = record_tick(s, c);
	else
		s->heap[0] = s->heap[--s->n_heap];
	if (s->n_heap)
		sift_down(s, 0);
	return 0;
}

/* Every CPU's first record at or after the tick. */
static int fill_heap(struct source *s, uint64_t tick, struct error *e)
{
	struct tracedat_cpu *c;
	uint32_t i;
	int r;

	s->n_heap = 0;
	s->behind = false;
	for (i = 0; i < s->n_cpus; i++) {
		c = &s->cpus[i];
		while ((r = tracedat_cpu_next(c, e)) > 0 && record_tick(s, c) < tick) {
			c->missed = 0;
			c->last_tick = record_tick(s, c);
		}
		if (r < 0)
			return r;
		if (r > 0)
			s->heap[s->n_heap++] = (struct entry){ record_tick(s, c), i };
	}
	for (i = s->n_heap / 2; i-- > 0;)
		sift_down(s, i);
	return 0;
}

static int set_failed(struct source *s, int r, const struct error *why)
{
	s->failed = r;
	s->why = *why;
	return r;
}

static void give_loss(struct tracedat_cpu *c, uint64_t to_tick, struct trace_item *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->type = ITEM_LOSS;
	ret->cpu = c->cpu;
	ret->loss.from_tick = c->last_tick;
	ret->loss.to_tick = to_tick;
	ret->loss.count = c->missed;
	ret->loss.cause = LOSS_RING;
	c->missed = 0;
}

/* Lost at no known moment while the CPU was recorded. */
static void give_dropped(struct tracedat_cpu *c, struct trace_item *ret)
{
	c->missed = c->dropped;
	give_loss(c, c->last_tick, ret);
	ret->loss.from_tick = c->first_tick;
}

/* 1: the top of the heap is an item; 0: it is none of ours. */
static int give_top(struct source *s, struct trace_item *ret, struct error *e)
{
	struct tracedat_cpu *c = &s->cpus[s->heap[0].index];
	uint64_t tick = s->heap[0].tick;
	int r;

	if (c->missed) {
		give_loss(c, tick, ret);
		return 1;
	}
	s->behind = true;
	c->first_tick = c->last_tick ? c->first_tick : tick;
	c->last_tick = tick;
	r = sched_map_decode(&s->dat.map, c->record.data, c->record.len, &ret->event);
	if (r < 0)
		return error_set(e, EBADMSG,
				 "trace.dat: a record of CPU %u of %u bytes is too short for its "
				 "format, before offset %llu",
				 c->cpu, c->record.len,
				 (unsigned long long)c->file_offset +
					 (c->buffer->compressed ? c->next_chunk : c->next_page));
	if (r == 0) {
		s->base.info.skipped++;
		return 0;
	}
	ret->type = ITEM_EVENT;
	ret->cpu = c->cpu;
	ret->event.tick = tick;
	memset(&ret->loss, 0, sizeof(ret->loss));
	return 1;
}

/* Instances that are not read are not passed over in silence. What is damaged there stops only the
 * counting. */
static void count_others(struct source *s)
{
	const struct tracedat_buffer *b;
	struct tracedat_cpu c;
	size_t i;
	uint32_t n;

	for (i = 1; i < s->dat.n_buffers; i++) {
		b = &s->dat.buffers[i];
		for (n = 0; n < b->n_ranges; n++) {
			tracedat_cpu_open(&c, &s->dat, b, &b->ranges[n]);
			while (tracedat_cpu_next(&c, NULL) > 0)
				s->base.info.skipped++;
			tracedat_cpu_close(&c);
		}
	}
}

/* Losses that no record followed, then the end. */
static int give_end(struct source *s, struct trace_item *ret)
{
	uint32_t i;

	for (i = 0; i < s->n_cpus; i++)
		if (s->cpus[i].missed) {
			give_loss(&s->cpus[i], s->cpus[i].last_tick, ret);
			return 1;
		}
	while (s->n_dropped)
		if (s->cpus[--s->n_dropped].dropped) {
			give_dropped(&s->cpus[s->n_dropped], ret);
			return 1;
		}
	s->at_end = true;
	count_others(s);
	return 0;
}

static int next(struct trace_source *base, struct trace_item *ret, struct error *e)
{
	struct source *s = to_source(base);
	struct error why = ERROR_INIT;
	int r = 0;

	while (!s->failed && !s->at_end) {
		if (s->behind) {
			s->behind = false;
			r = move_on(s, &why);
		}
		if (r == 0 && !s->n_heap)
			return give_end(s, ret);
		if (r == 0)
			r = give_top(s, ret, &why);
		if (r > 0)
			return r;
		if (r < 0)
			set_failed(s, r, &why);
	}
	if (s->failed && e)
		*e = s->why;
	return s->failed;
}

/* The stamp that a tick comes from; 0 for ticks before all stamps. */
static uint64_t tick_stamp(const struct source *s, uint64_t tick)
{
	if ((int64_t)s->stamp_add > 0 && tick < s->stamp_add)
		return 0;
	return tick - s->stamp_add;
}

static int go_to(struct source *s, uint64_t tick, bool from_start, struct error *e)
{
	struct error why = ERROR_INIT;
	uint32_t i;
	int r = 0;

	s->failed = 0;
	s->at_end = false;
	s->n_dropped = from_start ? s->n_cpus : 0;
	s->base.info.skipped = 0;
	for (i = 0; i < s->n_cpus && r == 0; i++) {
		if (from_start)
			tracedat_cpu_rewind(&s->cpus[i]);
		else
			r = tracedat_cpu_seek(&s->cpus[i], tick_stamp(s, tick), &why);
	}
	if (r == 0)
		r = fill_heap(s, tick, &why);
	if (r < 0) {
		set_failed(s, r, &why);
		if (e)
			*e = why;
	}
	return r;
}

static int rewind_source(struct trace_source *base, struct error *e)
{
	return go_to(to_source(base), 0, true, e);
}

static int seek(struct trace_source *base, uint64_t tick, struct error *e)
{
	return go_to(to_source(base), tick, false, e);
}

static void progress(const struct trace_source *base, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct source *s = (const struct source *)base;
	const struct tracedat_cpu *c;
	uint32_t i;

	*ret_done = *ret_total = 0;
	for (i = 0; i < s->n_cpus; i++) {
		c = &s->cpus[i];
		*ret_done += c->buffer->compressed ? c->next_chunk : c->next_page;
		*ret_total += c->bytes.len;
	}
}

static void free_source(struct trace_source *base)
{
	struct source *s = to_source(base);
	uint32_t i;

	for (i = 0; i < s->n_cpus; i++)
		tracedat_cpu_close(&s->cpus[i]);
	free(s->cpus);
	free(s->heap);
	tracedat_done(&s->dat);
	info_done(&s->base.info);
	free(s);
}

static const struct trace_source_ops ops = {
	.next = next,
	.rewind = rewind_source,
	.seek = seek,
	.progress = progress,
	.free = free_source,
};

static int open_cpus(struct source *s, struct error *e)
{
	const struct tracedat_buffer *b = &s->dat.buffers[0];
	uint32_t n = b->n_ranges ? b->n_ranges : 1;

	s->cpus = calloc(n, sizeof(*s->cpus));
	s->heap = calloc(n, sizeof(*s->heap));
	if (!s->cpus || !s->heap)
		return error_set(e, ENOMEM, "cannot read trace.dat: out of memory");
	for (; s->n_cpus < b->n_ranges; s->n_cpus++) {
		tracedat_cpu_open(&s->cpus[s->n_cpus], &s->dat, b, &b->ranges[s->n_cpus]);
		tracedat_stat_apply(&s->cpus[s->n_cpus]);
	}
	/* A counter is scaled first and shifted then, by the clock; plain stamps are shifted here,
	 * where a shift below zero does no harm. */
	s->stamp_add = s->dat.tsc_mult ? 0 : (uint64_t)s->dat.stamp_add_ns;
	return rewind_source(&s->base, e);
}

int source_tracedat_open(struct trace_source **ret, struct import_bytes in, struct error *e)
{
	struct source *s = calloc(1, sizeof(*s));
	int r;

	if (!s || info_init(&s->base.info) < 0) {
		free(s);
		return error_set(e, ENOMEM, "cannot read trace.dat: out of memory");
	}
	s->base.ops = &ops;
	r = tracedat_open(&s->dat, in, &s->base.info, e);
	if (r == 0)
		r = open_cpus(s, e);
	if (r < 0) {
		free_source(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}
