/* SPDX-License-Identifier: MIT */
/*
 * http_ledger: GET …/ledger: what a run lacks, row by row; with from= or to=, of that time.
 *
 * Ticks are those of the stream they are of: CPUs have the clock of the run's events, threads that of
 * their counter. Both become nanoseconds of the run's one clock here, so that whoever reads need not
 * know. Where the run's description is not understood there are ticks and counts, and no times.
 */
#include <errno.h>
#include <string.h>

#include "analysis/json_value.h"
#include "collector/http_coverage.h"
#include "collector/http_device.h"
#include "collector/http_range.h"
#include "trace/func_clock.h"
#include "trace/func_ksk.h"
#include "trace/word.h"
#include "wire/loss.h"

#define ROWS_MOST 100000U

struct ledger {
	json_t *rows;
	struct trace_clock clock;
	struct filter_time from, to; /* only what touches this time */
	uint64_t first_tick;	     /* of the run */
	struct func_source *calls;   /* NULL: it has no threads */
	uint64_t n;
	uint64_t lost[LOSS_CAUSES];
	uint64_t uncounted; /* rows */
};

/* What lacks before a stream's first event was lost since the run began. */
static uint64_t begin_of(const struct ledger *b, const struct store_loss *l)
{
	bool since_begin = !l->from_tick && l->to_tick > b->first_tick;

	return since_begin && !stream_is_func(l->stream) ? b->first_tick : l->from_tick;
}

/* When a tick of a stream was, in the clock of the run; 0 where nobody knows. */
static uint64_t get_ns(const struct ledger *b, uint32_t stream, uint64_t tick)
{
	if (!tick)
		return 0;
	if (stream_is_func(stream))
		return b->calls ? func_clock_ns(b->calls, tick) : 0;
	return b->clock.mult ? clock_ns(&b->clock, tick) : 0;
}

static json_t *ns_json(uint64_t ns)
{
	return ns ? json_value_count(ns) : json_null();
}

static json_t *real_json(const struct ledger *b, uint32_t stream, uint64_t ns)
{
	const struct trace_clock *c =
		stream_is_func(stream) && b->calls ? &b->calls->clock : &b->clock;

	if (!ns || !c->has_realtime)
		return json_null();
	return http_time_json(ns + (uint64_t)c->realtime_off_ns);
}

static json_t *cpu_json(uint32_t stream)
{
	bool has_cpu = stream != STREAM_META && !stream_is_boot(stream) && !stream_is_func(stream);

	if (stream_is_sample(stream))
		return json_value_count(stream - STREAM_SAMPLE_FIRST);
	return has_cpu ? json_value_count(stream - STREAM_CPU(0)) : json_null();
}

static json_t *tid_json(const struct ledger *b, uint32_t stream)
{
	size_t i;

	for (i = 0; stream_is_func(stream) && b->calls && i < b->calls->n_threads; i++)
		if (func_ksk_stream(b->calls, (uint32_t)i) == (stream & ~1U))
			return json_integer(b->calls->threads[i].tid);
	return json_null();
}

static int add_loss(void *context, const struct store_loss *l)
{
	struct ledger *b = context;
	bool known = l->count != LOSS_UNKNOWN;
	uint64_t from_ns = get_ns(b, l->stream, begin_of(b, l));
	uint64_t to_ns = get_ns(b, l->stream, l->to_tick);

	if ((b->from.given && to_ns && to_ns < b->from.ns) || (b->to.given && from_ns >= b->to.ns))
		return 0;
	if (!known)
		b->uncounted++;
	else if (l->cause < LOSS_CAUSES)
		b->lost[l->cause] += l->count;
	if (b->n++ >= ROWS_MOST)
		return 0;
	json_array_append_new(b->rows, json_pack("{so so so ss so so so so so so}", "stream",
						 json_value_count(l->stream), "cpu",
						 cpu_json(l->stream), "tid", tid_json(b, l->stream),
						 "cause", word_cause(l->cause), "count",
						 known ? json_value_count(l->count) : json_null(),
						 "from_tick", json_value_count(l->from_tick),
						 "to_tick", json_value_count(l->to_tick), "from_ns",
						 ns_json(from_ns), "to_ns", ns_json(to_ns), "from",
						 real_json(b, l->stream, from_ns)));
	return 0;
}

/* A machine in trouble, rather than a run that is not understood: nothing is said then. */
static bool is_trouble(int r)
{
	return r == -ENOMEM || r == -EIO || r == -EMFILE || r == -ENFILE;
}

/* Counts are told also where nobody understands what the threads' ticks are. */
static int open_clocks(struct http_request *q, const struct http_selection *s, struct ledger *b,
		       struct error *e)
{
	int r = s->run.threads
			? func_ksk_open_run(q->http->options.store, s->run.number, &b->calls, e)
			: 0;

	if (r < 0)
		b->calls = NULL;
	b->clock = s->clock;
	b->first_tick = s->run.first_tick;
	b->from = s->from;
	b->to = s->to;
	return is_trouble(r) ? r : 0;
}

/* Of a run, or of all of a device that are of its kind. Of a part of the time nobody knows. */
static int uncovered_json(struct http_request *q, const struct store_run *run,
			  const struct ledger *b, json_t **ret, struct error *e)
{
	struct store *s = q->http->options.store;
	struct coverage c;
	int r = b->from.given || b->to.given		? -ENODATA
		: strstr(q->route->pattern, "{device}") ? coverage_of_device(s, run, &c, e)
							: coverage_of_run(s, run, &c, e);

	if (is_trouble(r))
		return r;
	*ret = r < 0 ? json_null() : http_coverage_json(&c);
	return 0;
}

static int list(struct http_request *q, const struct store_run *run, struct ledger *b,
		struct http_reply *reply, struct error *e)
{
	json_t *uncovered = NULL;
	int r = store_ledger(q->http->options.store, run->number, add_loss, b, e);

	if (r >= 0)
		r = uncovered_json(q, run, b, &uncovered, e);
	if (r < 0) {
		json_decref(b->rows);
		return r;
	}
	return http_reply_json(
		reply,
		json_pack("{so so so so so so so so}", "run", json_value_count(run->number),
			  "events", json_value_count(run->events), "lost", http_lost_json(b->lost),
			  "lost_uncounted", json_value_count(b->uncounted), "ended",
			  json_boolean(run->ended), "uncovered", uncovered, "rows", b->rows, "more",
			  json_value_count(b->n > ROWS_MOST ? b->n - ROWS_MOST : 0)),
		JSON_INDENT(2), e);
}

int http_ledger(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct ledger b = { .n = 0 };
	enum http_run_kind kind;
	struct http_selection s;
	int r = http_range_get_kind(q, &kind, e);

	if (r >= 0)
		r = http_range_select_any(q, kind, &s, e);
	if (r >= 0)
		r = open_clocks(q, &s, &b, e);
	if (r >= 0) {
		b.rows = json_array();
		r = list(q, &s.run, &b, reply, e);
	}
	func_source_free(b.calls);
	return r;
}
