/* SPDX-License-Identifier: MIT */
/* spans_walk: see spans_walk.h. */
#include "analysis/spans_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

#define NOTES_MAX (4U * SPANS_EVENTS_MAX)
#define SPANS_MAX (8U * SPANS_EVENTS_MAX)
#define NONE UINT32_MAX
#define STEPS_MAX                                                                                  \
	1024U /* that a note is put back behind others: none of them may cost all of them */

/* One task on its way through its notes. */
struct walker {
	uint64_t at_ns;	     /* its spans reach so far */
	uint64_t since_ns;   /* of the state */
	uint64_t run_end_ns; /* while `running` */
	uint64_t waking_ns;  /* the last sched_waking */
	uint32_t cpu;	     /* its last, or NONE */
	uint32_t wakeup;     /* the one it waits after: its number + 1, or 0 */
	uint32_t first_note; /* number + 1, or 0 */
	uint32_t last_note;
	uint8_t state;
	bool seen;	 /* something was noted of it */
	bool running;	 /* its last run has not been left */
	bool woken_soon; /* woken while it still had its CPU */
	bool exited;
};

struct spans_walk {
	struct spans *s;
	bool in_range;
	struct span_note *notes;
	size_t n_notes, room_notes;
	struct span_gap *gaps; /* sorted by CPU and time when walking */
	size_t n_gaps, room_gaps;
	uint32_t *first_gap; /* of each CPU; one more at the end */
	uint32_t n_first_gap;
	struct walker *walkers; /* by task */
	size_t n_walkers, room_walkers;
};

int spans_walk_new(struct spans_walk **ret, struct spans *s)
{
	struct spans_walk *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->s = s;
	*ret = w;
	return 0;
}

void spans_walk_free(struct spans_walk *w)
{
	if (!w)
		return;
	free(w->notes);
	free(w->gaps);
	free(w->first_gap);
	free(w->walkers);
	free(w);
}

static int grow_walkers(struct spans_walk *w, uint32_t n_tasks)
{
	int r = 0;

	while (w->n_walkers < n_tasks && r == 0) {
		r = array_grow(&w->walkers, w->n_walkers, &w->room_walkers, sizeof(*w->walkers),
			       TRACE_TASKS_MAX);
		if (r == 0)
			w->walkers[w->n_walkers++] = (struct walker){ .cpu = NONE };
	}
	return r;
}

/* Puts a note into its task's list, behind the last one that is not later. */
static void link_note(struct spans_walk *w, struct walker *k, uint32_t number)
{
	struct span_note *n = &w->notes[number - 1];
	uint32_t before = k->last_note, steps = 0;

	while (before && w->notes[before - 1].ns > n->ns && steps++ < STEPS_MAX)
		before = w->notes[before - 1].before;
	n->before = before;
	n->after = before ? w->notes[before - 1].after : k->first_note;
	if (before)
		w->notes[before - 1].after = number;
	else
		k->first_note = number;
	if (n->after)
		w->notes[n->after - 1].before = number;
	else
		k->last_note = number;
}

int spans_walk_add(struct spans_walk *w, uint32_t task, const struct span_note *n)
{
	int r = array_grow(&w->notes, w->n_notes, &w->room_notes, sizeof(*w->notes), NOTES_MAX);

	if (r == 0)
		r = grow_walkers(w, task + 1);
	if (r < 0)
		return r;
	w->notes[w->n_notes++] = *n;
	link_note(w, &w->walkers[task], (uint32_t)w->n_notes);
	return 0;
}

int spans_walk_add_gap(struct spans_walk *w, const struct span_gap *g)
{
	int r = array_grow(&w->gaps, w->n_gaps, &w->room_gaps, sizeof(*w->gaps), SPANS_EVENTS_MAX);

	if (r == 0)
		w->gaps[w->n_gaps++] = *g;
	return r;
}

/* --- gaps --- */

