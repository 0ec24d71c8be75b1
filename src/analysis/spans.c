/* SPDX-License-Identifier: MIT */
/*
 * spans: see spans.h. Here the items are taken apart: runs and slices come back from the tracker,
 * all else is noted for spans_walk.h, which has the states.
 */
#include "analysis/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/spans_walk.h"
#include "store/array.h"
#include "trace/pidmap.h"

#define FLAG_HARDIRQ 0x08U
#define FLAG_SOFTIRQ 0x10U
#define FLAG_NMI 0x40U
#define SETTLE_NOTES (1U << 18) /* so many of before the range are kept at a time */

struct spans_work {
	const struct trace_info *info;
	struct tracker *tracker;
	struct spans_walk *walk;
	const struct trace_item *item; /* the one that is being added */
	uint64_t ns;		       /* and its time */
	uint64_t taken, noted;
	bool begun;	   /* an item of the range, or from behind it, came */
	uint32_t *parents; /* task + 1, by task */
	size_t n_parents;
	bool *cpu_seen;
};

enum span_state span_state_of(const struct sched_dialect *d, uint64_t prev_state)
{
	uint64_t bits = prev_state & d->state_mask;
	bool blocked = false, idle = false;
	uint32_t i;

	if (!bits)
		return SPAN_PREEMPTED;
	for (i = 0; i < DIALECT_STATE_BITS; i++) {
		char letter = bits >> i & 1 ? d->state_letters[i] : 0;

		if (letter == 'Z' || letter == 'X' || letter == 'x')
			return SPAN_DEAD;
		if (letter == 'T' || letter == 't')
			return SPAN_STOPPED;
		blocked = blocked || letter == 'D';
		/* 'N' is a wait that does not count as load, which 4.14 and later call 'I'. */
		idle = idle || letter == 'I' || letter == 'P' || letter == 'N';
	}
	return idle ? SPAN_IDLE : blocked ? SPAN_BLOCKED : SPAN_SLEEPING;
}

bool span_is_interrupt(const struct sched_dialect *d, const struct sched_event *ev)
{
	return !(d->features & DIALECT_NO_FLAGS) && (ev->flags & (FLAG_HARDIRQ | FLAG_NMI));
}

/* --- what the tracker hands out --- */

static int put_slice(struct spans *s, struct span_cpu *c, uint64_t to_ns, struct span_slice one)
{
	struct span_slice *last = c->n ? &c->slices[c->n - 1] : NULL;
	int r;

	if (to_ns > s->to_ns)
		to_ns = s->to_ns;
	if (to_ns <= c->at_ns)
		return 0;
	one.length_ns = to_ns - c->at_ns;
	c->at_ns = to_ns;
	if (last && one.type == SLICE_UNKNOWN && last->type == SLICE_UNKNOWN) {
		last->length_ns += one.length_ns;
		return 0;
	}
	r = array_grow(&c->slices, c->n, &c->room, sizeof(*c->slices), 2 * SPANS_EVENTS_MAX);
	if (r < 0)
		return r;
	c->slices[c->n++] = one;
	return 0;
}

static int take_slice(void *context, const struct tracker_slice *t)
{
	struct spans *s = context;
	struct span_cpu *c;
	int r = 0;

	if (t->type == SLICE_TASK)
		r = spans_walk_add(s->work->walk, t->task,
				   &(struct span_note){ .type = NOTE_RUN,
							.number = t->cpu,
							.ns = t->from_ns,
							.to_ns = t->to_ns });
	if (r < 0 || t->cpu >= s->n_cpus)
		return r;
	c = &s->cpus[t->cpu];
	/* Time that nobody spoke of: it should not be, but a picture has no holes. */
	r = put_slice(s, c, t->from_ns, (struct span_slice){ .type = SLICE_UNKNOWN });
	if (r < 0)
		return r;
	return put_slice(s, c, t->to_ns,
			 (struct span_slice){ .type = (uint8_t)t->type,
					      .task = t->task,
					      .inferred = t->inferred });
}

static int take_leave(void *context, uint32_t task, bool preempted)
{
	const struct spans_work *k = ((struct spans *)context)->work;
	struct span_note n = { .type = NOTE_LEAVE, .ns = k->ns, .number = k->item->cpu };

	(void)preempted;
	n.state = (uint8_t)span_state_of(&k->info->dialect, k->item->event.state);
	return spans_walk_add(k->walk, task, &n);
}

/* Who woke, or nobody. */
static uint32_t find_waker(const struct spans_work *k)
{
	const struct sched_event *ev = &k->item->event;

	if (!ev->pid || (k->info->dialect.features & DIALECT_NO_CUR) ||
	    span_is_interrupt(&k->info->dialect, ev))
		return TRACKER_NONE;
	return tracker_find_task(k->tracker, ev->pid);
}

