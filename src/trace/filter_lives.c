/* SPDX-License-Identifier: MIT */
/*
 * filter_lives: when the tasks that a filter names by pid and time had their pids.
 *
 * Which task had a pid at a time follows from all events before it, and how long it had it from those
 * behind: so the source is read once, as far as the filter's pids are concerned, and then again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/filter.h"
#include "trace/lives.h"

int filter_add_life(struct trace_filter *f, int32_t pid, const struct filter_time *at)
{
	if (f->n_lives >= FILTER_LIVES_MAX)
		return -E2BIG;
	if (!f->lives) {
		f->lives = calloc(FILTER_LIVES_MAX, sizeof(*f->lives));
		if (!f->lives)
			return -ENOMEM;
	}
	f->lives[f->n_lives++] = (struct filter_life){ .pid = pid, .at = *at };
	f->lives_found = false;
	return 0;
}

bool filter_has_life(const struct trace_filter *f, int32_t pid, uint64_t ns)
{
	size_t i;

	for (i = 0; i < f->n_lives; i++)
		if (f->lives[i].found && f->lives[i].pid == pid && ns >= f->lives[i].from_ns &&
		    ns < f->lives[i].to_ns)
			return true;
	return false;
}

/* A life of the pid begins. */
static void begin(struct filter_life *k, const struct life *life)
{
	if (!k->found || life->born_ns <= k->at.ns) {
		k->from_ns = k->found || life->birth_seen ? life->born_ns : 0;
		k->to_ns = UINT64_MAX;
		k->found = true;
	} else if (k->to_ns == UINT64_MAX) {
		k->to_ns = life->born_ns;
	}
}

static int note(struct trace_filter *f, struct lives *l, const struct trace_info *info,
		const struct sched_event *ev)
{
	struct life_sight s = { .ns = clock_event_ns(&info->clock, ev) };
	uint32_t life;
	size_t i, k;
	int r = 0;

	for (i = 0; i < f->n_lives && r >= 0; i++) {
		s.pid = f->lives[i].pid;
		for (k = 0; k < i && f->lives[k].pid != s.pid; k++)
			;
		if (k < i) /* it was noted for another time */
			continue;
		r = lives_note(l, &info->dialect, ev, &s, &life);
		for (k = i; k < f->n_lives && r > 0; k++)
			if (f->lives[k].pid == s.pid)
				begin(&f->lives[k], lives_get(l, life));
	}
	return r < 0 ? r : 0;
}

static void settle_times(struct trace_filter *f, uint64_t start_ns)
{
	struct filter_time *at;
	size_t i;

	for (i = 0; i < f->n_lives; i++) {
		at = &f->lives[i].at;
		if (at->relative)
			at->ns = at->ns > UINT64_MAX - start_ns ? UINT64_MAX : start_ns + at->ns;
		at->relative = false;
	}
}

static uint64_t first_ns(const struct trace_info *info, const struct trace_item *item)
{
	if (item->type == ITEM_EVENT)
		return clock_event_ns(&info->clock, &item->event);
	return clock_ns(&info->clock,
			item->loss.from_tick ? item->loss.from_tick : item->loss.to_tick);
}

int filter_find_lives(struct trace_filter *f, struct trace_source *s, struct error *e)
{
	CLEANUP(lives) struct lives *l = NULL;
	struct trace_item item;
	bool started = false;
	int r;

	if (!f->n_lives || f->lives_found)
		return 0;
	l = lives_new(TRACE_TASKS_MAX);
	if (!l)
		return error_set(e, ENOMEM, "cannot filter: out of memory");
	while ((r = s->ops->next(s, &item, e)) > 0) {
		if (!started)
			settle_times(f, first_ns(&s->info, &item));
		started = true;
		r = item.type == ITEM_EVENT ? note(f, l, &s->info, &item.event) : 0;
		if (r < 0)
			return error_set(e, r, "cannot filter: %s", strerror(-r));
	}
	if (r < 0)
		return r;
	f->lives_found = true;
	return s->ops->rewind(s, e);
}
