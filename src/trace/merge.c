/* SPDX-License-Identifier: MIT */
/* merge: see merge.h. */
#include "trace/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void merge_done(struct merge *m)
{
	uint32_t i;

	for (i = 0; i < m->n_cursors; i++)
		stream_cursor_free(m->cursors[i]);
	free(m->cursors);
	free(m->heap);
	memset(m, 0, sizeof(*m));
}

static int32_t item_off_ns(const struct trace_item *i)
{
	return i->type == ITEM_EVENT ? i->event.tick_off_ns : 0;
}

/* Stamps off the clock's grid are rare; only they need their nanoseconds to be compared. */
static bool is_before(const struct merge *m, uint32_t a, uint32_t b)
{
	const struct trace_item *ia = stream_cursor_peek(m->cursors[a]);
	const struct trace_item *ib = stream_cursor_peek(m->cursors[b]);
	const struct trace_clock *c = &m->info->clock;
	uint64_t ta = item_tick(ia), tb = item_tick(ib);

	if (item_off_ns(ia) || item_off_ns(ib)) {
		ta = clock_ns(c, ta) + (uint64_t)(int64_t)item_off_ns(ia);
		tb = clock_ns(c, tb) + (uint64_t)(int64_t)item_off_ns(ib);
	}
	return ta < tb || (ta == tb && a < b);
}

static void sift_down(struct merge *m, uint32_t at)
{
	uint32_t child, cpu = m->heap[at];

	while ((child = 2 * at + 1) < m->n_heap) {
		if (child + 1 < m->n_heap && is_before(m, m->heap[child + 1], m->heap[child]))
			child++;
		if (!is_before(m, m->heap[child], cpu))
			break;
		m->heap[at] = m->heap[child];
		at = child;
	}
	m->heap[at] = cpu;
}

static bool has_item(struct merge *m, uint32_t cpu)
{
	if (stream_cursor_peek(m->cursors[cpu]))
		return true;
	if (stream_cursor_error(m->cursors[cpu]))
		m->error = stream_cursor_error(m->cursors[cpu]);
	return false;
}

static void build_heap(struct merge *m)
{
	uint32_t cpu, at;

	m->n_heap = 0;
	for (cpu = 0; cpu < m->n_cursors; cpu++)
		if (m->cursors[cpu] && has_item(m, cpu))
			m->heap[m->n_heap++] = cpu;
	for (at = m->n_heap / 2; at > 0; at--)
		sift_down(m, at - 1);
	m->given = UINT32_MAX;
	m->merging = true;
}

/* The heap's place of the CPU whose turn it is at this tick by the known order; 0 if there is none
 * or it does not fit. */
static uint32_t ordered_place(struct merge *m, uint64_t tick)
{
	const struct trace_order *row;
	const struct trace_item *item;
	uint32_t cpu, at;

	for (;; m->order_row++, m->order_at = 0) {
		if (m->order_row == m->orders->n)
			return 0;
		row = &m->orders->rows[m->order_row];
		if (row->tick > tick || (row->tick == tick && m->order_at < row->n))
			break;
	}
	if (row->tick != tick)
		return 0;
	cpu = m->orders->cpus[row->first + m->order_at];
	for (at = 0; at < m->n_heap && m->heap[at] != cpu; at++)
		;
	if (at == m->n_heap)
		return 0;
	item = stream_cursor_peek(m->cursors[cpu]);
	if (item->type != ITEM_EVENT || item->event.tick != tick)
		return 0;
	m->order_at++;
	return at;
}

/* Takes the last given item out of its stream and puts the heap right again. */
static void drop_given(struct merge *m)
{
	uint32_t at;

	if (m->given == UINT32_MAX)
		return;
	for (at = 0; m->heap[at] != m->given; at++)
		;
	stream_cursor_pop(m->cursors[m->given]);
	if (!has_item(m, m->given))
		m->heap[at] = m->heap[--m->n_heap];
	if (at == 0 && m->n_heap)
		sift_down(m, 0);
	else if (at) /* out of the middle, for a known order: rare */
		build_heap(m);
	m->given = UINT32_MAX;
}

