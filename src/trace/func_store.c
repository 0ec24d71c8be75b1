/* SPDX-License-Identifier: MIT */
/* func_store: see func_store.h. */
#include "trace/func_store.h"

#include <string.h>

#include "trace/func_clock.h"
#include "trace/func_ksk.h"
#include "trace/run_source.h"

/* What the scheduler did last before the calls began says where their threads were. */
#define MARGIN_NS 1000000000ULL

struct search {
	const struct store_run *calls;
	struct store_run sched;
	uint64_t shared_ns;
};

static int take_sched(void *context, const struct store_run *r)
{
	struct search *s = context;
	uint64_t from = r->first_ns > s->calls->first_ns ? r->first_ns : s->calls->first_ns;
	uint64_t to = r->last_ns < s->calls->last_ns ? r->last_ns : s->calls->last_ns;

	/* One block has come at one moment: it still is a time of 1 ns. */
	if (!r->cpus || to < from || to - from + 1 <= s->shared_ns ||
	    memcmp(&r->boot, &s->calls->boot, sizeof(r->boot)) != 0)
		return 0;
	s->shared_ns = to - from + 1;
	s->sched = *r;
	return 0;
}

int func_store_find_sched(struct store *s, const struct store_run *calls, struct store_run *ret,
			  struct error *e)
{
	struct search search = { .calls = calls };
	int r = store_runs(s, &calls->device, take_sched, &search, e);

	if (r >= 0)
		*ret = search.sched;
	return r;
}

int func_store_get_span(const struct func_source *calls, struct func_store_span *ret)
{
	uint64_t from, to;
	int r = func_ksk_span(calls, &from, &to);

	if (r <= 0)
		return r;
	from = func_clock_ns(calls, from);
	ret->from_ns = from > MARGIN_NS ? from - MARGIN_NS : 0;
	ret->to_ns = func_clock_ns(calls, to) + MARGIN_NS;
	return 1;
}

/* Only the time of the calls: a trace of the scheduler may be of days. Where nobody knows when they
 * were, all of it. */
static int get_range(const struct func_source *calls, const struct trace_clock *c,
		     struct store_range *ret)
{
	bool mono = !strcmp(c->name, "mono");
	struct func_store_span span;
	uint64_t off;
	int r;

	if (!mono && !(c->has_realtime && calls->clock.has_realtime))
		return 0;
	r = func_store_get_span(calls, &span);
	if (r <= 0)
		return r;
	off = mono ? 0 : (uint64_t)(calls->clock.realtime_off_ns - c->realtime_off_ns);
	ret->from_tick = clock_tick_at(c, span.from_ns + off);
	ret->to_tick = clock_tick_at(c, span.to_ns + off);
	return 1;
}

int func_store_open_sched(struct store *s, uint32_t run, const struct func_source *calls,
			  struct trace_source **ret, struct error *e)
{
	struct store_range range = { .to_tick = UINT64_MAX };
	struct trace_source *sched = NULL;
	int r = source_run_open(&sched, s, run, &range, e), known;

	if (r < 0)
		return r;
	known = get_range(calls, &sched->info.clock, &range);
	if (known) {
		source_free(sched);
		sched = NULL;
	}
	if (known < 0)
		return error_set(e, -known, "cannot read when the calls were: %s",
				 strerror(-known));
	if (known)
		r = source_run_open(&sched, s, run, &range, e);
	if (r >= 0)
		*ret = sched;
	return r;
}
