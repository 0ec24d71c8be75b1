/* SPDX-License-Identifier: MIT */
/*
 * run_source: see run_source.h. The merge is merge.h's, the blocks come from a store_reader.
 */
#include "trace/run_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/description_check.h"
#include "trace/merge.h"

struct run_source {
	struct trace_source source;
	struct store *store;
	uint32_t run;
	struct store_range range;
	struct block_reader *reader;
	struct trace_orders orders;
	struct merge merge;
	uint64_t meta_place; /* behind the last piece of the description that was read */
	bool over;	     /* an item behind the range was found */
	bool is_told;	     /* the description is borrowed */
};

static void run_free(struct trace_source *s)
{
	struct run_source *r = (struct run_source *)s;

	merge_done(&r->merge);
	if (r->reader)
		r->reader->ops->free(r->reader);
	if (!r->is_told) {
		orders_done(&r->orders);
		info_done(&s->info);
	}
	free(r);
}

static int run_next(struct trace_source *s, struct trace_item *ret, struct error *e)
{
	struct run_source *r = (struct run_source *)s;
	int got = r->over ? 0 : merge_next(&r->merge, ret, e);

	if (got == 1 && item_tick(ret) > r->range.to_tick) {
		r->over = true;
		got = 0;
	}
	return got < 0 ? error_prefix(e, got, "cannot read run %u", r->run) : got;
}

static int run_seek(struct trace_source *s, uint64_t tick, struct error *e)
{
	struct run_source *r = (struct run_source *)s;

	(void)e;
	merge_seek(&r->merge, tick > r->range.from_tick ? tick : r->range.from_tick);
	r->over = false;
	return 0;
}

static int run_rewind(struct trace_source *s, struct error *e)
{
	return run_seek(s, 0, e);
}

static void run_progress(const struct trace_source *s, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct run_source *r = (const struct run_source *)s;

	*ret_done = r->merge.place;
	*ret_total = r->reader->ops->size(r->reader);
}

static const struct trace_source_ops run_ops = {
	.next = run_next,
	.rewind = run_rewind,
	.seek = run_seek,
	.progress = run_progress,
	.free = run_free,
};

/* What the run says about itself, as far as that was not read. */
static int read_meta(struct run_source *r, struct error *e)
{
	struct block b;
	uint64_t at;
	int got;

	while ((got = r->reader->ops->next(r->reader, STREAM_META, &r->meta_place, &b, &at)) == 1) {
		if (b.codec != CODEC_META)
			continue;
		got = info_decode(&r->source.info, &r->orders, b.payload, b.payload_len);
		if (got < 0) {
			description_explain(b.payload, b.payload_len, got, e);
			return error_prefix(e, got, "cannot read run %u: block %llu of stream 0",
					    r->run, (unsigned long long)b.sequence);
		}
	}
	return got < 0 ? error_set(e, got, "cannot read run %u: %s", r->run, strerror(-got)) : 0;
}

static void set_clock(struct run_source *r)
{
	struct store_clock clock;

	if (store_get_clock(r->store, r->run, &clock) == 0)
		clock_set_measured(&r->source.info.clock, clock.off_ns, clock.err_ns);
}

static int open_run(struct run_source *r, struct error *e)
{
	int got = store_reader_open(&r->reader, r->store, r->run, &r->range, e);

	if (got == 0 && !r->is_told)
		got = read_meta(r, e);
	if (got < 0)
		return got;
	set_clock(r);
	got = merge_init(&r->merge, r->reader, &r->source.info, &r->orders);
	if (got < 0)
		return error_set(e, got, "cannot read run %u: %s", r->run, strerror(-got));
	if (r->range.from_tick)
		merge_seek(&r->merge, r->range.from_tick);
	return 0;
}

int source_run_open(struct trace_source **ret, struct store *s, uint32_t run,
		    const struct store_range *range, struct error *e)
{
	const struct store_range all = { .to_tick = UINT64_MAX };
	const struct run_part part = { .store = s, .run = run, .range = range ? *range : all };

	return source_run_open_told(ret, &part, e);
}

/* What it says about itself: borrowed, or yet to be read. */
static int init_info(struct run_source *r, const struct run_description *told)
{
	if (!told)
		return info_init(&r->source.info);
	r->is_told = true;
	r->source.info = told->info;
	r->orders = told->orders;
	return 0;
}

int source_run_open_told(struct trace_source **ret, const struct run_part *p, struct error *e)
{
	struct run_source *r = calloc(1, sizeof(*r));
	int got;

	if (!r || init_info(r, p->told) < 0) {
		free(r);
		return error_set(e, ENOMEM, "cannot read run %u: out of memory", p->run);
	}
	r->source.ops = &run_ops;
	r->store = p->store;
	r->run = p->run;
	r->range = p->range;
	got = open_run(r, e);
	if (got < 0) {
		run_free(&r->source);
		return got;
	}
	*ret = &r->source;
	return 0;
}

int source_run_follow(struct trace_source *s, struct error *e)
{
	struct run_source *r = (struct run_source *)s;
	int more = store_reader_refresh(r->reader, e), got;

	if (more <= 0 || r->is_told)
		return more <= 0 ? more
				 : error_set(e, EINVAL, "cannot follow a part of run %u", r->run);
	got = read_meta(r, e);
	if (got < 0)
		return got;
	set_clock(r);
	got = merge_refresh(&r->merge);
	return got < 0 ? error_set(e, got, "cannot read run %u: %s", r->run, strerror(-got)) : 1;
}

void source_run_seek_segments(struct trace_source *s, const uint64_t *ticks)
{
	struct run_source *r = (struct run_source *)s;

	merge_seek_segments(&r->merge, ticks);
	r->over = false;
}

const struct trace_item *source_run_peek(struct trace_source *s, uint32_t cpu)
{
	return merge_peek(&((struct run_source *)s)->merge, cpu);
}

struct block_reader *source_run_reader(const struct trace_source *s)
{
	return ((const struct run_source *)s)->reader;
}

uint64_t source_run_blocks_read(const struct trace_source *s)
{
	return store_reader_count(((const struct run_source *)s)->reader);
}
