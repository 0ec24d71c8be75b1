/* SPDX-License-Identifier: MIT */
/* http_profile_report: …/profile/report, tree, diff and timeline: what `kiseki profile` says with --json, and an overview. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_json.h"
#include "analysis/profile_timeline.h"
#include "collector/http_profile.h"

#define ROWS_MOST 1000000U
#define NODES_DEFAULT 20000U
#define WIDTH_DEFAULT 600U
#define LANES_DEFAULT 100U
#define LANES_MOST 1000U

static const char *const value_words[PROFILE_VALUES + 1] = { "samples", "weight", NULL };

/* What is shown of it. */
struct wanted {
	size_t value, by, order;
	uint64_t limit, depth, least;
	double percent;
	const char *pattern;
};

static int get_percent(struct http_request *q, double *ret, struct error *e)
{
	const char *text = http_target_get(&q->target, "percent");
	char *end;

	if (!text)
		return 0;
	errno = 0;
	*ret = strtod(text, &end);
	if (errno || end == text || *end || !(*ret >= 0 && *ret <= 100))
		return error_set(e, EINVAL, "cannot take percent=%s: it is not from 0 to 100",
				 text);
	return 0;
}

static int get_value(struct http_request *q, size_t *ret, struct error *e)
{
	*ret = PROFILE_WEIGHT;
	return http_target_get_word(&q->target, "value", value_words, ret, e);
}

/* Of lists. */
static int get_wanted(struct http_request *q, struct wanted *w, struct error *e)
{
	int r = get_value(q, &w->value, e);

	if (r >= 0)
		r = http_target_get_word(&q->target, "by", profile_by_words, &w->by, e);
	if (r >= 0)
		r = http_target_get_word(&q->target, "sort", profile_order_words, &w->order, e);
	if (r >= 0)
		r = http_target_get_count(&q->target, "limit", (struct http_bounds){ 1, ROWS_MOST },
					  &w->limit, e);
	if (r >= 0)
		r = get_percent(q, &w->percent, e);
	w->pattern = http_target_get(&q->target, "function");
	return r;
}

/* --- report --- */

int http_profile_report(struct http_request *q, struct http_reply *reply, struct error *e)
{
	CLEANUP_HTTP_PROFILE struct http_profile p = { .q = NULL };
	CLEANUP(profile_report) struct profile_report *report = NULL;
	struct wanted w = { .limit = 0 };
	int r = get_wanted(q, &w, e);

	if (r >= 0)
		r = http_profile_open(&p, q, &http_range_of_path, false, e);
	if (r >= 0)
		r = profile_report_new(&report, &p.walk, (enum profile_by)w.by, false, e);
	if (r < 0)
		return r;
	profile_report_filter(report, w.pattern, w.percent, (enum profile_value)w.value);
	profile_report_sort(report, (enum profile_order)w.order, (enum profile_value)w.value);
	return http_reply_json(reply, profile_report_json(report, p.source, w.limit), JSON_COMPACT,
			       e);
}

/* --- tree --- */

static int get_shape(struct http_request *q, struct profile_shape *s, struct error *e)
{
	static const char *const groups[] = { "none", "process", "thread", NULL };
	static const char *const choices[] = { "0", "1", NULL };
	size_t group = 1, callers = 0;
	int r = http_target_get_word(&q->target, "groups", groups, &group, e);

	if (r >= 0)
		r = http_target_get_word(&q->target, "callers", choices, &callers, e);
	/* As the command line does: threads are of one process, and that has a number. */
	s->processes = group >= 1;
	s->threads = s->numbered = group == 2;
	s->turned = callers;
	return r;
}

static int get_nodes(struct http_request *q, struct wanted *w, struct error *e)
{
	int r = get_value(q, &w->value, e);

	w->limit = NODES_DEFAULT;
	if (r >= 0)
		r = http_target_get_count(&q->target, "limit",
					  (struct http_bounds){ 1, PROFILE_FOLD_ROWS_MAX },
					  &w->limit, e);
	if (r >= 0)
		r = http_target_get_count(&q->target, "depth",
					  (struct http_bounds){ 1, UINT32_MAX }, &w->depth, e);
	if (r >= 0)
		r = http_target_get_count(&q->target, "min", (struct http_bounds){ 0, INT64_MAX },
					  &w->least, e);
	return r;
}

static int reply_tree(const struct http_profile *p, struct profile_stacks *s,
		      const struct wanted *w, struct http_reply *reply, struct error *e)
{
	const struct profile_fold_options o = { (uint32_t)w->depth, w->least, w->limit,
						(enum profile_value)w->value };
	CLEANUP(profile_fold) struct profile_fold *fold = NULL;
	int r;

	if (profile_stacks_sort(s, o.value) < 0)
		return error_set(e, ENOMEM, "cannot sort the stacks: out of memory");
	r = profile_fold_new(&fold, s->tree, &o, e);
	return r < 0 ? r
		     : http_reply_json(reply, profile_fold_json(fold, s, p->source), JSON_COMPACT,
				       e);
}

