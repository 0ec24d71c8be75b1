/* SPDX-License-Identifier: MIT */
/*
 * latency: see latency.h.
 *
 * The cases are a heap with the shortest on top, so a new wait is compared with one number and
 * mostly goes no further. Who ran instead is looked up in a ring of the last slices of each CPU.
 * The tracker hands out the slice that a switch ends before the wait that it ends, so the ring is
 * complete when a case is made; if the tracker held the wait back, some of it may be gone.
 */
#include "analysis/latency.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAST_IDLE TRACKER_NONE
#define PAST_UNKNOWN (TRACKER_NONE - 1)
#define PAST_FOLDED (TRACKER_NONE - 2)

struct past {
	uint64_t from_ns;
	uint64_t to_ns;
	uint32_t task; /* or one of those above */
};

/* What one task had of the CPU within a wait; scratch, all zero between two cases. */
struct share {
	uint64_t ns;
	uint64_t from_ns;
	uint64_t to_ns;
};

/* The last LATENCY_HISTORY slices of a CPU; slice number i is at i % LATENCY_HISTORY. */
struct history {
	uint64_t n;
	struct past past[LATENCY_HISTORY];
};

struct latency {
	const struct trace_info *info;
	const struct trace_filter *only; /* NULL: all tasks */
	struct tracker *tracker;
	struct latency_waits all[WAIT_TYPES];
	struct latency_task *tasks; /* at the tracker's numbers until sorted */
	uint32_t n_tasks;
	uint32_t room_tasks;
	uint64_t folded;	    /* tasks */
	struct history **histories; /* by CPU */
	uint32_t n_histories;
	struct share *shares; /* by task */
	uint32_t n_shares;
	uint32_t *sharers; /* those with a share, LATENCY_HISTORY at most */
	uint32_t n_sharers;
	struct latency_case *cases;
	uint32_t n_cases;
	uint32_t room_cases;
};

static uint64_t length(const struct latency_case *c)
{
	return c->to_ns - c->from_ns;
}

static int get_task(struct latency *l, uint32_t task, struct latency_task **ret)
{
	struct latency_task *tasks;
	uint32_t room;

	if (task >= l->room_tasks) {
		room = task < 128 ? 256 : task * 2; /* tasks are limited by the tracker */
		tasks = realloc(l->tasks, (size_t)room * sizeof(*tasks));
		if (!tasks)
			return -ENOMEM;
		l->tasks = tasks;
		l->room_tasks = room;
	}
	if (task >= l->n_tasks) {
		memset(l->tasks + l->n_tasks, 0, (task + 1 - l->n_tasks) * sizeof(*tasks));
		l->n_tasks = task + 1;
	}
	*ret = &l->tasks[task];
	return 0;
}

static int get_history(struct latency *l, uint32_t cpu, struct history **ret)
{
	struct history **h;

	if (cpu >= l->n_histories) {
		h = realloc(l->histories, ((size_t)cpu + 1) * sizeof(struct history *));
		if (!h)
			return -ENOMEM;
		memset(h + l->n_histories, 0,
		       (cpu + 1 - l->n_histories) * sizeof(struct history *));
		l->histories = h;
		l->n_histories = cpu + 1;
	}
	if (!l->histories[cpu])
		l->histories[cpu] = calloc(1, sizeof(**h));
	*ret = l->histories[cpu];
	return *ret ? 0 : -ENOMEM;
}

static int on_slice(void *context, const struct tracker_slice *s)
{
	struct latency *l = context;
	struct history *h;
	struct past *p;
	int r;

	if (!l->room_cases || s->cpu >= LATENCY_HISTORY_CPUS)
		return 0;
	r = get_history(l, s->cpu, &h);
	if (r < 0)
		return r;
	p = &h->past[h->n++ % LATENCY_HISTORY];
	p->from_ns = s->from_ns;
	p->to_ns = s->to_ns;
	p->task = s->type == SLICE_TASK	  ? s->task
		  : s->type == SLICE_IDLE ? PAST_IDLE
					  : PAST_UNKNOWN;
	return 0;
}

