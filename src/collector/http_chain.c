/* SPDX-License-Identifier: MIT */
/* http_chain: GET …/chain: the wakeups that led to what a task did at a time. */
#include <errno.h>

#include "collector/http_range.h"
#include "collector/http_turn.h"
#include "collector/wake_chain.h"

static bool is_over(const void *context)
{
	return http_request_is_over(context);
}

int http_chain(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct wake_chain_query query = { .is_over = is_over, .context = q };
	uint64_t pid = 0, limit = WAKE_CHAIN_DEFAULT;
	struct trace_clock clock;
	json_t *document = NULL;
	int r = 0;

	if (!http_target_get(&q->target, "pid") || !http_target_get(&q->target, "at_ns"))
		r = error_set(e, EINVAL, "a chain needs pid= and at_ns=");
	if (r >= 0)
		r = http_target_get_count(&q->target, "pid", (struct http_bounds){ 1, INT32_MAX },
					  &pid, e);
	if (r >= 0)
		r = http_target_get_count(&q->target, "at_ns", (struct http_bounds){ 0, INT64_MAX },
					  &query.at_ns, e);
	if (r >= 0)
		r = http_target_get_count(&q->target, "limit",
					  (struct http_bounds){ 1, WAKE_CHAIN_MAX }, &limit, e);
	if (r >= 0)
		r = http_range_find_run(q, HTTP_RUN_SCHED, &query.run, e);
	if (r >= 0)
		r = http_range_get_clock(q->http, query.run.number, &clock, e);
	if (r < 0)
		return r;
	query.first_ns = clock_ns(&clock, query.run.first_tick);
	query.last_ns = clock_ns(&clock, query.run.last_tick);
	query.pid = (int32_t)pid;
	query.limit = (uint32_t)limit;
	r = http_turn_take(q, e);
	if (r < 0)
		return r;
	r = wake_chain_make(q->http->options.store, &query, &document, e);
	http_turn_put(q);
	return r < 0 ? r : http_reply_json(reply, document, JSON_INDENT(2), e);
}
