/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_reader: a run in the tables, as a block_reader (store_reader.h).
 *
 * Blocks are fetched in pages: of one stream, some sequences on from where it is read. A query is
 * bounded by sequences, never by LIMIT alone: the server would read the rest of the stream to sort
 * it. All pages together have a ceiling, but for one block of each stream. A run that is small is
 * fetched whole, with one query. A place is a block's sequence and one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/array.h"
#include "store/clickhouse/clickhouse_parts.h"
#include "store/ksk.h"

#define PAGES_BYTES (64ULL << 20)
#define PAGE_BYTES_LEAST (16ULL << 10)
#define PAGE_BYTES_MOST (4ULL << 20)
#define PAGE_BLOCKS_MOST 8192U
#define WHOLE_BYTES (8ULL << 20)

struct page_row {
	uint64_t sequence;
	size_t at;
	uint32_t len;
};

struct page {
	uint64_t from, to; /* sequences that it covers; all that are there are in it */
	struct clickhouse_rows bytes;
	struct page_row *rows; /* by rising sequence */
	size_t n, room;
};

struct reader_stream {
	uint32_t stream;
	struct page page;
	uint64_t place; /* behind the last that was given */
	uint64_t until;
	bool over; /* the range ends behind it */
};

struct clickhouse_reader {
	struct store_reader base;
	struct clickhouse_store *store;
	struct clickhouse_run *run;
	struct reader_stream *streams; /* by rising number */
	size_t n_streams, room_streams;
	bool fetched; /* whole */
	uint64_t count;
};

static struct reader_stream *get_stream(struct clickhouse_reader *r, uint32_t stream)
{
	size_t lo = 0, hi = r->n_streams, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (r->streams[mid].stream < stream)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < r->n_streams && r->streams[lo].stream == stream)
		return &r->streams[lo];
	if (array_grow(&r->streams, r->n_streams, &r->room_streams, sizeof(*r->streams),
		       RUN_STATE_STREAMS_MAX) < 0)
		return NULL;
	memmove(r->streams + lo + 1, r->streams + lo, (r->n_streams - lo) * sizeof(*r->streams));
	r->streams[lo] = (struct reader_stream){ .stream = stream };
	r->n_streams++;
	return &r->streams[lo];
}

/* --- pages --- */

static void empty_page(struct page *p, uint64_t from, uint64_t to)
{
	p->from = from;
	p->to = to;
	p->n = 0;
	p->bytes.len = 0;
}

static int add_row(struct reader_stream *t, uint64_t sequence, const uint8_t *bytes, size_t len)
{
	struct page *p = &t->page;
	int r;

	if (sequence >= p->to) /* it came since we looked */
		return 0;
	r = array_grow(&p->rows, p->n, &p->room, sizeof(*p->rows), SIZE_MAX / 64);

	if (r == 0)
		r = clickhouse_rows_reserve(&p->bytes, len);
	if (r < 0)
		return r;
	p->rows[p->n++] =
		(struct page_row){ .sequence = sequence, .at = p->bytes.len, .len = (uint32_t)len };
	clickhouse_rows_put(&p->bytes, bytes, len);
	return 0;
}

static ssize_t take_blocks(void *context, const uint8_t *bytes, size_t len)
{
	struct clickhouse_reader *r = context;
	const uint8_t *at = bytes;
	struct byte_reader in;
	int error = 0;

	reader_init(&in, bytes, len);
	while (error == 0) {
		uint32_t stream = clickhouse_row_u32(&in);
		uint64_t sequence = clickhouse_row_u64(&in);
		size_t block_len;
		const uint8_t *block = clickhouse_row_string(&in, &block_len);
		struct reader_stream *t;

		if (in.bad)
			break;
		at = in.at;
		t = get_stream(r, stream);
		error = t ? add_row(t, sequence, block, block_len) : -ENOMEM;
	}
	return error < 0 ? error : at - bytes;
}

/* Blocks that fit the condition, each once. */
static int fetch(struct clickhouse_reader *r, const char *more)
{
	char where[CLICKHOUSE_WHERE_MAX], sql[512];
	const struct clickhouse_ask a = { .sql = sql, .take = take_blocks, .context = r };

	snprintf(sql, sizeof(sql),
		 "SELECT stream, sequence, bytes FROM blocks PREWHERE %s%s "
		 "ORDER BY stream, sequence LIMIT 1 BY stream, sequence",
		 clickhouse_where(&r->run->ids, where), more);
	return clickhouse_link_ask(r->store->link, &a, NULL);
}

/* All streams at once, if that is not much. A page then covers what the state knows of its stream. */
static int fetch_whole(struct clickhouse_reader *r)
{
	const struct run_state *out = &r->base.out;
	size_t i;

	r->fetched = true;
	if (out->totals.bytes - r->base.in.totals.bytes > WHOLE_BYTES)
		return 0;
	for (i = 0; i < out->n; i++) {
		struct reader_stream *t = get_stream(r, out->streams[i].stream);

		if (!t)
			return -ENOMEM;
		empty_page(&t->page, 0, out->streams[i].next_sequence);
	}
	return fetch(r, "");
}

