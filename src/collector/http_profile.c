/* SPDX-License-Identifier: MIT */
/*
 * http_profile: see http_profile.h.
 *
 * Each request opens the run for itself and reads what it needs of it once. Such a reading takes a CPU for as
 * long as it lasts, so it counts as an export does, and ends when its client has gone.
 */
#include "collector/http_profile.h"

#include <errno.h>
#include <string.h>

#include "analysis/json_value.h"
#include "trace/filter_parse.h"
#include "trace/sample_ksk.h"

#define LOOK_EVERY 16384U /* items */

int http_profile_step(void *data)
{
	struct http_profile *p = data;

	if (++p->items % LOOK_EVERY || !http_request_is_over(p->q))
		return 0;
	return -ECANCELED;
}

static int find_run(struct http_profile *p, const struct http_range_part *part, struct error *e)
{
	struct store_run *run = &p->selection.run;
	int r = part->run ? http_range_parse_run(p->q->http, part->run, run, e)
			  : http_range_find_run(p->q, p->whole ? HTTP_RUN_VM : HTTP_RUN_PROFILE,
						run, e);

	if (r >= 0 && !run->samplers)
		r = error_set(e, ENODATA, "run %u has no profile", run->number);
	return r;
}

/* The times, by the run's clock, and the window that they make. */
static int select_times(struct http_profile *p, const struct http_range_part *part, struct error *e)
{
	struct http_selection *s = &p->selection;
	uint64_t from = 0, to = 0;
	int r;

	s->clock = p->source->info.clock;
	s->to_tick = UINT64_MAX;
	r = sample_ksk_span(p->source, &from, &to);
	if (r < 0)
		return error_set(e, -r, "cannot read the profile: %s", strerror(-r));
	if (r)
		s->run.first_tick = from;
	else
		from = to = 0;
	r = http_range_select_times(p->q, part->from, part->to, s, e);
	if (r < 0)
		return r;
	p->from_ns = s->from.given ? s->from.ns : clock_ns(&s->clock, from);
	p->to_ns = s->to.given ? s->to.ns : clock_ns(&s->clock, to) + 1;
	if (p->from_ns >= p->to_ns)
		p->to_ns = p->from_ns + 1;
	return 0;
}

/* Only the blocks around the window. */
static int narrow(struct http_profile *p, struct error *e)
{
	const struct http_selection *s = &p->selection;
	const struct store_range range = { s->from_tick, s->to_tick };
	struct sample_source *part = NULL;
	int r;

	if (!s->from.given && !s->to.given)
		return 0;
	r = sample_ksk_open_part(p->q->http->options.store, s->run.number, &range, &part, e);
	if (r < 0)
		return r;
	sample_source_free(p->source);
	p->source = part;
	p->select.is_part = true;
	return 0;
}

static int select_samples(struct http_profile *p, struct error *e)
{
	const struct http_target *t = &p->q->target;
	const char *cpus = http_target_get(t, "cpu"), *modes = http_target_get(t, "mode");
	struct profile_select *s = &p->select;
	int r = 0;

	if (cpus && filter_parse_cpus(&p->filter, cpus, e) < 0)
		r = error_prefix(e, EINVAL, "cannot take cpu=");
	if (r >= 0 && modes && profile_modes_parse(&s->modes, modes, e) < 0)
		r = error_prefix(e, EINVAL, "cannot take mode=");
	if (r < 0)
		return r;
	s->processes = http_target_get(t, "process");
	s->threads = http_target_get(t, "thread");
	s->cpus = p->filter.cpus_given ? p->filter.cpus : NULL;
	if (p->selection.from.given)
		s->from_ns = p->from_ns;
	if (p->selection.to.given)
		s->to_ns = p->to_ns;
	return 0;
}

static int open_names(struct http_profile *p, struct error *e)
{
	int r;

	http_symbols_init(&p->from, &p->q->http->options);
	r = http_symbols_open(&p->from, &p->symbols, e);
	return r < 0 ? r : profile_names_new(&p->names, p->source, p->symbols, e);
}