/* A wakeup that is not the second event of one. */
static int take_wakeup(void *context, uint32_t task)
{
	struct spans *s = context;
	struct spans_work *k = s->work;
	int r;

	k->noted = 1;
	if (k->ns < s->from_ns || k->ns >= s->to_ns)
		return 0;
	r = array_grow(&s->wakeups, s->n_wakeups, &s->room_wakeups, sizeof(*s->wakeups),
		       SPANS_EVENTS_MAX);
	if (r < 0)
		return r;
	s->wakeups[s->n_wakeups++] =
		(struct span_wakeup){ .ns = k->ns,
				      .task = task,
				      .waker = find_waker(k),
				      .cpu = k->item->cpu,
				      .softirq = k->item->event.flags & FLAG_SOFTIRQ };
	k->noted = s->n_wakeups + 1;
	return 0;
}

static int take_over(void *context, uint32_t task)
{
	const struct spans_work *k = ((struct spans *)context)->work;

	return spans_walk_add(k->walk, task, &(struct span_note){ .type = NOTE_OVER, .ns = k->ns });
}

static const struct tracker_ops tracker_ops = {
	.slice = take_slice,
	.leave = take_leave,
	.over = take_over,
	.wakeup = take_wakeup,
};

/* --- items --- */

int spans_new(struct spans **ret, const struct trace_info *info, uint64_t from_ns, uint64_t to_ns)
{
	CLEANUP(spans) struct spans *s = calloc(1, sizeof(*s));
	uint32_t i;

	if (from_ns >= to_ns)
		return -EINVAL;
	if (!s)
		return -ENOMEM;
	s->from_ns = from_ns;
	s->to_ns = to_ns;
	s->n_cpus = info->cpus <= TRACE_CPUS_MAX ? info->cpus : TRACE_CPUS_MAX;
	s->cpus = calloc((size_t)s->n_cpus + 1, sizeof(*s->cpus));
	s->work = calloc(1, sizeof(*s->work));
	if (!s->cpus || !s->work)
		return -ENOMEM;
	for (i = 0; i < s->n_cpus; i++)
		s->cpus[i].at_ns = from_ns;
	s->work->info = info;
	s->work->cpu_seen = calloc((size_t)s->n_cpus + 1, sizeof(*s->work->cpu_seen));
	if (!s->work->cpu_seen || tracker_new(&s->work->tracker, info, &tracker_ops, s) < 0 ||
	    spans_walk_new(&s->work->walk, s) < 0)
		return -ENOMEM;
	*ret = take_ptr(s);
	return 0;
}

static void free_work(struct spans_work *k)
{
	if (!k)
		return;
	tracker_free(k->tracker);
	spans_walk_free(k->walk);
	free(k->parents);
	free(k->cpu_seen);
	free(k);
}

void spans_free(struct spans *s)
{
	uint32_t i;

	if (!s)
		return;
	free_work(s->work);
	for (i = 0; s->cpus && i < s->n_cpus; i++)
		free(s->cpus[i].slices);
	free(s->cpus);
	free(s->tasks);
	free(s->spans);
	free(s->wakeups);
	free(s->losses);
	free(s);
}

static int note_loss(struct spans *s, const struct trace_item *item)
{
	const struct trace_clock *c = &s->work->info->clock;
	uint64_t from_ns = item->loss.from_tick ? clock_ns(c, item->loss.from_tick) : 0;
	uint64_t to_ns = clock_ns(c, item->loss.to_tick);
	struct span_gap gap = { .cpu = item->cpu, .from_ns = from_ns, .to_ns = to_ns };
	int r;

	if (to_ns == from_ns) /* nothing followed: nobody knows how far it reaches */
		gap.to_ns = UINT64_MAX;
	r = spans_walk_add_gap(s->work->walk, &gap);
	if (r < 0 || to_ns < s->from_ns || from_ns >= s->to_ns)
		return r;
	r = array_grow(&s->losses, s->n_losses, &s->room_losses, sizeof(*s->losses),
		       SPANS_EVENTS_MAX);
	if (r < 0)
		return r;
	s->losses[s->n_losses++] = (struct span_loss){
		.from_ns = from_ns > s->from_ns ? from_ns : s->from_ns,
		.to_ns = to_ns < s->to_ns ? to_ns : s->to_ns,
		.count = item->loss.count,
		.cpu = item->cpu,
		.cause = item->loss.cause,
	};
	return 0;
}

static int set_parent(struct spans_work *k, uint32_t child, uint32_t parent)
{
	size_t n = (size_t)tracker_n_tasks(k->tracker) * 2;
	uint32_t *grown;

	if (child >= k->n_parents) {
		grown = realloc(k->parents, n * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + k->n_parents, 0, (n - k->n_parents) * sizeof(*grown));
		k->parents = grown;
		k->n_parents = n;
	}
	k->parents[child] = parent + 1; /* TRACKER_NONE becomes 0 */
	return 0;
}