static uint64_t page_blocks(const struct clickhouse_reader *r, const struct stream_state *t)
{
	uint64_t room = PAGES_BYTES / (r->base.out.n ? r->base.out.n : 1);
	uint64_t each = t->blocks ? t->bytes / t->blocks + 1 : 1;

	room = room < PAGE_BYTES_LEAST ? PAGE_BYTES_LEAST : room;
	room = room > PAGE_BYTES_MOST ? PAGE_BYTES_MOST : room;
	room /= each;
	return room < 1 ? 1 : room > PAGE_BLOCKS_MOST ? PAGE_BLOCKS_MOST : room;
}

struct first {
	uint64_t count, sequence;
};

static ssize_t take_first(void *context, const uint8_t *bytes, size_t len)
{
	struct first *f = context;
	struct byte_reader in;

	reader_init(&in, bytes, len);
	f->count = clickhouse_row_u64(&in);
	f->sequence = clickhouse_row_u64(&in);
	return in.bad ? 0 : 16;
}

__attribute__((format(printf, 4, 5))) static int ask_sequence(struct clickhouse_reader *r,
							      const char *which, struct first *ret,
							      const char *more, ...)
{
	char where[CLICKHOUSE_WHERE_MAX], condition[256], sql[512];
	const struct clickhouse_ask a = { .sql = sql, .take = take_first, .context = ret };
	va_list args;

	va_start(args, more);
	vsnprintf(condition, sizeof(condition), more, args);
	va_end(args);
	*ret = (struct first){ 0 };
	snprintf(sql, sizeof(sql),
		 "SELECT toUInt64(count()), toUInt64(%s(sequence)) FROM blocks WHERE %s%s", which,
		 clickhouse_where(&r->run->ids, where), condition);
	return clickhouse_link_ask(r->store->link, &a, NULL);
}

/* The page that has the first block at or behind this sequence; where there are none for long, that is
 * looked for. 1, 0 if there is none, or < 0. */
static int turn_page(struct clickhouse_reader *r, struct reader_stream *t, uint64_t from)
{
	const struct stream_state *state = run_state_stream(&r->base.out, t->stream);
	uint64_t end = state ? state->next_sequence : 0, to;
	struct first first;
	char more[128];
	int error;

	if (from >= end)
		return 0;
	to = end - from > page_blocks(r, state) ? from + page_blocks(r, state) : end;
	empty_page(&t->page, from, to);
	snprintf(more, sizeof(more),
		 " AND stream = %u AND sequence >= %" PRIu64 " AND sequence < %" PRIu64, t->stream,
		 from, to);
	error = fetch(r, more);
	if (error < 0 || t->page.n || to == end)
		return error < 0 ? error : (int)!!t->page.n;
	error = ask_sequence(r, "min", &first,
			     " AND stream = %u AND sequence >= %" PRIu64 " AND sequence < %" PRIu64,
			     t->stream, to, end);
	if (error < 0 || !first.count)
		return error;
	return turn_page(r, t, first.sequence);
}

/* The row at or behind a sequence: 1, 0 if there is none, or < 0. */
static int find_row(struct clickhouse_reader *r, struct reader_stream *t, uint64_t from,
		    const struct page_row **ret)
{
	struct page *p = &t->page;
	size_t lo = 0, hi = p->n, mid;
	int got;

	if (from < p->from || from >= p->to)
		lo = hi;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (p->rows[mid].sequence < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < p->n && from >= p->from && from < p->to) {
		*ret = &p->rows[lo];
		return 1;
	}
	if (from >= p->from && from < p->to)
		from = p->to;
	got = turn_page(r, t, from);
	if (got == 1)
		*ret = &p->rows[0];
	return got;
}

/* --- the operations --- */

/* Whether the block is the first that begins after the range, before it moves the time on. */
static bool is_behind(const struct clickhouse_reader *r, struct reader_stream *t,
		      const struct block *b)
{
	uint64_t from = b->flags & BLOCK_KEY ? b->first_tick : t->until;

	t->until = ksk_until(t->until, b);
	return from > r->base.range.to_tick;
}

/* Where a stream begins: what went with its days is not given, also where some of it is left. */
static uint64_t first_sequence(const struct clickhouse_reader *r, uint32_t stream)
{
	const struct stream_state *in = run_state_stream(&r->base.in, stream);

	if (stream == STREAM_META)
		return r->base.range.from_meta;
	return in ? in->next_sequence : 0;
}

static int reader_next(struct block_reader *reader, uint32_t stream, uint64_t *place,
		       struct block *ret, uint64_t *ret_at)
{
	struct clickhouse_reader *r = (struct clickhouse_reader *)reader;
	int got = r->fetched ? 0 : fetch_whole(r);
	struct reader_stream *t = got < 0 ? NULL : get_stream(r, stream);
	uint64_t from = *place ? *place - 1 : 0, first = first_sequence(r, stream);
	const struct page_row *row = NULL;