static int open_all(struct http_profile *p, const struct http_range_part *part, struct error *e)
{
	int r = find_run(p, part, e);

	if (r >= 0)
		r = sample_ksk_open_run(p->q->http->options.store, p->selection.run.number,
					&p->source, e);
	if (r >= 0)
		r = select_times(p, part, e);
	if (r >= 0)
		r = select_samples(p, e);
	if (r >= 0 && !p->whole)
		r = narrow(p, e);
	return r < 0 ? r : open_names(p, e);
}

int http_profile_open(struct http_profile *p, struct http_request *q,
		      const struct http_range_part *part, bool whole, struct error *e)
{
	int r;

	memset(p, 0, sizeof(*p));
	p->q = q;
	p->whole = whole;
	p->counted = true;
	filter_init(&p->filter);
	if (atomic_fetch_add(&q->http->exports, 1) >= HTTP_EXPORTS_MAX)
		return error_set(e, EBUSY, "%u exports and reports are under way; try again later",
				 HTTP_EXPORTS_MAX);
	r = open_all(p, part, e);
	if (r < 0)
		return r;
	profile_tasks_init(&p->tasks, p->source);
	p->has_tasks = true;
	p->walk = (struct profile_walk){ .source = p->source,
					 .names = p->names,
					 .tasks = &p->tasks,
					 .select = &p->select,
					 .step = http_profile_step,
					 .step_data = p };
	return 0;
}

void http_profile_close(struct http_profile *p)
{
	if (!p->counted)
		return;
	atomic_fetch_sub(&p->q->http->exports, 1);
	if (p->has_tasks)
		profile_tasks_done(&p->tasks);
	profile_names_free(p->names);
	symbols_free(p->symbols);
	sample_source_free(p->source);
	filter_done(&p->filter);
	memset(p, 0, sizeof(*p));
}

/* --- in short --- */

static const char *word_of(const char *const *words, size_t n, size_t i)
{
	return words[i < n ? i : 0];
}

static json_t *sampling_json(const struct sample_source *s, uint64_t from_ns, uint64_t to_ns)
{
	static const char *const collectors[] = { "perf", "module", "bpf" };
	static const char *const methods[] = { "cpu-clock", "cycles", "timer" };
	const struct sample_sampling *m = &s->sampling;

	return json_pack("{so so ss so so so ss ss sb sb sb sb sb}", "from_ns",
			 json_value_count(from_ns), "to_ns", json_value_count(to_ns), "unit",
			 profile_walk_unit(s), "period", json_value_count(m->period),
			 "jitter_percent", json_value_count(m->jitter), "cpus",
			 json_value_count(sample_ksk_cpus(s)), "collector",
			 word_of(collectors, 3, m->collector), "method",
			 word_of(methods, 3, m->method), "has_switches",
			 (m->has & SAMPLE_HAS_SWITCHES) != 0, "has_guests",
			 (m->has & SAMPLE_HAS_GUESTS) != 0, "has_exits",
			 (m->has & SAMPLE_HAS_EXITS) != 0, "has_chains",
			 (m->has & SAMPLE_HAS_CHAINS) != 0, "is_whole",
			 (m->has & SAMPLE_HAS_WHOLE) != 0);
}

json_t *http_profile_json(struct http_request *q, const struct store_run *run)
{
	struct sample_source *s = NULL;
	struct error e = ERROR_INIT;
	uint64_t from, to;
	json_t *o = NULL;
	int r = sample_ksk_open_run(q->http->options.store, run->number, &s, &e);

	if (r >= 0)
		r = sample_ksk_span(s, &from, &to);
	if (r > 0)
		o = sampling_json(s, clock_ns(&s->info.clock, from), clock_ns(&s->info.clock, to));
	else if (r != -ENOMEM)
		o = json_null();
	sample_source_free(s);
	return o;
}