static int note_fork(struct spans_work *k, const struct sched_event *ev)
{
	uint32_t child = tracker_find_task(k->tracker, ev->other.pid);
	int r;

	if (!ev->other.pid || child == TRACKER_NONE)
		return 0;
	r = set_parent(k, child,
		       ev->task.pid ? tracker_find_task(k->tracker, ev->task.pid) : TRACKER_NONE);
	if (r < 0)
		return r;
	return spans_walk_add(k->walk, child,
			      &(struct span_note){ .type = NOTE_FORK, .ns = k->ns });
}

/* What the tracker does not say of an event that it has just taken. */
static int note_event(struct spans_work *k, const struct sched_event *ev)
{
	struct span_note n = { .ns = k->ns };
	uint32_t task;

	switch (ev->kind) {
	case SCHED_WAKING:
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW:
		n.type = NOTE_WAKE;
		n.first = ev->kind == SCHED_WAKING;
		n.number = k->noted > 1 ? (uint32_t)k->noted - 1 : 0;
		break;
	case SCHED_FORK:
		return note_fork(k, ev);
	case SCHED_EXIT:
		n.type = NOTE_EXIT;
		break;
	case SCHED_EXEC:
		if (ev->value <= 0 || ev->value == ev->task.pid)
			return 0;
		n.type = NOTE_LEAD;
		break;
	default:
		return 0;
	}
	if (!ev->task.pid)
		return 0;
	task = tracker_find_task(k->tracker, ev->task.pid);
	return task == TRACKER_NONE ? 0 : spans_walk_add(k->walk, task, &n);
}

/* Nothing is known of a CPU before its first item. */
static int see_cpu(struct spans *s, const struct trace_item *item)
{
	struct spans_work *k = s->work;

	if (item->cpu >= s->n_cpus || k->cpu_seen[item->cpu])
		return 0;
	k->cpu_seen[item->cpu] = true;
	if (item->type == ITEM_LOSS)
		return 0;
	return spans_walk_add_gap(k->walk, &(struct span_gap){ .cpu = item->cpu, .to_ns = k->ns });
}

static int add_item(struct spans *s, const struct trace_item *item, struct error *e)
{
	struct spans_work *k = s->work;
	int r = see_cpu(s, item);

	if (r == 0 && item->type == ITEM_LOSS)
		r = note_loss(s, item);
	if (r < 0)
		return error_set(e, r, "cannot follow the tasks: %s", strerror(-r));
	r = tracker_add(k->tracker, item, e);
	if (r < 0 || item->type == ITEM_LOSS)
		return r;
	s->events += k->ns >= s->from_ns && k->ns < s->to_ns;
	r = note_event(k, &item->event);
	return r < 0 ? error_set(e, r, "cannot follow the tasks: %s", strerror(-r)) : 0;
}

int spans_add(struct spans *s, const struct trace_item *item, struct error *e)
{
	struct spans_work *k = s->work;
	bool begins;
	int r = 0;

	if (k->taken++ >= SPANS_EVENTS_MAX)
		return error_set(e, E2BIG, "cannot follow the tasks: more than %u events",
				 SPANS_EVENTS_MAX);
	k->item = item;
	k->noted = 0;
	k->ns = item->type == ITEM_EVENT ? clock_event_ns(&k->info->clock, &item->event)
					 : clock_ns(&k->info->clock, item->loss.from_tick);
	begins = !k->begun && item->type == ITEM_EVENT && k->ns >= s->from_ns;
	if (begins || (!k->begun && k->taken % SETTLE_NOTES == 0))
		r = spans_walk_settle(k->walk, tracker_n_tasks(k->tracker));
	k->begun = k->begun || begins;
	if (r < 0)
		return error_set(e, r, "cannot follow the tasks: %s", strerror(-r));
	return add_item(s, item, e);
}

/* --- the end --- */

static void name_task(const struct spans *s, uint32_t task)
{
	const struct spans_work *k = s->work;
	const struct life *seen = tracker_get_task(k->tracker, task);
	const struct lives *lives = tracker_get_lives(k->tracker);
	const struct trace_task *known = lives_described(lives, k->info, task);
	struct span_task *t = &s->tasks[task];

	t->pid = seen->pid;
	t->tgid = lives_tgid(lives, k->info, task);
	t->parent = task < k->n_parents && k->parents[task] ? k->parents[task] - 1 : TRACKER_NONE;
	memcpy(t->comm, seen->comm, sizeof(t->comm));
	if (!t->comm[0] && known)
		memcpy(t->comm, known->comm, sizeof(t->comm));
}

