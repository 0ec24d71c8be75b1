/* SPDX-License-Identifier: MIT */
/*
 * boot_exact: see boot_exact.h.
 *
 * In five steps, each with a file: boot_clock finds out what the trace's clock lacks, boot_tasks reads the trace, boot_groups finds out whose threads the tasks
 * are, boot_lay lays them over each process (with boot_states, which says what a task did), boot_order puts what is new
 * into the tree.
 */
#include "analysis/boot_exact.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/boot_clock.h"
#include "analysis/boot_lay.h"
#include "analysis/boot_order.h"

/* A trace that began by so much before the chart was started for the same boot. */
#define LEAD_NS 10000000000ULL
#define GAPS_MAX (1U << 16)

static int no_memory(struct error *e)
{
	return error_set(e, ENOMEM, "cannot lay the scheduler's events over the boot: %s",
			 strerror(ENOMEM));
}

static int join_clocks(const struct boot *b, struct trace_source *sched, uint64_t *ret,
		       struct error *e)
{
	const struct trace_clock *c = &sched->info.clock;
	uint64_t start_ns;
	int r;

	if (boot_clock_is_same(c)) {
		*ret = 0;
		return 0;
	}
	r = boot_clock_get_start(sched, &start_ns, e);
	if (r < 0)
		return r;
	if (boot_clock_join(b, c, start_ns, ret))
		return 0;
	return error_set(e, EXDEV,
			 "cannot lay the scheduler's events over the boot: their clock (%s) is not "
			 "CLOCK_MONOTONIC, and the real time of %s is not known",
			 c->name[0] ? c->name : "not named",
			 b->realtime_ns || b->n_realtimes ? "them" : "the boot");
}

/* --- gaps --- */

