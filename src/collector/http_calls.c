/* SPDX-License-Identifier: MIT */
/*
 * http_calls: see http_calls.h.
 *
 * Each request opens the run for itself and reads it once. Such a reading takes a CPU for as long as it
 * lasts, so it counts as an export does, and ends when its client has gone.
 */
#include "collector/http_calls.h"

#include <errno.h>
#include <string.h>

#include "analysis/json_value.h"
#include "collector/http_marks.h"
#include "collector/http_symbols.h"
#include "trace/func_clock.h"
#include "trace/func_ksk.h"
#include "trace/func_sched.h"
#include "trace/func_store.h"

#define LOOK_EVERY 16384U /* items */

static int step(void *data)
{
	struct http_calls *c = data;

	if (++c->items % LOOK_EVERY || !http_request_is_over(c->q))
		return 0;
	return -ECANCELED;
}

/* --- the other clock --- */

/* Both clocks may drift apart a little over a long run; the offset is that in the middle of the time that is
 * asked for. */
static void find_join(struct http_calls *c)
{
	uint64_t from = c->window.from_ns > c->from_ns ? c->window.from_ns : c->from_ns;
	uint64_t to = c->window.to_ns < c->to_ns ? c->window.to_ns : c->to_ns;
	uint64_t lacks, tick;
	struct trace_clock clock;

	if (!c->sched.number ||
	    http_range_get_clock(c->q->http, c->sched.number, &clock, NULL) < 0 ||
	    func_sched_offset(&c->source->clock, &clock, &lacks, NULL) < 0)
		return;
	tick = clock_tick_at(&c->source->clock, to > from ? from + (to - from) / 2 : from);
	c->join.run = c->sched.number;
	c->join.offset_ns = (int64_t)(func_clock_ns(c->source, tick) - lacks -
				      clock_ns(&c->source->clock, tick));
}

/* --- opening --- */

static int find_run(struct http_calls *c, const struct http_range_part *p, struct error *e)
{
	struct store_run *run = &c->selection.run;
	int r = p->run ? http_range_parse_run(c->q->http, p->run, run, e)
		       : http_range_find_run(c->q, HTTP_RUN_FUNC, run, e);

	if (r >= 0 && !run->threads)
		r = error_set(e, ENODATA, "run %u has no calls", run->number);
	if (r >= 0)
		r = func_store_find_sched(c->q->http->options.store, run, &c->sched, e);
	return r;
}

static int find_span(struct http_calls *c, struct error *e)
{
	uint64_t from, to;
	int r = func_ksk_span(c->source, &from, &to);

	if (r < 0)
		return error_set(e, -r, "cannot read the calls: %s", strerror(-r));
	if (!r)
		return 0;
	c->selection.run.first_tick = from;
	c->from_ns = clock_ns(&c->source->clock, from);
	c->to_ns = clock_ns(&c->source->clock, to);
	return 0;
}

static int find_ends(struct http_calls *c, struct error *e)
{
	uint64_t tick;
	uint32_t i;
	int r = 0;

	c->last_ns = calloc(c->source->n_threads + 1, sizeof(*c->last_ns));
	if (!c->last_ns)
		return error_set(e, ENOMEM, "cannot read the calls: out of memory");
	for (i = 0; i < c->source->n_threads && r == 0; i++) {
		r = func_ksk_last_tick(c->source, i, &tick);
		c->last_ns[i] = clock_ns(&c->source->clock, tick);
	}
	return r < 0 ? error_set(e, -r, "cannot read the calls: %s", strerror(-r)) : 0;
}

static int open_source(struct http_calls *c, const struct http_range_part *p, struct error *e)
{
	struct http_selection *s = &c->selection;
	int r = func_ksk_open_run(c->q->http->options.store, s->run.number, &c->source, e);

	if (r < 0)
		return r;
	s->clock = c->source->clock;
	s->to_tick = UINT64_MAX;
	r = find_span(c, e);
	if (r < 0)
		return r;
	r = http_range_select_times(c->q, p->from, p->to, s, e);
	if (r < 0)
		return r;
	c->window.from_ns = s->from.given ? s->from.ns : c->from_ns;
	c->window.to_ns = s->to.given ? s->to.ns : c->to_ns + 1;
	if (c->window.from_ns >= c->window.to_ns)
		c->window.to_ns = c->window.from_ns + 1;
	find_join(c);
	r = find_ends(c, e);
	c->window.last_ns = c->last_ns;
	c->window.final = true;
	return r;
}

