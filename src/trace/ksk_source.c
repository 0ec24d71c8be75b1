/* SPDX-License-Identifier: MIT */
/*
 * ksk_source: see ksk_source.h.
 *
 * The merge is a binary heap of CPUs by the tick of their next item, then by number; where the file
 * knows that events of one tick happened in another order (it came from text), that order is
 * followed as long as it fits.
 */
#include "trace/ksk_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/ksk.h"
#include "trace/info_meta.h"
#include "trace/read_ahead.h"

#define AHEAD_BYTES (4U << 20) /* files smaller than this are read before a thread would pay */

struct ksk_source {
	struct trace_source source;
	struct ksk_file *file;
	struct trace_orders orders;
	size_t order_row, order_at;	/* where in orders the merge is */
	struct stream_cursor **cursors; /* by CPU; NULL where it has no stream */
	uint32_t *heap;			/* CPUs that have items left */
	uint32_t n_heap;
	uint32_t given;	 /* CPU whose item was given last and must be popped, or UINT32_MAX */
	bool merging;	 /* the heap is built */
	int error;	 /* that a stream failed with */
	uint64_t offset; /* furthest in the file, for progress */
	bool wants_ahead;
	struct read_ahead *ahead; /* while it is there, its thread owns all the rest */
};

static void ksk_free(struct trace_source *s)
{
	struct ksk_source *k = (struct ksk_source *)s;
	uint32_t i;

	read_ahead_free(k->ahead);
	for (i = 0; k->cursors && i < s->info.cpus; i++)
		stream_cursor_free(k->cursors[i]);
	free(k->cursors);
	free(k->heap);
	orders_done(&k->orders);
	ksk_file_free(k->file);
	info_done(&s->info);
	free(k);
}

static int32_t item_off_ns(const struct trace_item *i)
{
	return i->type == ITEM_EVENT ? i->event.tick_off_ns : 0;
}

/* Stamps off the clock's grid are rare; only they need their nanoseconds to be compared. */
static bool is_before(const struct ksk_source *k, uint32_t a, uint32_t b)
{
	const struct trace_item *ia = stream_cursor_peek(k->cursors[a]);
	const struct trace_item *ib = stream_cursor_peek(k->cursors[b]);
	const struct trace_clock *c = &k->source.info.clock;
	uint64_t ta = item_tick(ia), tb = item_tick(ib);

	if (item_off_ns(ia) || item_off_ns(ib)) {
		ta = clock_ns(c, ta) + (uint64_t)(int64_t)item_off_ns(ia);
		tb = clock_ns(c, tb) + (uint64_t)(int64_t)item_off_ns(ib);
	}
	return ta < tb || (ta == tb && a < b);
}

static void sift_down(struct ksk_source *k, uint32_t at)
{
	uint32_t child, cpu = k->heap[at];

	while ((child = 2 * at + 1) < k->n_heap) {
		if (child + 1 < k->n_heap && is_before(k, k->heap[child + 1], k->heap[child]))
			child++;
		if (!is_before(k, k->heap[child], cpu))
			break;
		k->heap[at] = k->heap[child];
		at = child;
	}
	k->heap[at] = cpu;
}

static bool has_item(struct ksk_source *k, uint32_t cpu)
{
	if (stream_cursor_peek(k->cursors[cpu]))
		return true;
	if (stream_cursor_error(k->cursors[cpu]))
		k->error = stream_cursor_error(k->cursors[cpu]);
	return false;
}

static void build_heap(struct ksk_source *k)
{
	uint32_t cpu, at;

	k->n_heap = 0;
	for (cpu = 0; cpu < k->source.info.cpus; cpu++)
		if (k->cursors[cpu] && has_item(k, cpu))
			k->heap[k->n_heap++] = cpu;
	for (at = k->n_heap / 2; at > 0; at--)
		sift_down(k, at - 1);
	k->given = UINT32_MAX;
	k->merging = true;
}

/* The heap's place of the CPU whose turn it is at this tick by the known order; 0 if there is none
 * or it does not fit. */
static uint32_t ordered_place(struct ksk_source *k, uint64_t tick)
{
	const struct trace_order *row;
	const struct trace_item *item;
	uint32_t cpu, at;

	for (;; k->order_row++, k->order_at = 0) {
		if (k->order_row == k->orders.n)
			return 0;
		row = &k->orders.rows[k->order_row];
		if (row->tick > tick || (row->tick == tick && k->order_at < row->n))
			break;
	}
	if (row->tick != tick)
		return 0;
	cpu = k->orders.cpus[row->first + k->order_at];
	for (at = 0; at < k->n_heap && k->heap[at] != cpu; at++)
		;
	if (at == k->n_heap)
		return 0;
	item = stream_cursor_peek(k->cursors[cpu]);
	if (item->type != ITEM_EVENT || item->event.tick != tick)
		return 0;
	k->order_at++;
	return at;
}