	if (!t)
		return got < 0 ? got : -ENOMEM;
	if (*place != t->place || !t->place) {
		t->over = false;
		t->until = 0;
	}
	from = from < first ? first : from;
	while (!t->over || stream == STREAM_META) {
		got = find_row(r, t, from, &row);
		if (got <= 0)
			return got;
		from = row->sequence + 1;
		*ret_at = from;
		r->count++;
		if (block_decode(t->page.bytes.data + row->at, row->len, ret) == WIRE_OK &&
		    ret->stream == stream && ret->sequence == row->sequence) {
			*place = t->place = from + 1;
			t->over = is_behind(r, t, ret);
			return 1;
		}
		store_reader_note_torn(&r->base, from);
	}
	return 0;
}

static uint64_t reader_seek(struct block_reader *reader, uint32_t stream, uint64_t tick)
{
	struct clickhouse_reader *r = (struct clickhouse_reader *)reader;
	const struct stream_state *out = run_state_stream(&r->base.out, stream);
	struct reader_stream *t = get_stream(r, stream);
	struct first last;

	if (!t || !out || !tick)
		return 0;
	t->place = 0;
	if (ask_sequence(r, "max", &last,
			 " AND stream = %u AND sequence >= %" PRIu64 " AND sequence < %" PRIu64
			 " AND flags IN (1, 3) AND events > 0 AND key_tick < %" PRIu64,
			 stream, first_sequence(r, stream), out->next_sequence, tick) < 0)
		return 0;
	return last.count ? last.sequence + 1 : 0;
}

static uint64_t reader_size(struct block_reader *reader)
{
	const struct run_state *out = &((const struct clickhouse_reader *)reader)->base.out;
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < out->n; i++)
		if (out->streams[i].next_sequence > most)
			most = out->streams[i].next_sequence;
	return most + 1;
}

static void reader_free(struct block_reader *reader)
{
	struct clickhouse_reader *r = (struct clickhouse_reader *)reader;
	size_t i;

	for (i = 0; i < r->n_streams; i++) {
		clickhouse_rows_done(&r->streams[i].page.bytes);
		free(r->streams[i].page.rows);
	}
	free(r->streams);
	store_reader_done(&r->base);
	free(r);
}

static const struct block_reader_ops reader_ops = {
	.next = reader_next,
	.seek = reader_seek,
	.start = store_reader_start,
	.stream = store_reader_stream,
	.streams = store_reader_streams,
	.find = store_reader_find,
	.torn = store_reader_torn,
	.note = store_reader_note,
	.size = reader_size,
	.free = reader_free,
};

/* What the run has come to; what a reader began with stays its start. */
static int look(struct clickhouse_reader *r, bool first)
{
	struct run_state out;
	int error = 0;

	pthread_mutex_lock(&r->store->lock);
	if (first)
		error = run_state_dup(&r->base.in, &r->run->in);
	if (error == 0)
		error = run_state_dup(&out, &r->run->shown);
	pthread_mutex_unlock(&r->store->lock);
	if (error < 0)
		return error;
	run_state_done(&r->base.out);
	r->base.out = out;
	return 0;
}

static bool is_over(const struct run_state *s)
{
	return s->ended || s->closed;
}

static int refresh(struct block_reader *reader, struct error *e)
{
	struct clickhouse_reader *r = (struct clickhouse_reader *)reader;
	uint64_t blocks = r->base.out.totals.blocks;
	bool over = is_over(&r->base.out);
	struct store_run facts;
	int error = clickhouse_get_run(&r->store->store, r->run->number, &facts, e);

	if (error == 0)
		error = look(r, false);
	if (error == -ENOENT)
		return 0;
	if (error < 0)
		return error_prefix(e, error, "cannot read run %u", r->run->number);
	return r->base.out.totals.blocks != blocks || is_over(&r->base.out) != over;
}

static uint64_t count_blocks(const struct block_reader *reader)
{
	return ((const struct clickhouse_reader *)reader)->count;
}

static const struct store_reader_ops more_ops = { .refresh = refresh, .count = count_blocks };

int clickhouse_open_reader(struct block_reader **ret, struct store *store, uint32_t run,
			   const struct store_range *range, struct error *e)
{
	struct clickhouse_reader *r = calloc(1, sizeof(*r));
	struct store_run facts;
	int error;

	if (!r)
		return error_set(e, ENOMEM, "cannot read run %u: out of memory", run);
	r->base.reader.ops = &reader_ops;
	r->base.ops = &more_ops;
	r->base.range = range ? *range : (struct store_range){ .to_tick = UINT64_MAX };
	r->fetched = r->base.range.from_tick || r->base.range.to_tick != UINT64_MAX;
	r->store = clickhouse_get(store);
	error = clickhouse_get_run(store, run, &facts, e);
	if (error == 0)
		error = clickhouse_load_number(r->store, run, &r->run, e);
	if (error == 0)
		error = look(r, true);
	if (error < 0) {
		reader_free(&r->base.reader);
		return error_prefix(e, error, "cannot read run %u", run);
	}
	*ret = &r->base.reader;
	return 0;
}