/* --- who ran instead --- */

static int room_for_shares(struct latency *l)
{
	uint32_t n = tracker_n_tasks(l->tracker);
	struct share *shares;

	if (!l->sharers && !(l->sharers = calloc(LATENCY_HISTORY, sizeof(*l->sharers))))
		return -ENOMEM;
	if (n <= l->n_shares)
		return 0;
	n += n / 2;
	shares = realloc(l->shares, (size_t)n * sizeof(*shares));
	if (!shares)
		return -ENOMEM;
	memset(shares + l->n_shares, 0, (n - l->n_shares) * sizeof(*shares));
	l->shares = shares;
	l->n_shares = n;
	return 0;
}

/* One more stretch of a task within the wait; slices come newest first. */
static void add_share(struct latency *l, uint32_t task, uint64_t from_ns, uint64_t to_ns)
{
	struct share *s = &l->shares[task];

	if (!s->ns) {
		l->sharers[l->n_sharers++] = task;
		s->to_ns = to_ns;
	}
	s->from_ns = from_ns;
	s->ns += to_ns - from_ns;
}

static int by_time(const void *pa, const void *pb)
{
	const struct latency_blocker *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

/* Moves the shares into the case: the greatest by name, the rest as a sum. */
static void take_shares(struct latency *l, struct latency_case *c)
{
	struct latency_blocker all[LATENCY_BLOCKERS + 1];
	uint32_t i, n = 0;

	memset(all, 0, sizeof(all));
	for (i = 0; i < l->n_sharers; i++) {
		struct share *s = &l->shares[l->sharers[i]];
		const struct life *t = tracker_get_task(l->tracker, l->sharers[i]);
		struct latency_blocker *b = &all[n];

		b->pid = t->pid;
		b->born_ns = t->born_ns;
		memcpy(b->comm, t->comm, sizeof(b->comm));
		b->from_ns = s->from_ns;
		b->to_ns = s->to_ns;
		b->ns = s->ns;
		memset(s, 0, sizeof(*s));
		if (n < LATENCY_BLOCKERS) {
			n++;
			continue;
		}
		qsort(all, n + 1, sizeof(all[0]), by_time);
		c->others_ns += all[n].ns;
	}
	qsort(all, n, sizeof(all[0]), by_time);
	memcpy(c->blockers, all, n * sizeof(all[0]));
	c->n_blockers = n;
	l->n_sharers = 0;
}

static int find_blockers(struct latency *l, struct latency_case *c)
{
	const struct history *h = c->cpu < l->n_histories ? l->histories[c->cpu] : NULL;
	uint64_t i = h ? h->n : 0, covered_ns = 0;
	uint64_t oldest = i > LATENCY_HISTORY ? i - LATENCY_HISTORY : 0;
	int r = room_for_shares(l);

	for (; i > oldest && r >= 0; i--) {
		const struct past *p = &h->past[(i - 1) % LATENCY_HISTORY];
		uint64_t from_ns = p->from_ns > c->from_ns ? p->from_ns : c->from_ns;
		uint64_t to_ns = p->to_ns < c->to_ns ? p->to_ns : c->to_ns;

		if (p->to_ns <= c->from_ns)
			break;
		if (to_ns <= from_ns)
			continue;
		covered_ns += to_ns - from_ns;
		if (p->task == PAST_FOLDED)
			c->others_ns += to_ns - from_ns;
		else if (p->task == PAST_UNKNOWN)
			c->unknown_ns += to_ns - from_ns;
		else if (p->task == PAST_IDLE)
			c->idle_ns += to_ns - from_ns;
		else
			add_share(l, p->task, from_ns, to_ns);
	}
	c->unknown_ns += length(c) - covered_ns;
	if (r >= 0)
		take_shares(l, c);
	return r;
}

/* --- the longest waits --- */

/* Is a the worse case? Of equal ones the earlier, so that a result does not depend on luck. */
static bool worse(const struct latency_case *a, const struct latency_case *b)
{
	if (length(a) != length(b))
		return length(a) > length(b);
	return a->from_ns < b->from_ns;
}

static void sift_down(struct latency_case *heap, uint32_t n, uint32_t i)
{
	struct latency_case swap;
	uint32_t child;

	for (; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && worse(&heap[child], &heap[child + 1]))
			child++;
		if (!worse(&heap[i], &heap[child]))
			return;
		swap = heap[i];
		heap[i] = heap[child];
		heap[child] = swap;
	}
}

