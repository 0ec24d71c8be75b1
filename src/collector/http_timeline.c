/* SPDX-License-Identifier: MIT */
/* http_timeline: GET …/timeline: what fits the pixels that are asked for, from the summaries. */
#include <errno.h>

#include "collector/http_range.h"
#include "collector/timeline.h"

#define WIDTH_DEFAULT 1000U
#define TASKS_DEFAULT 32U

int http_timeline(struct http_request *q, struct http_reply *reply, struct error *e)
{
	uint64_t width = WIDTH_DEFAULT, tasks = TASKS_DEFAULT;
	struct timeline_query query;
	struct http_selection s;
	json_t *document = NULL;
	int r = http_target_get_count(&q->target, "width",
				      (struct http_bounds){ 1, TIMELINE_WIDTH_MAX }, &width, e);

	if (r >= 0)
		r = http_target_get_count(&q->target, "tasks",
					  (struct http_bounds){ 0, TIMELINE_TASKS_MAX }, &tasks, e);
	if (r >= 0 && !q->http->options.summaries)
		r = error_set(e, EOPNOTSUPP, "this collector makes no summaries");
	if (r >= 0)
		r = http_range_select(q, &s, e);
	if (r < 0)
		return r;
	query = (struct timeline_query){
		.run = s.run.number,
		.from_tick = s.from_tick,
		.to_tick = s.to_tick,
		.width = (uint32_t)width,
		.tasks_max = (uint32_t)tasks,
	};
	r = timeline_json(q->http->options.summaries, &query, &document, e);
	return r < 0 ? r : http_reply_json(reply, document, JSON_COMPACT, e);
}
