/* SPDX-License-Identifier: MIT */
/* boot_run: see boot_run.h. */
#include "analysis/boot_run.h"

#include <errno.h>
#include <string.h>

#include "analysis/boot_clock.h"
#include "analysis/boot_exact.h"
#include "trace/boot_ksk.h"
#include "trace/run_source.h"

#define MARGIN_NS 1000000000ULL

uint64_t boot_run_from(const struct boot *b)
{
	return b->from_ns > MARGIN_NS ? b->from_ns - MARGIN_NS : 0;
}

uint64_t boot_run_to(const struct boot *b)
{
	return b->to_ns + MARGIN_NS;
}

struct search {
	const struct store_run *boot;
	struct store_run sched;
	int64_t shared_ns; /* negative: so far apart */
};

static int take_sched(void *context, const struct store_run *r)
{
	struct search *s = context;
	uint64_t from = r->first_ns > s->boot->first_ns ? r->first_ns : s->boot->first_ns;
	uint64_t to = r->last_ns < s->boot->last_ns ? r->last_ns : s->boot->last_ns;

	if (!r->cpus || (int64_t)(to - from) <= s->shared_ns ||
	    memcmp(&r->boot, &s->boot->boot, sizeof(r->boot)) != 0)
		return 0;
	s->shared_ns = (int64_t)(to - from);
	s->sched = *r;
	return 0;
}

/* The time of the boot on the clock of the trace. 0: nobody knows. */
static int get_range(struct boot_run *run, struct trace_source *sched, struct store_range *ret,
		     struct error *e)
{
	const struct trace_clock *c = &sched->info.clock;
	uint64_t start_ns = 0, add_ns;
	int r = boot_clock_is_same(c) ? 0 : boot_clock_get_start(sched, &start_ns, e);

	if (r < 0)
		return r;
	if (!boot_clock_join(run->boot, c, start_ns, &add_ns))
		return 0;
	run->offset_ns = -(int64_t)add_ns;
	ret->from_tick = clock_tick_at(c, boot_run_from(run->boot) - add_ns);
	ret->to_tick = clock_tick_at(c, boot_run_to(run->boot) - add_ns);
	return 1;
}

static int open_sched(struct boot_run *run, struct store *s, uint32_t number,
		      struct trace_source **ret, struct error *e)
{
	struct store_range range = { .to_tick = UINT64_MAX };
	int r = source_run_open(ret, s, number, &range, e);

	if (r >= 0)
		r = get_range(run, *ret, &range, e);
	if (r <= 0)
		return r;
	source_free(*ret);
	*ret = NULL;
	return source_run_open(ret, s, number, &range, e);
}

static int join(struct boot_run *run, struct store *s, uint32_t number, struct error *e)
{
	struct trace_source *sched = NULL;
	struct trace_item item;
	int r = open_sched(run, s, number, &sched, e);
	int n = r < 0 ? r : sched->ops->next(sched, &item, e);

	/* A trace that has nothing of that time makes nothing exact. */
	r = n <= 0 ? n : sched->ops->rewind(sched, e);
	if (n > 0 && r >= 0) {
		r = boot_make_exact(run->boot, sched, e);
		run->sched = r == -ENODATA ? 0 : number; /* it is of another time */
		run->has_common_clock = r != -EXDEV;
	}
	source_free(sched);
	return r == -EXDEV || r == -ENODATA ? 0 : r;
}

static int open_boot(struct boot_run *run, struct store *s, uint32_t number, struct error *e)
{
	CLEANUP(boot_source) struct boot_source *source = NULL;
	int r = boot_ksk_open_run(s, number, &source, e);

	return r < 0 ? r : boot_new(&run->boot, source, e);
}

int boot_run_open(struct boot_run *ret, struct store *s, const struct store_run *run, bool exact,
		  struct error *e)
{
	struct boot_run made = { .has_common_clock = true };
	struct search search = { .boot = run, .shared_ns = -(int64_t)BOOT_RUN_APART_NS };
	int r;

	if (!run->has_boot)
		return error_set(e, ENODATA, "run %u has no boot chart", run->number);
	r = open_boot(&made, s, run->number, e);
	if (r >= 0 && exact)
		r = store_runs(s, &run->device, take_sched, &search, e);
	if (r >= 0 && search.sched.number)
		r = join(&made, s, search.sched.number, e);
	if (r < 0) {
		boot_free(made.boot);
		return r;
	}
	*ret = made;
	return 0;
}