static void sift_up(struct latency_case *heap, uint32_t i)
{
	struct latency_case swap;

	for (; i && worse(&heap[(i - 1) / 2], &heap[i]); i = (i - 1) / 2) {
		swap = heap[i];
		heap[i] = heap[(i - 1) / 2];
		heap[(i - 1) / 2] = swap;
	}
}

static int fill_case(struct latency *l, struct latency_case *c, const struct tracker_wait *w)
{
	const struct life *t = tracker_get_task(l->tracker, w->task);

	c->pid = t->pid;
	c->born_ns = t->born_ns;
	memcpy(c->comm, t->comm, sizeof(c->comm));
	c->cpu = w->cpu;
	c->target_cpu = w->target_cpu;
	c->waker_cpu = w->waker_cpu;
	if (w->waker != TRACKER_NONE) {
		t = tracker_get_task(l->tracker, w->waker);
		c->waker_pid = t->pid;
		c->waker_born_ns = t->born_ns;
		memcpy(c->waker_comm, t->comm, sizeof(c->waker_comm));
	}
	return find_blockers(l, c);
}

static int keep_case(struct latency *l, const struct tracker_wait *w)
{
	struct latency_case c;
	int r;

	memset(&c, 0, sizeof(c));
	c.from_ns = w->from_ns;
	c.to_ns = w->to_ns;
	if (!l->room_cases || (l->n_cases == l->room_cases && !worse(&c, &l->cases[0])))
		return 0;
	r = fill_case(l, &c, w);
	if (r < 0)
		return r;
	if (l->n_cases < l->room_cases) {
		l->cases[l->n_cases++] = c;
		sift_up(l->cases, l->n_cases - 1);
	} else {
		l->cases[0] = c;
		sift_down(l->cases, l->n_cases, 0);
	}
	return 0;
}

/* The name it was last seen with, else that of the task table. */
static const char *get_comm(const struct latency *l, uint32_t task)
{
	const struct life *t = tracker_get_task(l->tracker, task);
	const struct trace_task *named =
		t->comm[0] ? NULL : lives_described(tracker_get_lives(l->tracker), l->info, task);

	return named ? named->comm : t->comm;
}

static bool is_selected(const struct latency *l, uint32_t task)
{
	const struct life *t = tracker_get_task(l->tracker, task);

	return !l->only || filter_has_task(l->only, t->pid, get_comm(l, task), t->born_ns);
}

static int on_wait(void *context, const struct tracker_wait *w)
{
	struct latency *l = context;
	struct latency_task *task;
	int r = get_task(l, w->task, &task);

	if (r < 0 || !is_selected(l, w->task))
		return r;
	l->all[w->type].ends[w->end]++;
	task->waits[w->type].ends[w->end]++;
	if (w->end != WAIT_RAN)
		return 0;
	r = histogram_add(&l->all[w->type].known, w->to_ns - w->from_ns);
	if (r >= 0)
		r = histogram_add(&task->waits[w->type].known, w->to_ns - w->from_ns);
	if (r >= 0 && w->type == WAIT_WAKEUP)
		r = keep_case(l, w);
	return r;
}

