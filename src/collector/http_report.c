/* SPDX-License-Identifier: MIT */
/*
 * http_report: GET …/report/sched and …/report/latency: the documents of `kiseki report --json`
 * (docs/reports.md), computed while the client waits.
 */
#include <errno.h>
#include <string.h>

#include "analysis/latency_json.h"
#include "analysis/running_json.h"
#include "collector/http_range.h"

#define LIMIT_DEFAULT 20
#define LIMIT_MOST UINT32_MAX
#define WORST_DEFAULT 5
#define LOOK_EVERY 65536U /* items */

struct report {
	struct trace_source *source;
	struct trace_filter tasks;
	uint64_t limit, worst;
	size_t order;
};

static int parse_word(struct http_request *q, const char *name, const char *const words[],
		      size_t *ret, struct error *e)
{
	const char *text = http_target_get(&q->target, name);
	size_t i;

	if (!text)
		return 0;
	for (i = 0; words[i]; i++)
		if (!strcmp(words[i], text)) {
			*ret = i;
			return 0;
		}
	return error_set(e, EINVAL, "cannot take %s=%s: see /api/v1/openapi.json for its words",
			 name, text);
}

static int open_report(struct http_request *q, struct report *p, const char *const words[],
		       struct error *e)
{
	struct http_selection s;
	int r;

	p->limit = LIMIT_DEFAULT;
	p->worst = WORST_DEFAULT;
	r = http_target_get_count(&q->target, "limit", (struct http_bounds){ 0, LIMIT_MOST },
				  &p->limit, e);
	if (r >= 0)
		r = http_target_get_count(&q->target, "worst",
					  (struct http_bounds){ 0, LATENCY_CASES_MAX }, &p->worst,
					  e);
	if (r >= 0)
		r = parse_word(q, "sort", words, &p->order, e);
	if (r >= 0)
		r = http_range_select(q, &s, e);
	return r < 0 ? r : http_range_open(q, &s, &p->tasks, &p->source, e);
}

static void close_report(struct report *p)
{
	source_free(p->source);
	filter_done(&p->tasks);
}

/* Hands all items to a report. */
static int feed(struct http_request *q, struct report *p, void *to,
		int (*add)(void *to, const struct trace_item *item, struct error *e),
		struct error *e)
{
	struct trace_item item;
	uint64_t n = 0;
	int r = 0, more = 1;

	while (r >= 0 && (more = p->source->ops->next(p->source, &item, e)) > 0) {
		r = add(to, &item, e);
		if (++n % LOOK_EVERY == 0 && http_request_is_over(q))
			return error_set(e, ECANCELED, "the client has gone");
	}
	return r < 0 ? r : more;
}

static int add_running(void *to, const struct trace_item *item, struct error *e)
{
	return running_add(to, item, e);
}

static int add_latency(void *to, const struct trace_item *item, struct error *e)
{
	return latency_add(to, item, e);
}

static int report_running(struct http_request *q, struct report *p, struct http_reply *reply,
			  struct error *e)
{
	CLEANUP(running) struct running *w = NULL;
	int r;

	if (running_new(&w, &p->source->info) < 0)
		return error_set(e, ENOMEM, "cannot make the report: out of memory");
	running_select(w, &p->tasks);
	r = feed(q, p, w, add_running, e);
	if (r >= 0)
		r = running_finish(w, e);
	if (r < 0)
		return r;
	running_sort(w, (enum running_order)p->order);
	return http_reply_json(reply, running_json(w, p->limit), JSON_INDENT(2), e);
}

static int report_latency(struct http_request *q, struct report *p, struct http_reply *reply,
			  struct error *e)
{
	CLEANUP(latency) struct latency *w = NULL;
	int r;

	if (latency_new(&w, &p->source->info, (uint32_t)p->worst) < 0)
		return error_set(e, ENOMEM, "cannot make the report: out of memory");
	latency_select(w, &p->tasks);
	r = feed(q, p, w, add_latency, e);
	if (r >= 0)
		r = latency_finish(w, e);
	if (r < 0)
		return r;
	latency_sort(w, (enum latency_order)p->order);
	return http_reply_json(reply, latency_json(w, p->limit), JSON_INDENT(2), e);
}

int http_report_sched(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct report p = { .order = RUNNING_BY_CPU };
	int r;

	filter_init(&p.tasks);
	r = open_report(q, &p, running_order_words, e);
	if (r >= 0)
		r = report_running(q, &p, reply, e);
	close_report(&p);
	return r;
}

int http_report_latency(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct report p = { .order = LATENCY_BY_MAX };
	int r;

	filter_init(&p.tasks);
	r = open_report(q, &p, latency_order_words, e);
	if (r >= 0)
		r = report_latency(q, &p, reply, e);
	close_report(&p);
	return r;
}
