/* SPDX-License-Identifier: MIT */
/* http_events: GET …/events: a page of a run's events. */
#include <errno.h>

#include "collector/event_page.h"
#include "collector/http_range.h"
#include "collector/http_turn.h"

static bool is_over(const void *context)
{
	return http_request_is_over(context);
}

static int parse_cursor(struct http_request *q, struct event_query *query, struct error *e)
{
	const char *after = http_target_get(&q->target, "after");
	const char *before = http_target_get(&q->target, "before");
	const char *text = after ? after : before;

	if (after && before)
		return error_set(e, EINVAL, "cannot take both after= and before=");
	query->backward = before;
	query->has_cursor = text && *text;
	if (!query->has_cursor || event_cursor_parse(text, &query->cursor) == 0)
		return 0;
	return error_set(e, EINVAL, "cannot take %s=%s: it is not a cursor of an answer",
			 after ? "after" : "before", text);
}

static int make_page(struct http_request *q, struct event_query *query, struct http_reply *reply,
		     struct error *e)
{
	char *text = NULL;
	size_t len = 0;
	int r = http_turn_take(q, e);

	if (r < 0)
		return r;
	r = event_page_make(q->http->options.store, query, &text, &len, e);
	http_turn_put(q);
	return r < 0 ? r : http_reply_text(reply, "application/json", text, len, e);
}

int http_events(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct trace_filter filter;
	struct event_query query = { .filter = &filter, .is_over = is_over, .context = q };
	uint64_t limit = EVENT_PAGE_DEFAULT;
	struct http_selection s;
	int r = http_target_get_count(&q->target, "limit",
				      (struct http_bounds){ 1, EVENT_PAGE_MAX }, &limit, e);

	if (r >= 0)
		r = parse_cursor(q, &query, e);
	if (r >= 0)
		r = http_range_select(q, &s, e);
	if (r < 0)
		return r;
	query.run = s.run;
	query.from_ns = s.from.given ? s.from.ns : 0;
	query.to_ns = s.to.given ? s.to.ns : UINT64_MAX;
	query.limit = (uint32_t)limit;
	filter_init(&filter);
	r = http_range_get_filter(q, &filter, e);
	if (r >= 0)
		r = make_page(q, &query, reply, e);
	filter_done(&filter);
	return r;
}