static bool is_empty(const struct latency_task *t)
{
	uint32_t k;

	for (k = 0; k < WAIT_TYPES * WAIT_ENDS; k++)
		if (t->waits[k / WAIT_ENDS].ends[k % WAIT_ENDS])
			return false;
	return true;
}

static void free_task(struct latency_task *t)
{
	uint32_t k;

	for (k = 0; k < WAIT_TYPES; k++)
		histogram_done(&t->waits[k].known);
}

/* The longest waits matter. */
static uint64_t weigh(const void *context, uint32_t task)
{
	const struct latency *l = context;

	return task < l->n_tasks ? l->tasks[task].waits[WAIT_WAKEUP].known.max : 0;
}

/* Who had a CPU is remembered by numbers, which others will get. */
static void forget_past(struct latency *l, const bool *folded)
{
	struct history *h;
	uint32_t cpu, i;

	for (cpu = 0; cpu < l->n_histories; cpu++) {
		h = l->histories[cpu];
		for (i = 0; h && i < LATENCY_HISTORY; i++)
			if (h->past[i].task < l->n_tasks && folded[h->past[i].task])
				h->past[i].task = PAST_FOLDED;
	}
}

static int on_fold(void *context, const uint32_t *tasks, uint32_t n)
{
	struct latency *l = context;
	struct latency_task *task;
	_cleanup_free_ bool *folded = NULL;
	uint32_t i;

	if (get_task(l, tracker_n_tasks(l->tracker) - 1, &task) < 0)
		return -ENOMEM;
	folded = calloc(l->n_tasks, sizeof(*folded));
	if (!folded)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		task = &l->tasks[tasks[i]];
		folded[tasks[i]] = true;
		l->folded += !is_empty(task) || is_selected(l, tasks[i]);
		free_task(task);
		memset(task, 0, sizeof(*task));
	}
	forget_past(l, folded);
	return 0;
}

static const struct tracker_ops ops = {
	.slice = on_slice,
	.wait = on_wait,
	.fold = on_fold,
	.weight = weigh,
};

int latency_new(struct latency **ret, const struct trace_info *info, uint32_t n_cases)
{
	CLEANUP(latency) struct latency *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->info = info;
	l->room_cases = n_cases < LATENCY_CASES_MAX ? n_cases : LATENCY_CASES_MAX;
	l->cases = calloc((size_t)l->room_cases + 1, sizeof(*l->cases));
	if (!l->cases)
		return -ENOMEM;
	r = tracker_new(&l->tracker, info, &ops, l);
	if (r < 0)
		return r;
	*ret = take_ptr(l);
	return 0;
}

void latency_free(struct latency *l)
{
	uint32_t i, k;

	if (!l)
		return;
	for (i = 0; i < l->n_tasks; i++)
		free_task(&l->tasks[i]);
	for (k = 0; k < WAIT_TYPES; k++)
		histogram_done(&l->all[k].known);
	for (i = 0; i < l->n_histories; i++)
		free(l->histories[i]);
	tracker_free(l->tracker);
	free(l->histories);
	free(l->shares);
	free(l->sharers);
	free(l->tasks);
	free(l->cases);
	free(l);
}

void latency_select(struct latency *l, const struct trace_filter *only)
{
	l->only = only;
}

void latency_allow(struct latency *l, uint32_t most)
{
	tracker_allow(l->tracker, most);
}

int latency_add(struct latency *l, const struct trace_item *item, struct error *e)
{
	return tracker_add(l->tracker, item, e);
}

static int by_length(const void *a, const void *b)
{
	return worse(a, b) ? -1 : worse(b, a);
}

/* Takes those out of the list that were not asked for. A task that had such a name only for some
 * time stays if it waited then. */
