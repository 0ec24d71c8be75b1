/* SPDX-License-Identifier: MIT */
/*
 * fact_build_sched: the tasks of a minute: who had the CPUs for how long, and how long they waited for one.
 *
 * The tracker says who had a CPU and who waited; what lies across the window's borders is cut there, and a wait is in the minute in
 * which it ended. The source ends with the first event behind the window, so what goes on across its end is known up to there. Names are those that tasks have at that moment: all tasks of one name are one row.
 */
#include <errno.h>

#include "analysis/tracker.h"
#include "facts/fact_build.h"
#include "trace/run_source.h"

struct tally {
	const struct fact_build *build;
	struct fact_window window;
	struct fact_set *set;
	struct tracker *tracker;
};

static int find_row(struct tally *t, uint32_t task, struct fact_task **ret)
{
	char name[COMM_TEXT_LEN];

	comm_format(tracker_get_task(t->tracker, task)->comm, name);
	return fact_set_find_task(t->set, name, ret);
}

static uint64_t inside_ns(const struct fact_window *w, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from = from_ns > w->from_ns ? from_ns : w->from_ns;
	uint64_t to = to_ns < w->to_ns ? to_ns : w->to_ns;

	return to > from ? to - from : 0;
}

static bool is_inside(const struct fact_window *w, uint64_t ns)
{
	return ns >= w->from_ns && ns < w->to_ns;
}

static int take_slice(void *context, const struct tracker_slice *s)
{
	struct tally *t = context;
	uint64_t ns = inside_ns(&t->window, s->from_ns, s->to_ns);
	struct fact_task *row;
	int r;

	if (!ns || s->type == SLICE_UNKNOWN)
		return 0;
	t->set->covered_ns += ns;
	if (s->type != SLICE_TASK)
		return 0;
	r = find_row(t, s->task, &row);
	if (r >= 0)
		row->cpu_ns += ns;
	return r;
}

static int take_wait(void *context, const struct tracker_wait *w)
{
	struct tally *t = context;
	struct fact_task *row;
	int r;

	if (w->end != WAIT_RAN || !is_inside(&t->window, w->to_ns))
		return 0;
	r = find_row(t, w->task, &row);
	if (r < 0)
		return r;
	return histogram_add(w->type == WAIT_WAKEUP ? &row->waits : &row->preempted,
			     w->to_ns - w->from_ns);
}

/* The tracker calls these for the event that it was just given. */
static int take_wakeup(void *context, uint32_t task)
{
	struct tally *t = context;
	struct fact_task *row;
	int r;

	if (!is_inside(&t->window, tracker_to_ns(t->tracker)))
		return 0;
	r = find_row(t, task, &row);
	if (r >= 0)
		row->wakeups++;
	return r;
}

static int take_leave(void *context, uint32_t task, bool preempted)
{
	struct tally *t = context;
	struct fact_task *row;
	int r;

	if (!is_inside(&t->window, tracker_to_ns(t->tracker)))
		return 0;
	r = find_row(t, task, &row);
	if (r < 0)
		return r;
	row->switches++;
	row->preemptions += preempted;
	return 0;
}

static const struct tracker_ops ops = { take_slice, take_wait, take_wakeup, take_leave };

static void count(struct tally *t, const struct trace_clock *clock, const struct trace_item *item)
{
	if (item->type == ITEM_EVENT) {
		if (is_inside(&t->window, clock_event_ns(clock, &item->event)))
			t->set->events++;
	} else if (is_inside(&t->window, clock_ns(clock, item->loss.to_tick))) {
		if (item->loss.count == LOSS_UNKNOWN)
			t->set->lost_places++;
		else
			t->set->lost += item->loss.count;
	}
}

static int read_all(struct tally *t, struct trace_source *s, struct error *e)
{
	const struct fact_build *b = t->build;
	struct trace_item item;
	int r;

	while ((r = s->ops->next(s, &item, e)) > 0) {
		count(t, &s->info.clock, &item);
		r = tracker_add(t->tracker, &item, e);
		if (r >= 0 && b->step)
			r = b->step(b->step_data);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : tracker_finish(t->tracker, e);
}

int fact_build_sched(const struct fact_build *b, struct fact_set *set, struct error *e)
{
	struct tally t = { .build = b, .set = set };
	struct trace_source *s = NULL;
	int r;

	if (!fact_build_window(b, &set->key, &t.window))
		return -ENODATA;
	r = source_run_open_told(
		&s, &(const struct run_part){ b->store, b->run, t.window.range, b->told }, e);
	if (r >= 0 && tracker_new(&t.tracker, &s->info, &ops, &t) < 0)
		r = error_set(e, ENOMEM, "cannot work out a minute: out of memory");
	if (r >= 0)
		r = read_all(&t, s, e);
	if (r >= 0 && !set->events && !set->lost && !set->lost_places && !set->covered_ns)
		r = -ENODATA;
	tracker_free(t.tracker);
	source_free(s);
	return r;
}