static int by_start(const void *a, const void *b)
{
	const struct boot_gap *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static int add_gap(struct boot *b, uint64_t from_ns, uint64_t to_ns, const char *why)
{
	struct boot_gap *g;

	from_ns = from_ns > b->from_ns ? from_ns : b->from_ns;
	to_ns = to_ns < b->to_ns ? to_ns : b->to_ns;
	if (from_ns >= to_ns || b->n_gaps >= GAPS_MAX)
		return 0;
	g = realloc(b->gaps, (b->n_gaps + 1) * sizeof(*g));
	if (!g)
		return -ENOMEM;
	b->gaps = g;
	g += b->n_gaps;
	g->from_ns = from_ns;
	g->to_ns = to_ns;
	g->why = strdup(why);
	if (!g->why)
		return -ENOMEM;
	b->n_gaps++;
	return 0;
}

static int add_loss(struct boot *b, const struct boot_loss *l)
{
	char why[96];

	if (l->count == LOSS_UNKNOWN)
		snprintf(why, sizeof(why), "events of the scheduler were lost on CPU %" PRIu32,
			 l->cpu);
	else
		snprintf(why, sizeof(why),
			 "%" PRIu64 " events of the scheduler were lost on CPU %" PRIu32, l->count,
			 l->cpu);
	return add_gap(b, l->from_ns, l->to_ns, why);
}

static int add_gaps(struct boot *b, const struct boot_tasks *t)
{
	static const char none[] = "no events of the scheduler: what is shown was sampled";
	uint64_t least_ns = 2 * b->interval_ns;
	size_t i;
	int r = 0;

	for (i = 0; i < t->n_losses && r >= 0; i++)
		r = add_loss(b, &t->losses[i]);
	/* At the edges both begin and end as they like. */
	if (r >= 0 && t->from_ns > b->from_ns + least_ns)
		r = add_gap(b, b->from_ns, t->from_ns, none);
	if (r >= 0 && t->to_ns + least_ns < b->to_ns)
		r = add_gap(b, t->to_ns, b->to_ns, none);
	if (b->n_gaps)
		qsort(b->gaps, b->n_gaps, sizeof(*b->gaps), by_start);
	return r;
}

/* --- laying --- */

static void set_range(struct boot *b, const struct boot_tasks *t, struct boot_lay *l)
{
	if (t->from_ns < b->from_ns && b->from_ns - t->from_ns <= LEAD_NS)
		b->from_ns = t->from_ns;
	l->from_ns = t->from_ns > b->from_ns ? t->from_ns : b->from_ns;
	l->to_ns = t->to_ns < b->to_ns ? t->to_ns : b->to_ns;
}

static int lay_all(struct boot_lay *l, const struct trace_info *info)
{
	struct boot *b = l->boot;
	uint32_t i;
	int r = 0;

	for (i = 0; i < b->n_processes && r >= 0; i++) {
		r = boot_lay_process(l, i);
		if (r >= 0)
			r = boot_lay_names(l, i, info);
	}
	if (r >= 0)
		r = boot_order(b);
	return r;
}

static int lay_tasks(struct boot *b, const struct boot_tasks *t, const struct trace_info *info,
		     struct error *e)
{
	struct boot_lay l = { .boot = b, .tasks = t };
	struct boot_groups g;
	int r;

	set_range(b, t, &l);
	if (l.from_ns >= l.to_ns)
		return error_set(e, ENODATA,
				 "cannot lay the scheduler's events over the boot: there are none "
				 "of that time");
	r = boot_groups_init(&g, b, t, info);
	if (r >= 0) {
		l.groups = &g;
		r = lay_all(&l, info);
		boot_lay_done(&l);
		boot_groups_done(&g);
	}
	if (r >= 0)
		r = add_gaps(b, t);
	if (r == -E2BIG)
		return error_set(e, E2BIG,
				 "cannot lay the scheduler's events over the boot: too "
				 "many processes or spans");
	if (r < 0)
		return no_memory(e);
	b->is_exact = true;
	b->tells_interrupts = t->tells_interrupts;
	if (t->has_forks && !t->n_losses && t->from_ns <= b->from_ns + b->interval_ns &&
	    t->to_ns + b->interval_ns >= b->to_ns)
		b->has_events = true;
	return 0;
}

int boot_make_exact(struct boot *b, struct trace_source *sched, struct error *e)
{
	CLEANUP(boot_tasks) struct boot_tasks *t = NULL;
	uint64_t add_ns = 0;
	int r = join_clocks(b, sched, &add_ns, e);

	if (r >= 0)
		r = boot_tasks_new(&t, sched, add_ns, b->to_ns, e);
	return r < 0 ? r : lay_tasks(b, t, &sched->info, e);
}

/* --- a trace alone --- */

static int set_texts(struct boot *b, const struct trace_info *info)
{
	b->device = strdup(info->device);
	b->kernel = strdup(info->kernel);
	b->machine = strdup(info->machine);
	b->origin = strdup(info->origin);
	b->command_line = strdup("");
	b->release = strdup("");
	b->target = strdup("");
	b->texts = calloc(1, sizeof(*b->texts));
	if (!b->texts)
		return -ENOMEM;
	b->texts[0] = strdup("");
	b->n_texts = 1;
	return b->device && b->kernel && b->machine && b->origin && b->command_line && b->release &&
			       b->target && b->texts[0]
		       ? 0
		       : -ENOMEM;
}

static int set_points(struct boot *b, const struct boot_tasks *t)
{
	struct boot_point *p;
	size_t i;

	b->points = calloc(t->n_busy + 1, sizeof(*b->points));
	if (!b->points)
		return -ENOMEM;
	for (i = 0; i < t->n_busy; i++) {
		p = &b->points[i];
		p->ns = t->from_ns + (uint64_t)(i + 1) * BOOT_TASKS_PIECE_NS;
		p->ns = p->ns < t->to_ns ? p->ns : t->to_ns;
		p->user_ns = t->busy[i].busy_ns;
		p->idle_ns = t->busy[i].idle_ns;
	}
	b->n_points = t->n_busy;
	return 0;
}

int boot_new_from_sched(struct boot **ret, struct trace_source *sched, struct error *e)
{
	CLEANUP(boot) struct boot *b = calloc(1, sizeof(*b));
	CLEANUP(boot_tasks) struct boot_tasks *t = NULL;
	int r;

	if (!b || set_texts(b, &sched->info) < 0)
		return no_memory(e);
	r = boot_tasks_new(&t, sched, 0, UINT64_MAX, e);
	if (r < 0)
		return r;
	b->cpus = sched->info.cpus ? sched->info.cpus : t->cpus;
	b->from_ns = t->from_ns;
	b->to_ns = t->to_ns;
	if (sched->info.clock.has_realtime)
		b->realtime_ns = sched->info.clock.realtime_off_ns;
	if (set_points(b, t) < 0)
		return no_memory(e);
	r = lay_tasks(b, t, &sched->info, e);
	if (r < 0)
		return r;
	*ret = take_ptr(b);
	return 0;
}