static void drop_tasks(struct latency *l)
{
	uint32_t i, n = 0;

	for (i = 0; i < l->n_tasks; i++) {
		struct latency_task *t = &l->tasks[i];

		if (!tracker_has_task(l->tracker, i) || (is_empty(t) && !is_selected(l, i)))
			continue; /* its histograms are empty */
		if (n < i)
			l->tasks[n] = *t;
		n++;
	}
	l->n_tasks = n;
}

static void name_task(struct latency *l, uint32_t index)
{
	const struct life *t = tracker_get_task(l->tracker, index);
	const char *comm = get_comm(l, index);
	struct latency_task *task = &l->tasks[index];

	task->pid = t->pid;
	task->tgid = lives_tgid(tracker_get_lives(l->tracker), l->info, index);
	task->birth_seen = t->birth_seen;
	task->born_ns = t->born_ns;
	task->ended = t->ended;
	task->ended_ns = t->ended ? t->ended_ns : 0;
	memcpy(task->comm, comm, SCHED_COMM_LEN);
	memcpy(task->first_comm, t->comm[0] ? t->first_comm : comm, SCHED_COMM_LEN);
}

int latency_finish(struct latency *l, struct error *e)
{
	uint32_t n = tracker_n_tasks(l->tracker), i;
	struct latency_task *task;
	int r = tracker_finish(l->tracker, e);

	if (r < 0)
		return r;
	if (n && get_task(l, n - 1, &task) < 0)
		return error_set(e, ENOMEM, "cannot sum up the tasks: out of memory");
	for (i = 0; i < n; i++)
		if (tracker_has_task(l->tracker, i))
			name_task(l, i);
	drop_tasks(l);
	qsort(l->cases, l->n_cases, sizeof(*l->cases), by_length);
	latency_sort(l, LATENCY_BY_MAX);
	return 0;
}

uint64_t latency_average(const struct latency_waits *w)
{
	return w->known.count ? w->known.sum / w->known.count : 0;
}

static uint64_t sort_key(const struct latency_task *t, enum latency_order order)
{
	const struct latency_waits *w = &t->waits[WAIT_WAKEUP];

	switch (order) {
	case LATENCY_BY_P99:
		return histogram_permille(&w->known, 990);
	case LATENCY_BY_AVERAGE:
		return latency_average(w);
	case LATENCY_BY_TOTAL:
		return w->known.sum;
	case LATENCY_BY_COUNT:
		return w->known.count;
	case LATENCY_BY_PID:
	case LATENCY_BY_COMM:
		return 0;
	default:
		return w->known.max;
	}
}

static int compare(const void *pa, const void *pb, void *order)
{
	const struct latency_task *a = pa, *b = pb;
	enum latency_order by = *(const enum latency_order *)order;
	uint64_t ka = sort_key(a, by), kb = sort_key(b, by);
	int by_name = by == LATENCY_BY_COMM ? memcmp(a->comm, b->comm, sizeof(a->comm)) : 0;

	if (by_name)
		return by_name;
	if (ka != kb)
		return ka > kb ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->born_ns > b->born_ns) - (a->born_ns < b->born_ns);
}

void latency_sort(struct latency *l, enum latency_order order)
{
	if (l->n_tasks)
		qsort_r(l->tasks, l->n_tasks, sizeof(*l->tasks), compare, &order);
}

const struct latency_waits *latency_get_all(const struct latency *l, enum wait_type type)
{
	return &l->all[type];
}

const struct latency_task *latency_get_tasks(const struct latency *l, size_t *ret_n)
{
	*ret_n = l->n_tasks;
	return l->tasks;
}

const struct latency_case *latency_get_cases(const struct latency *l, size_t *ret_n)
{
	*ret_n = l->n_cases;
	return l->cases;
}

uint64_t latency_get_folded(const struct latency *l)
{
	return l->folded;
}

uint64_t latency_from_ns(const struct latency *l)
{
	return tracker_from_ns(l->tracker);
}

uint64_t latency_to_ns(const struct latency *l)
{
	return tracker_to_ns(l->tracker);
}
