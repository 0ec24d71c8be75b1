/* SPDX-License-Identifier: MIT */
/* http_range: see http_range.h. */
#include "collector/http_range.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/when.h"
#include "collector/http_device.h"
#include "trace/filter_parse.h"
#include "trace/run_source.h"

/* Blocks come a little after their events; a run is not passed over for that. */
#define ARRIVAL_NS 60000000000ULL

static bool is_after_start(const char *text)
{
	return text && *text == '+';
}

/* A point in real time; *ret stays for what is not given and for those after the run's start. */
static int parse_point(const char *name, const char *text, uint64_t *ret, struct error *e)
{
	int r;

	if (!text || is_after_start(text))
		return 0;
	r = when_parse(text, clock_real_ns(), ret, e);
	return r < 0 ? error_prefix(e, -r, "cannot take %s=", name) : 0;
}

/* --- the run --- */

/* The latest run of each kind: a device may send one of each at the same time. One of which only the
 * description came, kept as that of any, may become either, and will do where there is no other. */
struct latest {
	const struct registry_row *row;
	uint64_t from_ns, to_ns;
	struct store_run run[HTTP_RUN_KINDS]; /* the number is 0: there is none */
};

bool http_range_is_alive(const struct registry_row *row, const struct store_run *r)
{
	return !r->ended && registry_is_sent(row, r->number);
}

bool http_range_is_later(const struct registry_row *row, const struct store_run *r,
			 const struct store_run *than)
{
	return !than->number || (http_range_is_alive(row, r) && !http_range_is_alive(row, than));
}

static enum http_run_kind kind_of(const struct store_run *r)
{
	if (r->cpus)
		return HTTP_RUN_SCHED;
	if (r->threads)
		return HTTP_RUN_FUNC;
	if (r->has_boot)
		return HTTP_RUN_BOOT;
	return r->samplers ? HTTP_RUN_PROFILE : HTTP_RUN_ANY;
}

static int take_latest(void *context, const struct store_run *r)
{
	struct latest *l = context;
	struct store_run *to, *guests;
	uint64_t until = r->ended ? r->last_ns + ARRIVAL_NS : UINT64_MAX;

	if (!r->blocks || r->first_ns > l->to_ns + ARRIVAL_NS || until < l->from_ns)
		return 0;
	to = &l->run[kind_of(r)];
	guests = &l->run[HTTP_RUN_VM];
	if (http_range_is_later(l->row, r, to))
		*to = *r;
	if (to == &l->run[HTTP_RUN_PROFILE] && r->has_guests &&
	    http_range_is_later(l->row, r, guests))
		*guests = *r;
	return 0;
}

int http_range_get_kind(struct http_request *q, enum http_run_kind *ret, struct error *e)
{
	static const char *const names[HTTP_RUN_KINDS] = { "",	   "sched",   "func",
							   "boot", "profile", "vm" };
	const char *text = http_target_get(&q->target, "kind");
	uint32_t i;

	*ret = HTTP_RUN_ANY;
	if (!text)
		return 0;
	for (i = HTTP_RUN_SCHED; i < HTTP_RUN_KINDS; i++)
		if (!strcmp(text, names[i]))
			*ret = (enum http_run_kind)i;
	if (*ret == HTTP_RUN_ANY)
		return error_set(e, EINVAL,
				 "cannot take kind=%s: it is sched, func, boot, "
				 "profile or vm",
				 text);
	return 0;
}

static const struct store_run *choose_latest(const struct latest *l, enum http_run_kind kind)
{
	uint32_t i;

	for (i = HTTP_RUN_SCHED; i < HTTP_RUN_KINDS; i++)
		if ((kind == HTTP_RUN_ANY || kind == i) && l->run[i].number)
			return &l->run[i];
	if (kind != HTTP_RUN_ANY && kind != HTTP_RUN_SCHED)
		return NULL;
	return l->run[HTTP_RUN_ANY].number ? &l->run[HTTP_RUN_ANY] : NULL;
}

/* What of, where it has others. */
static const char *lacking(const struct latest *l, enum http_run_kind kind)
{
	if (kind == HTTP_RUN_FUNC)
		return " of its programs";
	if (kind == HTTP_RUN_BOOT)
		return " of its boot";
	if (kind == HTTP_RUN_PROFILE)
		return " that is a profile";
	if (kind == HTTP_RUN_VM)
		return " of virtual machines";
	return l->run[HTTP_RUN_FUNC].number || l->run[HTTP_RUN_BOOT].number ? " of its scheduler"
									    : "";
}

static int find_latest(struct http_request *q, enum http_run_kind kind, struct store_run *ret,
		       struct error *e)
{
	const char *from = http_target_get(&q->target, "from");
	const char *to = http_target_get(&q->target, "to");
	struct registry_row row;
	struct latest l = { .row = &row, .to_ns = UINT64_MAX - ARRIVAL_NS };
	const struct store_run *found;
	int r = http_device_find(q->http, q->captured[0], &row, e);

