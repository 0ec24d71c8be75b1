/* SPDX-License-Identifier: MIT */
/* func_ksk: see func_ksk.h. */
#include "trace/func_ksk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/ksk.h"
#include "trace/description_check.h"
#include "trace/func_heap.h"
#include "trace/func_meta.h"
#include "trace/func_sched.h"
#include "trace/info_meta.h"
#include "trace/ksk_source.h"
#include "trace/stream_span.h"

struct func_ksk {
	struct func_source source;
	struct block_reader *reader;
	struct ksk_file *file;	      /* the reader, if it is one */
	struct func_cursor **cursors; /* two of each thread; NULL where it has no such stream */
	size_t n_cursors;
	uint32_t *numbers; /* of the threads */
	struct func_heap heap;
	uint64_t place; /* furthest in the reader, for progress */
};

static void ksk_free(struct func_source *s)
{
	struct func_ksk *k = (struct func_ksk *)s;
	size_t i;

	for (i = 0; i < k->n_cursors; i++)
		func_cursor_free(k->cursors[i]);
	free(k->cursors);
	free(k->numbers);
	func_heap_done(&k->heap);
	k->reader->ops->free(k->reader);
	func_source_done(s);
	free(k);
}

static int fetch(void *owner, uint32_t number, struct func_item *ret)
{
	struct func_ksk *k = owner;
	int r = func_cursor_next(k->cursors[number], ret);

	if (func_cursor_place(k->cursors[number]) > k->place)
		k->place = func_cursor_place(k->cursors[number]);
	return r;
}

static int ksk_next(struct func_source *s, struct func_item *ret, struct error *e)
{
	struct func_ksk *k = (struct func_ksk *)s;
	int r = func_heap_next(&k->heap, fetch, k, ret);

	return r < 0 ? error_set(e, r, "cannot decode: %s", strerror(-r)) : r;
}

static void fill_heap(struct func_ksk *k)
{
	size_t i;

	func_heap_clear(&k->heap);
	for (i = 0; i < k->n_cursors; i++)
		if (k->cursors[i])
			func_heap_push(&k->heap, func_cursor_first_tick(k->cursors[i]),
				       (uint32_t)i);
	k->place = 0;
}

static int ksk_rewind(struct func_source *s, struct error *e)
{
	struct func_ksk *k = (struct func_ksk *)s;
	size_t i;

	(void)e;
	for (i = 0; i < k->n_cursors; i++)
		if (k->cursors[i])
			func_cursor_rewind(k->cursors[i]);
	fill_heap(k);
	return 0;
}

static void ksk_progress(const struct func_source *s, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct func_ksk *k = (const struct func_ksk *)s;

	*ret_done = k->place;
	*ret_total = k->reader->ops->size(k->reader);
}

static const struct func_source_ops ksk_ops = {
	.next = ksk_next,
	.rewind = ksk_rewind,
	.progress = ksk_progress,
	.free = ksk_free,
};

bool func_ksk_has_calls(struct block_reader *r)
{
	uint32_t stream;

	return r->ops->find(r, STREAM_FUNC_FIRST, &stream) && stream_is_func(stream);
}

/* All descriptions, wherever they are; the origin is the trace's. There is always an `e`, without a text. */
static int read_meta(struct func_ksk *k, struct func_meta *m, struct error *e)
{
	struct trace_info info;
	struct block b;
	uint64_t place = 0, at;
	int r = info_init(&info);

	while (r == 0 && (r = k->reader->ops->next(k->reader, STREAM_META, &place, &b, &at)) == 1) {
		r = 0;
		if (b.codec != CODEC_META || !b.payload)
			continue;
		r = info_decode(&info, NULL, b.payload, b.payload_len);
		if (r == 0)
			r = func_meta_decode(m, b.payload, b.payload_len);
		if (r < 0) {
			description_explain(b.payload, b.payload_len, r, e);
			error_prefix(e, r, "metadata at offset %llu", (unsigned long long)at);
		}
	}
	if (r == 0)
		r = func_source_set_origin(&m->tables, info.origin);
	info_done(&info);
	return r < 0 && !e->text[0] ? error_set(e, r, "%s", strerror(-r)) : r;
}

/* The streams that are there, whether anybody names them or not. */
static int add_streams(struct func_ksk *k, struct func_meta *m)
{
	uint32_t stream = STREAM_FUNC_FIRST;
	int r = 0;

	while (r == 0 && k->reader->ops->find(k->reader, stream, &stream) &&
	       stream_is_func(stream)) {
		r = func_meta_add_thread(m, stream_func_thread(stream));
		stream++;
	}
	return r < 0 ? r : func_meta_settle(m);
}

static int open_cursor(struct func_ksk *k, uint32_t stream, uint32_t thread,
		       struct func_cursor **ret)
{
	struct block_stream about;

	if (!k->reader->ops->stream(k->reader, stream, &about))
		return 0;
	*ret = func_cursor_new(k->reader, stream, thread);
	return *ret ? 0 : -ENOMEM;
}

static int open_cursors(struct func_ksk *k, const struct func_meta *m)
{
	uint32_t i;
	int r = 0;

	k->cursors = calloc(2 * m->n_threads + 1, sizeof(*k->cursors));
	k->numbers = calloc(m->n_threads + 1, sizeof(*k->numbers));
	if (!k->cursors || !k->numbers)
		return -ENOMEM;
	k->n_cursors = 2 * m->n_threads;
	for (i = 0; i < m->n_threads && r == 0; i++) {
		k->numbers[i] = m->threads[i].number;
		r = open_cursor(k, STREAM_FUNC(k->numbers[i]), i, &k->cursors[2 * i]);
		if (r == 0)
			r = open_cursor(k, STREAM_FUNC_OS(k->numbers[i]), i,
					&k->cursors[2 * i + 1]);
	}
	return r < 0 ? r : func_heap_init(&k->heap, k->n_cursors);
}