/* As the command line does: what has records of its own needs none, and calls are worth having without. */
static int join(struct http_calls *c, struct error *e)
{
	struct store *store = c->q->http->options.store;
	struct trace_source *sched = NULL;
	struct func_source *joined = NULL;
	int r;

	if (!c->join.run || c->selection.run.split)
		return 0;
	r = func_store_open_sched(store, c->join.run, c->source, &sched, e);
	if (r < 0)
		return r;
	r = func_sched_new(take_ptr(c->source), sched, &joined, e);
	c->source = joined;
	c->window.final = false; /* the scheduler tells more of a thread than its own calls do */
	return r;
}

/* Begins at the last mark before the window, if there is one. Streams that end before it may be missing
 * then; where that changes the numbers of threads, it is read from its start. */
static int skip(struct http_calls *c, struct error *e)
{
	const struct http_selection *s = &c->selection;
	uint64_t tick = clock_tick_at(&s->clock, c->window.from_ns);
	struct func_source *later = NULL;
	int r;

	if (!s->run.ended)
		return 0;
	c->marks = http_marks_get(c->q->http->marks, s->run.number, HTTP_MARKS_CALLS);
	r = c->marks ? call_marks_dup(c->marks, tick, &c->resume) : 0;
	if (r <= 0)
		return r < 0 ? error_set(e, -r, "cannot read the calls: out of memory") : 0;
	r = func_ksk_open_from(c->q->http->options.store, s->run.number, c->resume.tick, &later, e);
	if (r >= 0 && later->n_threads == c->source->n_threads) {
		func_source_free(c->source);
		c->source = later;
		return 0;
	}
	func_source_free(later);
	call_mark_done(&c->resume);
	return r;
}

static int open_names(struct http_calls *c, struct error *e)
{
	struct http_symbols from;
	int r;

	http_symbols_init(&from, &c->q->http->options);
	r = http_symbols_open(&from, &c->symbols, e);
	return r < 0 ? r : call_names_new(&c->names, c->source, c->symbols, e);
}

static void fill_walk(struct http_calls *c)
{
	const struct http_selection *s = &c->selection;

	c->select.processes = http_target_get(&c->q->target, "process");
	c->select.threads = http_target_get(&c->q->target, "thread");
	c->walk.source = c->source;
	c->walk.names = c->names;
	c->walk.select = &c->select;
	c->walk.window = s->from.given || s->to.given ? &c->window : NULL;
	c->walk.resume = c->resume.tick ? &c->resume : NULL;
	c->walk.marks = c->select.processes || c->select.threads ? NULL : c->marks;
	c->walk.step = step;
	c->walk.step_data = c;
}

int http_calls_open(struct http_calls *c, struct http_request *q, const struct http_range_part *p,
		    bool joined, struct error *e)
{
	int r;

	memset(c, 0, sizeof(*c));
	c->q = q;
	c->counted = true;
	if (atomic_fetch_add(&q->http->exports, 1) >= HTTP_EXPORTS_MAX)
		return error_set(e, EBUSY, "%u exports and reports are under way; try again later",
				 HTTP_EXPORTS_MAX);
	r = find_run(c, p, e);
	if (r >= 0)
		r = open_source(c, p, e);
	if (r >= 0)
		r = joined ? join(c, e) : skip(c, e);
	if (r >= 0)
		r = open_names(c, e);
	if (r >= 0)
		fill_walk(c);
	return r;
}

void http_calls_close(struct http_calls *c)
{
	if (c->counted)
		atomic_fetch_sub(&c->q->http->exports, 1);
	call_names_free(c->names);
	symbols_free(c->symbols);
	func_source_free(c->source);
	free(c->last_ns);
	call_mark_done(&c->resume);
	marks_unref(c->marks);
	memset(c, 0, sizeof(*c));
}

json_t *http_calls_json(struct http_request *q, const struct store_run *run)
{
	struct http_calls c = { .q = q, .selection = { .run = *run } };
	struct store *store = q->http->options.store;
	json_t *o = NULL;
	int r = func_store_find_sched(store, run, &c.sched, NULL);

	if (r >= 0)
		r = func_ksk_open_run(store, run->number, &c.source, NULL);
	if (r >= 0)
		r = find_span(&c, NULL);
	if (r < 0) {
		func_source_free(c.source);
		return r == -ENOMEM ? NULL : json_null();
	}
	c.window.to_ns = UINT64_MAX;
	find_join(&c);
	if (c.to_ns)
		o = json_pack("{so so so}", "from_ns", json_value_count(c.from_ns), "to_ns",
			      json_value_count(c.to_ns), "sched",
			      c.join.run ? json_pack("{so so}", "run", json_value_count(c.join.run),
						     "offset_ns", json_integer(c.join.offset_ns))
					 : json_null());
	else
		o = json_null();
	func_source_free(c.source);
	return o;
}