int http_profile_tree(struct http_request *q, struct http_reply *reply, struct error *e)
{
	CLEANUP_HTTP_PROFILE struct http_profile p = { .q = NULL };
	CLEANUP_PROFILE_STACKS struct profile_stacks stacks = { .tree = NULL };
	struct profile_shape shape = { .processes = false };
	struct wanted w = { .limit = 0 };
	int r = get_nodes(q, &w, e);

	if (r >= 0)
		r = get_shape(q, &shape, e);
	if (r >= 0)
		r = http_profile_open(&p, q, &http_range_of_path, false, e);
	if (r >= 0)
		r = profile_stacks_init(&stacks, &p.walk, &shape, e);
	return r < 0 ? r : reply_tree(&p, &stacks, &w, reply, e);
}

/* --- diff --- */

struct sides {
	struct http_profile profiles[2];
	struct profile_report *reports[2];
	struct profile_diff *diff;
};

static void sides_done(struct sides *s)
{
	int i;

	profile_diff_free(s->diff);
	for (i = 0; i < 2; i++) {
		profile_report_free(s->reports[i]);
		http_profile_close(&s->profiles[i]);
	}
}

static int read_side(struct sides *s, int which, struct http_request *q,
		     const struct http_range_part *part, struct error *e)
{
	size_t by = PROFILE_BY_FUNCTION;
	int r = http_target_get_word(&q->target, "by", profile_by_words, &by, e);

	if (r >= 0)
		r = http_profile_open(&s->profiles[which], q, part, false, e);
	return r < 0 ? r
		     : profile_report_new(&s->reports[which], &s->profiles[which].walk,
					  (enum profile_by)by, true, e);
}

int http_profile_diff(struct http_request *q, struct http_reply *reply, struct error *e)
{
	__attribute__((cleanup(sides_done))) struct sides s = { .diff = NULL };
	struct wanted w = { .limit = 0 };
	struct http_range_part with;
	int r = get_wanted(q, &w, e);

	if (r >= 0)
		r = http_range_check_with(q, e);
	if (r >= 0)
		r = read_side(&s, 0, q, &http_range_of_path, e);
	if (r < 0)
		return r;
	http_range_get_with(q, s.profiles[0].selection.run.number, &with);
	r = read_side(&s, 1, q, &with, e);
	if (r >= 0)
		r = profile_diff_new(&s.diff, s.reports[0], s.reports[1],
				     (enum profile_value)w.value, e);
	if (r < 0)
		return r;
	profile_diff_sort(s.diff, (enum profile_order)w.order);
	return http_reply_json(reply, profile_diff_json(s.diff, w.limit), JSON_COMPACT, e);
}

/* --- timeline --- */

static int get_timeline(struct http_request *q, struct profile_timeline_options *o, struct error *e)
{
	static const char *const words[] = { "cpu", "process", "thread", NULL };
	static const enum profile_by bys[] = { PROFILE_BY_CPU, PROFILE_BY_PROCESS,
					       PROFILE_BY_THREAD };
	size_t value = 0, by = 0;
	uint64_t width = WIDTH_DEFAULT;
	int r = get_value(q, &value, e);

	o->limit = LANES_DEFAULT;
	if (r >= 0)
		r = http_target_get_word(&q->target, "by", words, &by, e);
	if (r >= 0)
		r = http_target_get_count(&q->target, "width",
					  (struct http_bounds){ 1, PROFILE_TIMELINE_WIDTH_MAX },
					  &width, e);
	if (r >= 0)
		r = http_target_get_count(&q->target, "limit",
					  (struct http_bounds){ 1, LANES_MOST }, &o->limit, e);
	o->value = (enum profile_value)value;
	o->by = bys[by];
	o->width = (uint32_t)width;
	return r;
}

int http_profile_timeline(struct http_request *q, struct http_reply *reply, struct error *e)
{
	CLEANUP_HTTP_PROFILE struct http_profile p = { .q = NULL };
	CLEANUP(profile_timeline) struct profile_timeline *t = NULL;
	struct profile_timeline_options o = { .width = 0 };
	int r = get_timeline(q, &o, e);

	if (r >= 0)
		r = http_profile_open(&p, q, &http_range_of_path, false, e);
	if (r < 0)
		return r;
	o.from_ns = p.from_ns;
	o.to_ns = p.to_ns;
	/* Idle is a part of the picture, of CPUs at least. */
	if (!p.select.modes)
		p.select.modes = (1U << SAMPLE_MODES) - 1;
	r = profile_timeline_new(&t, &p.walk, &o, e);
	return r < 0 ? r : http_reply_json(reply, profile_timeline_json(t), JSON_COMPACT, e);
}