static int load(struct func_ksk *k, struct func_meta *m, struct error *e)
{
	int r = read_meta(k, m, e);

	if (r < 0)
		return r;
	if (!m->found && !func_ksk_has_calls(k->reader))
		return error_set(e, ENODATA, "it holds no calls");
	r = add_streams(k, m);
	if (r == 0)
		r = open_cursors(k, m);
	return r < 0 ? error_set(e, r, "%s", strerror(-r)) : 0;
}

/* Takes the reader, also when it fails. */
static int open_source(struct block_reader *reader, struct ksk_file *file, struct func_source **ret,
		       struct error *e)
{
	struct func_ksk *k = calloc(1, sizeof(*k));
	struct func_meta m;
	int r;

	if (!k) {
		reader->ops->free(reader);
		return error_set(e, ENOMEM, "out of memory");
	}
	k->source.ops = &ksk_ops;
	k->reader = reader;
	k->file = file;
	func_meta_init(&m);
	r = load(k, &m, e);
	if (r < 0) {
		func_meta_done(&m);
		ksk_free(&k->source);
		return r;
	}
	m.tables.ops = &ksk_ops;
	k->source = m.tables; /* moved */
	memset(&m.tables, 0, sizeof(m.tables));
	func_meta_done(&m);
	fill_heap(k);
	*ret = &k->source;
	return 0;
}

int func_ksk_open(const char *path, struct func_source **ret, struct error *e)
{
	struct ksk_file *file;
	struct error reason = ERROR_INIT;
	int r = ksk_file_open(&file, path, e);

	if (r < 0)
		return r;
	r = open_source(&file->reader, file, ret, &reason);
	return r < 0 ? error_set(e, r, "cannot read %s: %s", path, reason.text) : 0;
}

int func_ksk_open_memory(const uint8_t *data, size_t len, struct func_source **ret, struct error *e)
{
	struct ksk_file *file;
	struct error reason = ERROR_INIT;
	int r = ksk_file_open_memory(&file, data, len, e);

	if (r < 0)
		return r;
	r = open_source(&file->reader, file, ret, &reason);
	return r < 0 ? error_set(e, r, "%s", reason.text) : 0;
}

int func_ksk_open_run(struct store *s, uint32_t run, struct func_source **ret, struct error *e)
{
	return func_ksk_open_from(s, run, 0, ret, e);
}

int func_ksk_open_from(struct store *s, uint32_t run, uint64_t from_tick, struct func_source **ret,
		       struct error *e)
{
	const struct store_range range = { .from_tick = from_tick, .to_tick = UINT64_MAX };
	struct error reason = ERROR_INIT;
	struct block_reader *reader;
	struct store_clock clock;
	int r = store_reader_open(&reader, s, run, &range, e);

	if (r < 0)
		return r;
	r = open_source(reader, NULL, ret, &reason);
	if (r < 0)
		return error_set(e, r, "cannot read run %u: %s", run, reason.text);
	if (store_get_clock(s, run, &clock) == 0)
		clock_set_measured(&(*ret)->clock, clock.off_ns, clock.err_ns);
	return 0;
}

int func_ksk_open_joined(const char *path, struct func_source **ret, struct error *e)
{
	struct func_source *calls;
	struct trace_source *sched;
	int r = func_ksk_open(path, &calls, e);

	if (r < 0)
		return r;
	r = source_ksk_open(&sched, path, e);
	if (r < 0) {
		func_source_free(calls);
		return r;
	}
	if (!sched->info.cpus) {
		source_free(sched);
		*ret = calls;
		return 0;
	}
	r = func_sched_new(calls, sched, ret, e);
	/* Calls are worth having without the scheduler's side. */
	if (r == -EXDEV)
		return func_ksk_open(path, ret, e);
	return r < 0 ? error_prefix(e, r, "cannot read %s", path) : 0;
}

const struct func_totals *func_ksk_totals(const struct func_source *s, uint32_t thread, bool os)
{
	const struct func_ksk *k = (const struct func_ksk *)s;
	const struct func_cursor *c = k->cursors[2 * (size_t)thread + os];

	return c ? func_cursor_totals(c) : NULL;
}

int func_ksk_span(const struct func_source *s, uint64_t *ret_from, uint64_t *ret_to)
{
	const struct func_ksk *k = (const struct func_ksk *)s;
	struct stream_span span = STREAM_SPAN_INIT;
	size_t i;
	int r = 0;

	for (i = 0; i < k->n_cursors && r == 0; i++)
		if (k->cursors[i])
			r = stream_span_add(&span, k->reader,
					    STREAM_FUNC(k->numbers[i / 2]) + (uint32_t)(i % 2));
	*ret_from = span.from;
	*ret_to = span.to;
	return r < 0 ? r : span.from <= span.to;
}

int func_ksk_last_tick(const struct func_source *s, uint32_t thread, uint64_t *ret)
{
	const struct func_ksk *k = (const struct func_ksk *)s;
	uint64_t one;
	uint32_t i;
	int r = 0;

	*ret = 0;
	for (i = 0; i < 2 && r == 0; i++) {
		if (!k->cursors[2 * (size_t)thread + i])
			continue;
		r = stream_span_last(k->reader, STREAM_FUNC(k->numbers[thread]) + i, &one);
		*ret = one > *ret ? one : *ret;
	}
	return r;
}

uint32_t func_ksk_stream(const struct func_source *s, uint32_t thread)
{
	return STREAM_FUNC(((const struct func_ksk *)s)->numbers[thread]);
}

struct ksk_file *func_ksk_file(const struct func_source *s)
{
	return ((const struct func_ksk *)s)->file;
}
