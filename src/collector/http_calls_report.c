/* SPDX-License-Identifier: MIT */
/*
 * http_calls_report: …/calls/report, tree, diff and slices: what `kiseki func` says with --json, and spans
 * for a timeline.
 *
 * Without a folder of the devices' objects (`kiseki serve --symbols`) a function is named by its object and
 * place, unless the run names it itself.
 */
#include <errno.h>
#include <microhttpd.h>
#include <string.h>

#include "analysis/call_json.h"
#include "base/when.h"
#include "collector/http_calls.h"

#define FUNCTIONS_MOST 1000000U
#define NODES_DEFAULT 20000U
#define SPANS_DEFAULT 100000U

/* What is shown of it. */
struct wanted {
	uint64_t limit, depth, min_ns;
	uint32_t order;
	const char *pattern;
};

static int get_order(struct http_request *q, uint32_t *ret, struct error *e)
{
	const char *text = http_target_get(&q->target, "sort");
	uint32_t i;

	*ret = CALL_BY_LOCAL;
	if (!text)
		return 0;
	for (i = 0; i < CALL_ORDERS; i++)
		if (!strcmp(text, call_order_words[i])) {
			*ret = i;
			return 0;
		}
	return error_set(e, EINVAL,
			 "cannot take sort=%s: it is local, total, calls, avg, max or name", text);
}

static int get_length(struct http_request *q, const char *name, uint64_t *ret, struct error *e)
{
	const char *text = http_target_get(&q->target, name);
	int r = text ? when_parse_length(text, ret, e) : 0;

	return r < 0 ? error_prefix(e, EINVAL, "cannot take %s=", name) : 0;
}

static int get_wanted(struct http_request *q, uint64_t most, struct wanted *w, struct error *e)
{
	int r = http_target_get_count(&q->target, "limit", (struct http_bounds){ 1, most },
				      &w->limit, e);

	if (r >= 0)
		r = http_target_get_count(&q->target, "depth",
					  (struct http_bounds){ 1, CALL_DEPTH_MAX }, &w->depth, e);
	if (r >= 0)
		r = get_length(q, "min", &w->min_ns, e);
	if (r >= 0)
		r = get_order(q, &w->order, e);
	w->pattern = http_target_get(&q->target, "function");
	return r;
}

/* --- report --- */

static int make_report(struct http_calls *c, const struct wanted *w, struct call_report **ret,
		       struct error *e)
{
	int r = call_report_new(ret, &c->walk, e);

	if (r < 0)
		return r;
	call_report_filter(*ret, w->pattern, w->min_ns);
	call_report_sort(*ret, (enum call_order)w->order);
	return 0;
}

int http_calls_report(struct http_request *q, struct http_reply *reply, struct error *e)
{
	CLEANUP_HTTP_CALLS struct http_calls c = { .q = NULL };
	CLEANUP(call_report) struct call_report *report = NULL;
	struct wanted w = { .limit = 0 };
	int r = get_wanted(q, FUNCTIONS_MOST, &w, e);

	if (r >= 0)
		r = http_calls_open(&c, q, &http_range_of_path, true, e);
	if (r >= 0)
		r = make_report(&c, &w, &report, e);
	return r < 0 ? r
		     : http_reply_json(reply, call_report_json(report, w.limit), JSON_COMPACT, e);
}

/* --- tree --- */

int http_calls_tree(struct http_request *q, struct http_reply *reply, struct error *e)
{
	CLEANUP_HTTP_CALLS struct http_calls c = { .q = NULL };
	CLEANUP(call_tree) struct call_tree *tree = NULL;
	CLEANUP(call_fold) struct call_fold *fold = NULL;
	struct wanted w = { .limit = NODES_DEFAULT };
	struct call_fold_options o;
	int r = get_wanted(q, CALL_FOLD_ROWS_MAX, &w, e);

	if (r >= 0)
		r = http_calls_open(&c, q, &http_range_of_path, true, e);
	if (r >= 0)
		r = call_tree_new(&tree, &c.walk, e);
	if (r < 0)
		return r;
	call_tree_sort(tree);
	o = (struct call_fold_options){ (uint32_t)w.depth, w.min_ns, w.limit };
	r = call_fold_new(&fold, tree, &o, e);
	return r < 0 ? r : http_reply_json(reply, call_fold_json(fold), JSON_COMPACT, e);
}

/* --- diff --- */

struct sides {
	struct http_calls calls[2];
	struct call_report *reports[2];
	struct call_diff *diff;
};

static void sides_done(struct sides *s)
{
	int i;

	call_diff_free(s->diff);
	for (i = 0; i < 2; i++) {
		call_report_free(s->reports[i]);
		http_calls_close(&s->calls[i]);
	}
}

int http_calls_diff(struct http_request *q, struct http_reply *reply, struct error *e)
{
	__attribute__((cleanup(sides_done))) struct sides s = { .diff = NULL };
	struct wanted w = { .limit = 0 };
	struct http_range_part with;
	int r = get_wanted(q, FUNCTIONS_MOST, &w, e);

	if (r >= 0)
		r = http_range_check_with(q, e);
	if (r >= 0)
		r = http_calls_open(&s.calls[0], q, &http_range_of_path, true, e);
	if (r >= 0)
		r = make_report(&s.calls[0], &w, &s.reports[0], e);
	if (r < 0)
		return r;
	http_range_get_with(q, s.calls[0].selection.run.number, &with);
	r = http_calls_open(&s.calls[1], q, &with, true, e);
	if (r >= 0)
		r = make_report(&s.calls[1], &w, &s.reports[1], e);
	if (r >= 0)
		r = call_diff_new(&s.diff, s.reports[0], s.reports[1], e);
	if (r < 0)
		return r;
	call_diff_sort(s.diff, (enum call_order)w.order);
	return http_reply_json(reply, call_diff_json(s.diff, w.limit), JSON_COMPACT, e);
}

/* --- slices --- */

static int make_slices(struct http_calls *c, const struct call_slices_options *o, uint8_t **ret,
		       size_t *ret_len, struct error *e)
{
	CLEANUP(call_slices) struct call_slices *s = NULL;
	int r = call_slices_new(&s, &c->walk, o, e);

	return r < 0 ? r : call_slices_encode(s, ret, ret_len, e);
}

int http_calls_slices(struct http_request *q, struct http_reply *reply, struct error *e)
{
	CLEANUP_HTTP_CALLS struct http_calls c = { .q = NULL };
	struct call_slices_options o = { .limit = SPANS_DEFAULT };
	uint8_t *bytes = NULL;
	size_t len = 0;
	int r = http_target_get_count(&q->target, "limit",
				      (struct http_bounds){ 1, CALL_SLICES_MAX }, &o.limit, e);

	if (r >= 0)
		r = http_target_get_count(&q->target, "min_ns",
					  (struct http_bounds){ 0, INT64_MAX }, &o.min_ns, e);
	if (r >= 0)
		r = http_calls_open(&c, q, &http_range_of_path, false, e);
	if (r < 0)
		return r;
	c.walk.window = &c.window;
	o.join = c.join;
	o.final = c.selection.run.ended;
	r = make_slices(&c, &o, &bytes, &len, e);
	if (r == -E2BIG)
		reply->status = MHD_HTTP_CONTENT_TOO_LARGE;
	return r < 0 ? r
		     : http_reply_text(reply, "application/x-kiseki-calls", (char *)bytes, len, e);
}