int merge_next(struct merge *m, struct trace_item *ret, struct error *e)
{
	const struct trace_item *item;
	uint32_t place = 0;

	if (!m->merging)
		build_heap(m);
	drop_given(m);
	if (m->error)
		return error_set(e, m->error, "cannot decode: %s", strerror(-m->error));
	if (!m->n_heap)
		return 0;
	item = stream_cursor_peek(m->cursors[m->heap[0]]);
	if (m->orders->n && item->type == ITEM_EVENT)
		place = ordered_place(m, item->event.tick);
	m->given = m->heap[place];
	*ret = *stream_cursor_peek(m->cursors[m->given]);
	if (stream_cursor_place(m->cursors[m->given]) > m->place)
		m->place = stream_cursor_place(m->cursors[m->given]);
	return 1;
}

void merge_seek(struct merge *m, uint64_t tick)
{
	const struct trace_item *item;
	uint32_t cpu;

	for (cpu = 0; cpu < m->n_cursors; cpu++) {
		if (!m->cursors[cpu])
			continue;
		stream_cursor_seek(m->cursors[cpu], tick);
		while (tick && (item = stream_cursor_peek(m->cursors[cpu])) &&
		       (item->type == ITEM_EVENT ? item->event.tick : item->loss.to_tick) < tick)
			stream_cursor_pop(m->cursors[cpu]);
	}
	m->order_row = m->order_at = 0;
	m->merging = false;
	m->error = 0;
	m->place = 0;
}

void merge_seek_segments(struct merge *m, const uint64_t *ticks)
{
	uint32_t cpu;

	for (cpu = 0; cpu < m->n_cursors; cpu++)
		if (m->cursors[cpu])
			stream_cursor_seek(m->cursors[cpu], ticks[cpu]);
	m->order_row = m->order_at = 0;
	m->merging = false;
	m->error = 0;
	m->place = 0;
}

const struct trace_item *merge_peek(struct merge *m, uint32_t cpu)
{
	if (cpu >= m->n_cursors || !m->cursors[cpu])
		return NULL;
	return has_item(m, cpu) ? stream_cursor_peek(m->cursors[cpu]) : NULL;
}

static void count_cpus(struct merge *m)
{
	uint32_t last = m->reader->ops->streams(m->reader);

	if (last < STREAM_CPU(TRACE_CPUS_MAX) && last >= STREAM_CPU(m->info->cpus))
		m->info->cpus = last - STREAM_CPU(0) + 1;
}

/* Cursors for the streams that have none yet. */
static int open_cursors(struct merge *m)
{
	uint32_t cpu, cpus = m->info->cpus;
	struct stream_cursor **cursors;
	struct block_stream about;
	uint32_t *heap;
	int r;

	if (cpus > m->n_cursors || !m->heap) {
		cursors = realloc(m->cursors, ((size_t)cpus + 1) * sizeof(*cursors));
		m->cursors = cursors ? cursors : m->cursors;
		heap = realloc(m->heap, ((size_t)cpus + 1) * sizeof(*heap));
		m->heap = heap ? heap : m->heap;
		if (!cursors || !heap)
			return -ENOMEM;
		for (; m->n_cursors < cpus; m->n_cursors++)
			m->cursors[m->n_cursors] = NULL;
	}
	for (cpu = 0; cpu < m->n_cursors; cpu++) {
		if (m->cursors[cpu] || !m->reader->ops->stream(m->reader, STREAM_CPU(cpu), &about))
			continue;
		r = stream_cursor_new(&m->cursors[cpu], m->reader, cpu, m->info);
		if (r < 0)
			return r;
	}
	return 0;
}

int merge_init(struct merge *m, struct block_reader *reader, struct trace_info *info,
	       const struct trace_orders *orders)
{
	memset(m, 0, sizeof(*m));
	m->reader = reader;
	m->info = info;
	m->orders = orders;
	m->given = UINT32_MAX;
	count_cpus(m);
	return open_cursors(m);
}

int merge_refresh(struct merge *m)
{
	uint32_t cpu;

	drop_given(m);
	for (cpu = 0; cpu < m->n_cursors; cpu++)
		if (m->cursors[cpu])
			stream_cursor_refresh(m->cursors[cpu]);
	m->merging = false;
	count_cpus(m);
	return open_cursors(m);
}

const struct stream_totals *merge_totals(const struct merge *m, uint32_t cpu)
{
	return cpu < m->n_cursors && m->cursors[cpu] ? stream_cursor_totals(m->cursors[cpu]) : NULL;
}