	if (r >= 0)
		r = parse_point("from", from, &l.from_ns, e);
	if (r >= 0)
		r = parse_point("to", to, &l.to_ns, e);
	if (r >= 0)
		r = store_runs(q->http->options.store, &row.device.id, take_latest, &l, e);
	if (r < 0)
		return r;
	found = choose_latest(&l, kind);
	if (!found)
		return error_set(e, ENOENT, "%s has no run%s%s", row.device.name, lacking(&l, kind),
				 from || to ? " in this time" : " yet");
	*ret = *found;
	return 0;
}

static int parse_run(const char *text, uint32_t *ret, struct error *e)
{
	uint64_t v = 0;
	const char *p;

	for (p = text; *p >= '0' && *p <= '9' && v <= UINT32_MAX; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	if (p == text || *p || v > UINT32_MAX)
		return error_set(e, EINVAL, "cannot find run %s: it is not a number", text);
	*ret = (uint32_t)v;
	return 0;
}

int http_range_parse_run(struct http *h, const char *text, struct store_run *ret, struct error *e)
{
	uint32_t number = 0;
	int r = parse_run(text, &number, e);

	if (r >= 0)
		r = store_get_run(h->options.store, number, ret, e);
	return r == -ENOENT ? error_set(e, ENOENT, "there is no run %u", number) : r;
}

int http_range_find_run(struct http_request *q, enum http_run_kind kind, struct store_run *ret,
			struct error *e)
{
	if (strstr(q->route->pattern, "{device}"))
		return find_latest(q, kind, ret, e);
	return http_range_parse_run(q->http, q->captured[0], ret, e);
}

/* --- the time --- */

int http_range_get_clock(struct http *h, uint32_t run, struct trace_clock *ret, struct error *e)
{
	const struct store_range all = { 0, UINT64_MAX };
	struct trace_source *source = NULL;
	int r = source_run_open(&source, h->options.store, run, &all, e);

	if (r >= 0)
		*ret = source->info.clock;
	source_free(source);
	return r;
}

/* A point in real time, by the run's clock. What was before the clock began is its beginning. */
static int to_trace_time(const struct http_selection *s, uint64_t real_ns, uint64_t *ret,
			 struct error *e)
{
	uint64_t off = (uint64_t)s->clock.realtime_off_ns;

	if (!s->clock.has_realtime)
		return error_set(e, EOPNOTSUPP,
				 "cannot tell where that time is in run %u: its clock was never "
				 "compared with real time; use +SECONDS after its start",
				 s->run.number);
	if (s->clock.realtime_off_ns < 0)
		*ret = real_ns > UINT64_MAX - (0 - off) ? UINT64_MAX : real_ns + (0 - off);
	else
		*ret = real_ns > off ? real_ns - off : 0;
	return 0;
}

/* Nanoseconds of the run's own clock: from_ns= for from=. */
static int resolve_ns(struct http_request *q, const char *name, const char *text,
		      struct filter_time *ret, struct error *e)
{
	char full[16];
	int r;

	snprintf(full, sizeof(full), "%s_ns", name);
	if (!http_target_get(&q->target, full))
		return 0;
	if (text)
		return error_set(e, EINVAL, "cannot take both %s= and %s=", name, full);
	r = http_target_get_count(&q->target, full, (struct http_bounds){ 0, INT64_MAX }, &ret->ns,
				  e);
	ret->given = r >= 0;
	return r;
}

static int resolve_time(struct http_request *q, const struct http_selection *s, const char *name,
			struct filter_time *ret, struct error *e)
{
	const char *text = http_target_get(&q->target, name);
	uint64_t ns = 0;
	int r;

	r = resolve_ns(q, name, text, ret, e);
	if (r < 0 || !text)
		return r;
	if (is_after_start(text)) {
		r = when_parse_length(text + 1, &ns, e);
		if (r < 0)
			return error_prefix(e, -r, "cannot take %s=", name);
		ns += clock_ns(&s->clock, s->run.first_tick);
	} else {
		r = parse_point(name, text, &ns, e);
		if (r >= 0)
			r = to_trace_time(s, ns, &ns, e);
		if (r < 0)
			return r;
	}
	ret->given = true;
	ret->ns = ns;
	return 0;
}

int http_range_select_times(struct http_request *q, const char *from, const char *to,
			    struct http_selection *s, struct error *e)
{
	int r = resolve_time(q, s, from, &s->from, e);

	if (r >= 0)
		r = resolve_time(q, s, to, &s->to, e);
	if (r < 0)
		return r;
	if (s->from.given && s->to.given && s->from.ns >= s->to.ns)
		return error_set(e, EINVAL, "cannot take %s= and %s=: nothing lies between them",
				 from, to);
	if (s->from.given)
		s->from_tick = clock_tick_at(&s->clock, s->from.ns);
	if (s->to.given)
		s->to_tick = clock_tick_at(&s->clock, s->to.ns);
	return 0;
}

/* --- two runs, or two times --- */

const struct http_range_part http_range_of_path = { .from = "from", .to = "to" };

int http_range_check_with(struct http_request *q, struct error *e)
{
	static const char *const names[] = { "with", "with_from", "with_to", "with_from_ns",
					     "with_to_ns" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (http_target_get(&q->target, names[i]))
			return 0;
	return error_set(e, EINVAL,
			 "cannot compare: with=RUN, or with_from= and with_to=, say with what");
}

void http_range_get_with(struct http_request *q, uint32_t run, struct http_range_part *ret)
{
	ret->from = "with_from";
	ret->to = "with_to";
	ret->run = http_target_get(&q->target, "with");
	if (ret->run)
		return;
	snprintf(ret->number, sizeof(ret->number), "%u", run);
	ret->run = ret->number;
}

/* --- all of it --- */

int http_range_select(struct http_request *q, struct http_selection *ret, struct error *e)
{
	return http_range_select_kind(q, HTTP_RUN_SCHED, ret, e);
}

int http_range_select_kind(struct http_request *q, enum http_run_kind kind,
			   struct http_selection *ret, struct error *e)
{
	struct http_selection s = { .to_tick = UINT64_MAX };
	int r = http_range_find_run(q, kind, &s.run, e);

	if (r >= 0)
		r = http_range_get_clock(q->http, s.run.number, &s.clock, e);
	if (r >= 0)
		r = http_range_select_times(q, "from", "to", &s, e);
	if (r >= 0)
		*ret = s;
	return r;
}

static bool asks_for_time(const struct http_request *q)
{
	static const char *const names[] = { "from", "to", "from_ns", "to_ns" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (http_target_get(&q->target, names[i]))
			return true;
	return false;
}

int http_range_select_any(struct http_request *q, enum http_run_kind kind,
			  struct http_selection *ret, struct error *e)
{
	struct http_selection s = { .to_tick = UINT64_MAX };
	int r = http_range_select_kind(q, kind, ret, e);

	if (r != -EBADMSG || asks_for_time(q))
		return r;
	r = http_range_find_run(q, kind, &s.run, e);
	if (r >= 0)
		*ret = s;
	return r;
}

/* --- the events --- */

/* task=nginx*,42: numbers are pids, all else names. */
static int parse_tasks(struct trace_filter *f, const char *text, struct error *e)
{
	size_t len;
	int r = 0;

	for (; *text && r >= 0; text += len + (text[len] == ',')) {
		char one[FILTER_COMM_LEN];

		len = strcspn(text, ",");
		if (!len)
			continue;
		if (len >= sizeof(one))
			return error_set(e, EINVAL, "a name has at most %zu bytes",
					 sizeof(one) - 1);
		memcpy(one, text, len);
		one[len] = 0;
		r = strspn(one, "0123456789") == strcspn(one, "@") && one[0] != '@'
			    ? filter_parse_pids(f, one, e)
			    : filter_parse_comms(f, one, e);
	}
	return r;
}

static int parse_filters(struct http_request *q, struct trace_filter *items,
			 struct trace_filter *tasks, struct error *e)
{
	const struct {
		const char *name;
		int (*parse)(struct trace_filter *f, const char *text, struct error *e);
		struct trace_filter *filter;
	} parsers[] = {
		{ "cpu", filter_parse_cpus, items },   { "event", filter_parse_kinds, items },
		{ "task", parse_tasks, tasks },	       { "pid", filter_parse_pids, tasks },
		{ "comm", filter_parse_comms, tasks },
	};
	size_t i;

	for (i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++) {
		const char *text = http_target_get(&q->target, parsers[i].name);
		int r = text ? parsers[i].parse(parsers[i].filter, text, e) : 0;

		if (r < 0)
			return error_prefix(e, EINVAL, "cannot take %s=", parsers[i].name);
	}
	return 0;
}

int http_range_get_filter(struct http_request *q, struct trace_filter *ret, struct error *e)
{
	int r = parse_filters(q, ret, ret, e);

	/* A page is a small part of a run, which would have to be read whole. */
	if (r >= 0 && ret->n_lives)
		r = error_set(e, EINVAL, "cannot take pid@time for a page of events");
	return r;
}

/* Puts the filter in front of the source if it asks for anything. */
static int put_filter(struct trace_source **source, struct trace_filter *f, struct error *e)
{
	struct trace_source *filtered = NULL;
	int r;

	if (filter_is_empty(f))
		return 0;
	r = filter_source_new(&filtered, *source, f, e);
	if (r >= 0)
		*source = filtered;
	return r;
}

int http_range_open(struct http_request *q, const struct http_selection *s,
		    struct trace_filter *tasks, struct trace_source **ret, struct error *e)
{
	const struct store_range range = { s->from_tick, s->to_tick };
	struct trace_source *source = NULL;
	struct trace_filter items;
	int r;

	filter_init(&items);
	items.from = s->from;
	items.to = s->to;
	r = parse_filters(q, &items, tasks ? tasks : &items, e);
	if (r >= 0)
		r = source_run_open(&source, q->http->options.store, s->run.number, &range, e);
	if (r >= 0 && tasks)
		r = filter_find_lives(tasks, source, e);
	if (r >= 0)
		r = put_filter(&source, &items, e);
	filter_done(&items);
	if (r < 0) {
		source_free(source);
		return r;
	}
	if (tasks)
		filter_settle(tasks);
	*ret = source;
	return 0;
}