/* Takes the last given item out of its stream and puts the heap right again. */
static void drop_given(struct ksk_source *k)
{
	uint32_t at;

	if (k->given == UINT32_MAX)
		return;
	for (at = 0; k->heap[at] != k->given; at++)
		;
	stream_cursor_pop(k->cursors[k->given]);
	if (!has_item(k, k->given))
		k->heap[at] = k->heap[--k->n_heap];
	if (at == 0 && k->n_heap)
		sift_down(k, 0);
	else if (at) /* out of the middle, for a known order: rare */
		build_heap(k);
	k->given = UINT32_MAX;
}

static int merge_next(void *context, struct trace_item *ret, struct error *e)
{
	struct ksk_source *k = context;
	const struct trace_item *item;
	uint32_t place = 0;

	if (!k->merging)
		build_heap(k);
	drop_given(k);
	if (k->error)
		return error_set(e, k->error, "cannot decode: %s", strerror(-k->error));
	if (!k->n_heap)
		return 0;
	item = stream_cursor_peek(k->cursors[k->heap[0]]);
	if (k->orders.n && item->type == ITEM_EVENT)
		place = ordered_place(k, item->event.tick);
	k->given = k->heap[place];
	*ret = *stream_cursor_peek(k->cursors[k->given]);
	if (stream_cursor_offset(k->cursors[k->given]) > k->offset)
		k->offset = stream_cursor_offset(k->cursors[k->given]);
	return 1;
}

static uint64_t merge_progress(const void *context)
{
	return ((const struct ksk_source *)context)->offset;
}

static const struct read_ahead_ops ahead_ops = {
	.produce = merge_next,
	.progress = merge_progress,
};

static int ksk_next(struct trace_source *s, struct trace_item *ret, struct error *e)
{
	struct ksk_source *k = (struct ksk_source *)s;

	if (k->wants_ahead && !k->ahead) {
		k->ahead = read_ahead_new(&ahead_ops, k);
		k->wants_ahead = k->ahead;
	}
	return k->ahead ? read_ahead_next(k->ahead, ret, e) : merge_next(k, ret, e);
}

static int ksk_seek(struct trace_source *s, uint64_t tick, struct error *e)
{
	struct ksk_source *k = (struct ksk_source *)s;
	const struct trace_item *item;
	uint32_t cpu;

	(void)e;
	read_ahead_free(k->ahead);
	k->ahead = NULL;
	for (cpu = 0; cpu < s->info.cpus; cpu++) {
		if (!k->cursors[cpu])
			continue;
		stream_cursor_seek(k->cursors[cpu], tick);
		while (tick && (item = stream_cursor_peek(k->cursors[cpu])) &&
		       (item->type == ITEM_EVENT ? item->event.tick : item->loss.to_tick) < tick)
			stream_cursor_pop(k->cursors[cpu]);
	}
	k->order_row = k->order_at = 0;
	k->merging = false;
	k->error = 0;
	k->offset = 0;
	return 0;
}

static int ksk_rewind(struct trace_source *s, struct error *e)
{
	return ksk_seek(s, 0, e);
}

static void ksk_progress(const struct trace_source *s, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct ksk_source *k = (const struct ksk_source *)s;

	*ret_done = k->ahead ? read_ahead_progress(k->ahead) : k->offset;
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
		if (r < 0)
			return error_set(e, r, "metadata at offset %llu: %s",
					 (unsigned long long)meta->segments[i].offset,
					 r == -EBADMSG ? "not understood" : strerror(-r));
	}
	return 0;
}

static uint64_t first_offset(const struct ksk_stream *s)
{
	return s->n ? s->segments[0].offset : s->n_low ? s->blocks[0] : 0;
}

/* Without metadata (cut away, torn) the streams still say how many CPUs there are. */
static void count_cpus(struct ksk_source *k)
{
	uint32_t *cpus = &k->source.info.cpus;
	size_t i;

	for (i = 0; i < k->file->n_streams; i++) {
		uint32_t stream = k->file->streams[i].stream;

		if (stream >= STREAM_CPU(TRACE_CPUS_MAX))
			ksk_file_note(k->file, first_offset(&k->file->streams[i]), 0,
				      "a stream that belongs to no CPU");
		else if (stream >= STREAM_CPU(*cpus))
			*cpus = stream - STREAM_CPU(0) + 1;
	}
}

static int open_cursors(struct ksk_source *k)
{
	uint32_t cpu, cpus = k->source.info.cpus;
	int r;

	k->cursors = calloc(cpus + 1, sizeof(*k->cursors));
	k->heap = calloc(cpus + 1, sizeof(*k->heap));
	if (!k->cursors || !k->heap)
		return -ENOMEM;
	for (cpu = 0; cpu < cpus; cpu++) {
		if (!ksk_file_stream(k->file, STREAM_CPU(cpu)))
			continue;
		r = stream_cursor_new(&k->cursors[cpu], k->file, cpu, &k->source.info);
		if (r < 0)
			return r;
	}
	return 0;
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
		count_cpus(k);
		r = open_cursors(k);
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
	const struct ksk_source *k = (const struct ksk_source *)s;

	return cpu < s->info.cpus && k->cursors[cpu] ? stream_cursor_totals(k->cursors[cpu]) : NULL;
}

struct ksk_file *source_ksk_file(const struct trace_source *s)
{
	return ((const struct ksk_source *)s)->file;
}