/* Tasks of which nothing is known in the range, and that nothing in it names, are left out. */
static void show_tasks(struct spans *s)
{
	uint32_t cpu, t;
	size_t i;

	for (t = 0; t < s->n_tasks; t++)
		s->tasks[t].shown = s->tasks[t].n_spans;
	for (i = 0; i < s->n_wakeups; i++) {
		s->tasks[s->wakeups[i].task].shown = true;
		if (s->wakeups[i].waker != TRACKER_NONE)
			s->tasks[s->wakeups[i].waker].shown = true;
	}
	for (cpu = 0; cpu < s->n_cpus; cpu++)
		for (i = 0; i < s->cpus[cpu].n; i++)
			if (s->cpus[cpu].slices[i].type == SLICE_TASK)
				s->tasks[s->cpus[cpu].slices[i].task].shown = true;
}

/* Who leads the group of a task that is shown, and is itself in no event: a process has his name. */
static int add_leader(struct spans *s, struct pidmap *seen, const struct span_task *t)
{
	const struct trace_task *leader =
		t->shown && t->tgid > 0 ? info_get_task(s->work->info, t->tgid) : NULL;
	struct span_task *tasks;

	if (!leader || leader->tgid != leader->pid || pidmap_get(seen, leader->pid))
		return 0;
	if (!pidmap_add(seen, leader->pid))
		return -ENOMEM;
	tasks = realloc(s->tasks, ((size_t)s->n_tasks + 2) * sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	s->tasks = tasks;
	tasks[s->n_tasks] = (struct span_task){
		.pid = leader->pid, .tgid = leader->tgid, .parent = TRACKER_NONE, .shown = true
	};
	memcpy(tasks[s->n_tasks++].comm, leader->comm, SCHED_COMM_LEN);
	return 0;
}

static int add_leaders(struct spans *s)
{
	struct pidmap *seen = pidmap_new(sizeof(int32_t));
	uint32_t n = s->n_tasks, i;
	int r = seen ? 0 : -ENOMEM;

	for (i = 0; i < n && r == 0; i++)
		if (s->tasks[i].shown && !pidmap_add(seen, s->tasks[i].pid))
			r = -ENOMEM;
	for (i = 0; i < n && r == 0; i++)
		r = add_leader(s, seen,
			       &(struct span_task){ .tgid = s->tasks[i].tgid,
						    .shown = s->tasks[i].shown });
	pidmap_free(seen);
	return r;
}

static int by_beginning(const void *a, const void *b)
{
	const struct span_loss *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->cause - y->cause;
}

static int by_time(const void *a, const void *b)
{
	const struct span_wakeup *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* They come by time, but for stamps that run backwards on their CPU. */
static void sort_wakeups(struct spans *s)
{
	size_t i;

	for (i = 1; i < s->n_wakeups; i++)
		if (s->wakeups[i].ns < s->wakeups[i - 1].ns) {
			qsort(s->wakeups, s->n_wakeups, sizeof(*s->wakeups), by_time);
			return;
		}
}

static int finish(struct spans *s)
{
	struct spans_work *k = s->work;
	uint32_t i;
	int r = 0;

	s->n_tasks = tracker_n_tasks(k->tracker);
	s->tasks = calloc((size_t)s->n_tasks + 1, sizeof(*s->tasks));
	if (!s->tasks)
		return -ENOMEM;
	for (i = 0; i < s->n_tasks; i++)
		name_task(s, i);
	for (i = 0; i < s->n_cpus && r >= 0; i++) {
		if (!k->cpu_seen[i])
			r = spans_walk_add_gap(k->walk,
					       &(struct span_gap){ .cpu = i, .to_ns = UINT64_MAX });
		if (r >= 0)
			r = put_slice(s, &s->cpus[i], s->to_ns,
				      (struct span_slice){ .type = SLICE_UNKNOWN });
	}
	if (r >= 0)
		r = spans_walk_finish(k->walk, s->n_tasks);
	if (r < 0)
		return r;
	if (s->n_losses)
		qsort(s->losses, s->n_losses, sizeof(*s->losses), by_beginning);
	sort_wakeups(s);
	show_tasks(s);
	return add_leaders(s);
}

int spans_finish(struct spans *s, struct error *e)
{
	struct spans_work *k = s->work;
	int r = 0;

	if (!k->begun)
		r = spans_walk_settle(k->walk, tracker_n_tasks(k->tracker));
	if (r >= 0) {
		k->item = NULL;
		r = tracker_finish(k->tracker, e);
		if (r < 0)
			return r;
		r = finish(s);
	}
	return r < 0 ? error_set(e, r, "cannot follow the tasks: %s", strerror(-r)) : 0;
}