static int by_cpu_and_time(const void *a, const void *b)
{
	const struct span_gap *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static int sort_gaps(struct spans_walk *w)
{
	uint32_t cpus = w->s->n_cpus, cpu;
	size_t i = 0;

	free(w->first_gap);
	w->first_gap = calloc((size_t)cpus + 2, sizeof(*w->first_gap));
	if (!w->first_gap)
		return -ENOMEM;
	if (w->n_gaps)
		qsort(w->gaps, w->n_gaps, sizeof(*w->gaps), by_cpu_and_time);
	for (cpu = 0; cpu <= cpus; cpu++) {
		while (i < w->n_gaps && w->gaps[i].cpu < cpu)
			i++;
		w->first_gap[cpu] = (uint32_t)i;
	}
	w->n_first_gap = cpus;
	return 0;
}

/* Where the first gap of this CPU within a time begins; UINT64_MAX if there is none. */
static uint64_t gap_within(const struct spans_walk *w, uint32_t cpu, uint64_t from_ns,
			   uint64_t to_ns)
{
	uint32_t lo, hi, end, mid;
	const struct span_gap *g;

	if (cpu >= w->n_first_gap)
		return UINT64_MAX;
	lo = w->first_gap[cpu];
	end = hi = w->first_gap[cpu + 1];
	while (lo < hi) { /* gaps of a CPU do not overlap: both ends rise */
		mid = lo + (hi - lo) / 2;
		if (w->gaps[mid].to_ns <= from_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == end)
		return UINT64_MAX;
	g = &w->gaps[lo];
	if (g->from_ns >= to_ns)
		return UINT64_MAX;
	return g->from_ns > from_ns ? g->from_ns : from_ns;
}

/* --- spans --- */

static int put_span(struct spans_walk *w, struct span_task *t, struct span one)
{
	struct spans *s = w->s;
	struct span *last = t->n_spans ? &s->spans[s->n_spans - 1] : NULL;
	int r;

	if (!one.length_ns)
		return 0;
	if (last && last->state == one.state && one.state != SPAN_RUNNING) {
		last->length_ns += one.length_ns;
		return 0;
	}
	r = array_grow(&s->spans, s->n_spans, &s->room_spans, sizeof(*s->spans), SPANS_MAX);
	if (r < 0)
		return r;
	s->spans[s->n_spans++] = one;
	t->n_spans++;
	return 0;
}

/* The task is in this state up to a time. */
static int advance(struct spans_walk *w, uint32_t task, struct span one, uint64_t to_ns)
{
	struct walker *k = &w->walkers[task];
	int r;

	if (w->in_range && to_ns > w->s->to_ns)
		to_ns = w->s->to_ns;
	if (to_ns <= k->at_ns)
		return 0;
	one.length_ns = to_ns - k->at_ns;
	r = w->in_range ? put_span(w, &w->s->tasks[task], one) : 0;
	k->at_ns = to_ns;
	return r;
}

/* Where its state is no longer known, if it lasts until then: it may have run on a CPU that lost
 * events, the one it had last or the one it turns up on (or NONE). */
static uint64_t known_until(const struct spans_walk *w, const struct walker *k, uint64_t to_ns,
			    uint32_t next_cpu)
{
	uint64_t gap_ns, other_ns;

	if (k->state == SPAN_UNKNOWN || k->state == SPAN_DEAD)
		return to_ns;
	gap_ns = gap_within(w, k->cpu, k->since_ns, to_ns);
	if (k->state == SPAN_WOKEN || k->state == SPAN_PREEMPTED || k->state == SPAN_UNBORN) {
		other_ns = gap_within(w, next_cpu, k->since_ns, to_ns);
		gap_ns = other_ns < gap_ns ? other_ns : gap_ns;
	}
	return gap_ns < to_ns ? gap_ns : to_ns;
}

/* The task stays as it is up to a time; returns whether that is certain, or < 0. */
static int stay(struct spans_walk *w, uint32_t task, uint64_t to_ns, uint32_t next_cpu)
{
	const struct walker *k = &w->walkers[task];
	uint64_t known_ns = known_until(w, k, to_ns, next_cpu);
	int r = advance(w, task, (struct span){ .state = k->state }, known_ns);

	if (r >= 0 && known_ns < to_ns)
		r = advance(w, task, (struct span){ .state = SPAN_UNKNOWN }, to_ns);
	return r < 0 ? r : known_ns >= to_ns;
}

/* --- notes --- */

static int take_run(struct spans_walk *w, uint32_t task, const struct span_note *n)
{
	struct walker *k = &w->walkers[task];
	struct span_wakeup *wakeup = k->wakeup ? &w->s->wakeups[k->wakeup - 1] : NULL;
	int sure = stay(w, task, n->ns, n->number);
	int r;

	if (sure < 0)
		return sure;
	k->woken_soon = k->waking_ns > n->ns && !k->running;
	if (wakeup && wakeup->ns <= n->ns) {
		if (sure && n->ns < w->s->to_ns)
			wakeup->ran_ns = n->ns;
		k->wakeup = 0;
	}
	r = advance(w, task, (struct span){ .state = SPAN_RUNNING, .cpu = n->number }, n->to_ns);
	k->cpu = n->number;
	k->running = true;
	k->run_end_ns = n->to_ns;
	k->state = SPAN_UNKNOWN;
	k->since_ns = n->to_ns;
	return r;
}

static int take_leave(struct spans_walk *w, uint32_t task, const struct span_note *n)
{
	struct walker *k = &w->walkers[task];
	int r = stay(w, task, n->ns, NONE);

	k->state = n->state;
	if (n->state != SPAN_PREEMPTED && k->exited)
		k->state = SPAN_DEAD;
	else if (n->state != SPAN_PREEMPTED && n->state != SPAN_DEAD && k->woken_soon)
		k->state = SPAN_WOKEN;
	k->since_ns = n->ns;
	k->cpu = n->number;
	k->running = k->woken_soon = false;
	return r;
}

static int take_wake(struct spans_walk *w, uint32_t task, const struct span_note *n)
{
	struct walker *k = &w->walkers[task];
	int r;

	if (n->first)
		k->waking_ns = n->ns;
	if (k->running && n->ns <= k->run_end_ns) {
		/* One that completes while it runs has put nobody to wait. */
		k->woken_soon = n->first;
		k->wakeup = n->first ? n->number : 0;
		return 0;
	}
	if (n->number)
		k->wakeup = n->number;
	if (k->state == SPAN_PREEMPTED || k->state == SPAN_WOKEN)
		return 0;
	r = stay(w, task, n->ns, NONE);
	k->state = SPAN_WOKEN;
	k->since_ns = n->ns;
	return r;
}

static int take_fork(struct spans_walk *w, uint32_t task, const struct span_note *n)
{
	struct walker *k = &w->walkers[task];
	int r;

	if (!k->seen)
		k->state = SPAN_UNBORN;
	r = stay(w, task, n->ns, NONE);
	k->state = SPAN_UNBORN;
	k->since_ns = n->ns;
	k->cpu = NONE;
	k->wakeup = 0;
	k->running = k->woken_soon = k->exited = false;
	return r;
}

/* It ended some time before this. */
static int take_over(struct spans_walk *w, uint32_t task, const struct span_note *n)
{
	struct walker *k = &w->walkers[task];
	int r = stay(w, task, n->ns, NONE);

	k->state = SPAN_DEAD;
	k->since_ns = n->ns;
	k->wakeup = 0;
	k->running = k->woken_soon = false;
	return r;
}

static int take_lead(struct spans_walk *w, uint32_t task, const struct span_note *n)
{
	struct walker *k = &w->walkers[task];
	int r = stay(w, task, n->ns, NONE);

	k->state = SPAN_UNKNOWN;
	k->since_ns = n->ns;
	k->exited = false;
	return r;
}

static int take_note(struct spans_walk *w, uint32_t task, const struct span_note *n)
{
	struct walker *k = &w->walkers[task];
	int r = 0;

	if (w->in_range && n->ns >= w->s->to_ns) { /* only where it turns up counts */
		if (n->type == NOTE_RUN)
			r = stay(w, task, w->s->to_ns, n->number);
		return r < 0 ? r : 0;
	}
	switch (n->type) {
	case NOTE_RUN:
		r = take_run(w, task, n);
		break;
	case NOTE_LEAVE:
		r = take_leave(w, task, n);
		break;
	case NOTE_WAKE:
		r = take_wake(w, task, n);
		break;
	case NOTE_FORK:
		r = take_fork(w, task, n);
		break;
	case NOTE_OVER:
		r = take_over(w, task, n);
		break;
	case NOTE_LEAD:
		r = take_lead(w, task, n);
		break;
	default:
		k->exited = true;
	}
	k->seen = true;
	return r;
}

/* --- tasks --- */

static int walk_task(struct spans_walk *w, uint32_t task)
{
	uint32_t number = w->walkers[task].first_note;
	int r = 0;

	for (; number && r >= 0; number = w->notes[number - 1].after)
		r = take_note(w, task, &w->notes[number - 1]);
	w->walkers[task].first_note = w->walkers[task].last_note = 0;
	return r;
}

static int prepare(struct spans_walk *w, uint32_t n_tasks)
{
	int r = grow_walkers(w, n_tasks);

	return r == 0 ? sort_gaps(w) : r;
}

int spans_walk_settle(struct spans_walk *w, uint32_t n_tasks)
{
	uint32_t t;
	int r = prepare(w, n_tasks);

	for (t = 0; t < n_tasks && r >= 0; t++)
		r = walk_task(w, t);
	w->n_notes = 0;
	return r < 0 ? r : 0;
}

/* Nothing is told of the time behind the last that is known. */
static void drop_end(struct spans *s, struct span_task *t)
{
	while (t->n_spans && s->spans[s->n_spans - 1].state == SPAN_UNKNOWN) {
		t->n_spans--;
		s->n_spans--;
	}
}

int spans_walk_finish(struct spans_walk *w, uint32_t n_tasks)
{
	struct spans *s = w->s;
	uint32_t t;
	int r = prepare(w, n_tasks);

	w->in_range = true;
	for (t = 0; t < n_tasks && r >= 0; t++) {
		w->walkers[t].at_ns = s->from_ns;
		s->tasks[t].first_span = s->n_spans;
		r = walk_task(w, t);
		if (r >= 0)
			r = stay(w, t, s->to_ns, NONE);
		drop_end(s, &s->tasks[t]);
	}
	return r < 0 ? r : 0;
}
