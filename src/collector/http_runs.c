/* SPDX-License-Identifier: MIT */
/* http_runs: the lists of runs, one run, and the ledger of one. */
#include <errno.h>

#include "analysis/json_value.h"
#include "collector/http_device.h"
#include "collector/http_range.h"
#include "trace/word.h"
#include "wire/loss.h"

#define RUNS_DEFAULT 1000U
#define RUNS_MOST 100000U
#define ROWS_MOST 100000U

struct run_list {
	json_t *list;
	struct http_names names;
	uint64_t limit, n;
};

static int add_run(void *context, const struct store_run *r)
{
	struct run_list *l = context;

	if (l->n++ < l->limit)
		json_array_append_new(l->list, http_run_json(r, &l->names));
	return 0;
}

/* device NULL: of all. */
static int list_runs(struct http_request *q, const struct message_id *device,
		     struct http_reply *reply, struct error *e)
{
	struct run_list l = { .limit = RUNS_DEFAULT };
	int r = http_target_get_count(&q->target, "limit", (struct http_bounds){ 1, RUNS_MOST },
				      &l.limit, e);

	if (r >= 0)
		r = http_names_init(&l.names, q->http->options.store, e);
	if (r < 0)
		return r;
	l.list = json_array();
	r = store_runs(q->http->options.store, device, add_run, &l, e);
	http_names_done(&l.names);
	if (r < 0) {
		json_decref(l.list);
		return r;
	}
	return http_reply_json(reply,
			       json_pack("{so so}", "runs", l.list, "more",
					 json_value_count(l.n > l.limit ? l.n - l.limit : 0)),
			       JSON_INDENT(2), e);
}

int http_runs(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return list_runs(q, NULL, reply, e);
}

int http_device_runs(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct registry_row row;
	int r = http_device_find(q->http, q->captured[0], &row, e);

	return r < 0 ? r : list_runs(q, &row.device.id, reply, e);
}

int http_run(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct http_names names;
	struct store_run run;
	int r = http_range_find_run(q, &run, e);

	if (r >= 0)
		r = http_names_init(&names, q->http->options.store, e);
	if (r < 0)
		return r;
	r = http_reply_json(reply, http_run_json(&run, &names), JSON_INDENT(2), e);
	http_names_done(&names);
	return r;
}

/* --- the ledger --- */

struct ledger {
	json_t *rows;
	const struct trace_clock *clock;
	uint64_t n;
	uint64_t lost[LOSS_CAUSES];
	uint64_t uncounted; /* rows */
};

static json_t *ns_json(const struct trace_clock *c, uint64_t tick)
{
	return tick ? json_value_count(clock_ns(c, tick)) : json_null();
}

static json_t *real_json(const struct trace_clock *c, uint64_t tick)
{
	if (!tick || !c->has_realtime)
		return json_null();
	return http_time_json(clock_ns(c, tick) + (uint64_t)c->realtime_off_ns);
}

static int add_loss(void *context, const struct store_loss *l)
{
	struct ledger *b = context;
	bool known = l->count != LOSS_UNKNOWN;
	bool has_cpu = l->stream != STREAM_META;

	if (!known)
		b->uncounted++;
	else if (l->cause < LOSS_CAUSES)
		b->lost[l->cause] += l->count;
	if (b->n++ >= ROWS_MOST)
		return 0;
	json_array_append_new(b->rows,
			      json_pack("{so so ss so so so so so so}", "stream",
					json_value_count(l->stream), "cpu",
					has_cpu ? json_value_count(l->stream - STREAM_CPU(0))
						: json_null(),
					"cause", word_cause(l->cause), "count",
					known ? json_value_count(l->count) : json_null(),
					"from_tick", json_value_count(l->from_tick), "to_tick",
					json_value_count(l->to_tick), "from_ns",
					ns_json(b->clock, l->from_tick), "to_ns",
					ns_json(b->clock, l->to_tick), "from",
					real_json(b->clock, l->from_tick)));
	return 0;
}

int http_ledger(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct ledger b = { .n = 0 };
	struct trace_clock clock;
	struct store_run run;
	int r = http_range_find_run(q, &run, e);

	if (r >= 0)
		r = http_range_get_clock(q->http, run.number, &clock, e);
	if (r < 0)
		return r;
	b.clock = &clock;
	b.rows = json_array();
	r = store_ledger(q->http->options.store, run.number, add_loss, &b, e);
	if (r < 0) {
		json_decref(b.rows);
		return r;
	}
	return http_reply_json(reply,
			       json_pack("{so so so so so so so}", "run",
					 json_value_count(run.number), "events",
					 json_value_count(run.events), "lost",
					 http_lost_json(b.lost), "lost_uncounted",
					 json_value_count(b.uncounted), "ended",
					 json_boolean(run.ended), "rows", b.rows, "more",
					 json_value_count(b.n > ROWS_MOST ? b.n - ROWS_MOST : 0)),
			       JSON_INDENT(2), e);
}
