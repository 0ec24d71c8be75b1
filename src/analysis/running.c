/* SPDX-License-Identifier: MIT */
/* running: see running.h. Rows stand at the tracker's task and CPU numbers until they are sorted. */
#include "analysis/running.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tracker.h"

struct row {
	struct running_task task;
	uint32_t cpu; /* of its last run, or TRACKER_NONE */
};

struct running {
	const struct trace_info *info;
	struct tracker *tracker;
	struct row *rows;
	uint32_t n_rows;
	uint32_t room_rows;
	struct running_task *tasks; /* made of the rows by running_finish() */
	uint32_t n_tasks;
	const struct trace_filter *only; /* NULL: all tasks */
	int32_t left_out;		 /* a thread group; 0: none */
	struct running_cpu *cpus;
	uint32_t n_cpus;
	struct running_total total;
};

static int get_row(struct running *r, uint32_t task, struct row **ret)
{
	struct row *rows;
	uint32_t room;

	if (task >= r->room_rows) {
		room = task < 128 ? 256 : task * 2; /* tasks are limited by the tracker */
		rows = realloc(r->rows, (size_t)room * sizeof(*rows));
		if (!rows)
			return -ENOMEM;
		r->rows = rows;
		r->room_rows = room;
	}
	for (; r->n_rows <= task; r->n_rows++) {
		memset(&r->rows[r->n_rows], 0, sizeof(*r->rows));
		r->rows[r->n_rows].cpu = TRACKER_NONE;
	}
	*ret = &r->rows[task];
	return 0;
}

static int get_cpu(struct running *r, uint32_t cpu, struct running_cpu **ret)
{
	struct running_cpu *cpus;

	if (cpu >= r->n_cpus) {
		cpus = realloc(r->cpus, ((size_t)cpu + 1) * sizeof(*cpus));
		if (!cpus)
			return -ENOMEM;
		memset(cpus + r->n_cpus, 0, (cpu + 1 - r->n_cpus) * sizeof(*cpus));
		r->cpus = cpus;
		r->n_cpus = cpu + 1;
	}
	*ret = &r->cpus[cpu];
	return 0;
}

static int on_slice(void *context, const struct tracker_slice *s)
{
	struct running *r = context;
	uint64_t ns = s->to_ns - s->from_ns;
	struct running_cpu *cpu;
	struct row *row;
	int rc = get_cpu(r, s->cpu, &cpu);

	if (rc < 0)
		return rc;
	if (s->inferred) {
		cpu->inferred_ns += ns;
		cpu->inferred++;
	}
	if (s->type == SLICE_UNKNOWN)
		cpu->unknown_ns += ns;
	if (s->type == SLICE_IDLE)
		cpu->idle_ns += ns;
	if (s->type != SLICE_TASK)
		return 0;
	cpu->busy_ns += ns;
	rc = get_row(r, s->task, &row);
	if (rc < 0)
		return rc;
	row->task.cpu_ns += ns;
	if (s->inferred)
		row->task.inferred_ns += ns;
	if (row->cpu != s->cpu && row->cpu != TRACKER_NONE)
		row->task.migrations++;
	row->cpu = s->cpu;
	return 0;
}

static int on_wait(void *context, const struct tracker_wait *w)
{
	struct row *row;
	uint64_t ns = w->to_ns - w->from_ns;
	int rc = get_row(context, w->task, &row);

	if (rc < 0 || w->end == WAIT_UNSEEN)
		return rc;
	if (w->type == WAIT_WAKEUP && w->end == WAIT_RAN) {
		row->task.waits++;
		row->task.wait_ns += ns;
		if (ns > row->task.wait_max_ns)
			row->task.wait_max_ns = ns;
	} else if (w->type == WAIT_WAKEUP) {
		row->task.waits_unknown++;
	} else if (w->end == WAIT_RAN) {
		row->task.preempted_waits++;
		row->task.preempted_ns += ns;
		if (ns > row->task.preempted_max_ns)
			row->task.preempted_max_ns = ns;
	} else {
		row->task.preempted_unknown++;
	}
	return 0;
}

static int on_wakeup(void *context, uint32_t task)
{
	struct row *row;
	int rc = get_row(context, task, &row);

	if (rc >= 0)
		row->task.wakeups++;
	return rc;
}

static int on_leave(void *context, uint32_t task, bool preempted)
{
	struct row *row;
	int rc = get_row(context, task, &row);

	if (rc >= 0) {
		row->task.switches++;
		row->task.preemptions += preempted;
	}
	return rc;
}

static void sum_task(struct running_task *t, const struct running_task *k)
{
	t->cpu_ns += k->cpu_ns;
	t->inferred_ns += k->inferred_ns;
	t->switches += k->switches;
	t->preemptions += k->preemptions;
	t->wakeups += k->wakeups;
	t->migrations += k->migrations;
	t->waits += k->waits;
	t->wait_ns += k->wait_ns;
	t->waits_unknown += k->waits_unknown;
	t->preempted_waits += k->preempted_waits;
	t->preempted_ns += k->preempted_ns;
	t->preempted_unknown += k->preempted_unknown;
	if (k->wait_max_ns > t->wait_max_ns)
		t->wait_max_ns = k->wait_max_ns;
	if (k->preempted_max_ns > t->preempted_max_ns)
		t->preempted_max_ns = k->preempted_max_ns;
}

static void name_task(const struct running *r, uint32_t index, struct running_task *k)
{
	const struct life *t = tracker_get_task(r->tracker, index);
	const struct trace_task *named =
		lives_described(tracker_get_lives(r->tracker), r->info, index);

	k->pid = t->pid;
	k->tgid = lives_tgid(tracker_get_lives(r->tracker), r->info, index);
	k->birth_seen = t->birth_seen;
	k->born_ns = t->born_ns;
	k->ended = t->ended;
	k->ended_ns = t->ended ? t->ended_ns : 0;
	memcpy(k->comm, t->comm, sizeof(k->comm));
	memcpy(k->first_comm, t->first_comm, sizeof(k->first_comm));
	if (!k->comm[0] && named) {
		memcpy(k->comm, named->comm, sizeof(k->comm));
		memcpy(k->first_comm, named->comm, sizeof(k->first_comm));
	}
}

/* A thread that came after the table of tasks was made has no group; its first one names it. */
static bool is_selected(const struct running *r, const struct running_task *t)
{
	if (r->left_out && (t->tgid == r->left_out || t->pid == r->left_out))
		return false;
	return !r->only || filter_has_task(r->only, t->pid, t->comm, t->born_ns);
}

static uint64_t weigh(const void *context, uint32_t task)
{
	const struct running *r = context;

	return task < r->n_rows ? r->rows[task].task.cpu_ns : 0;
}

static int on_fold(void *context, const uint32_t *tasks, uint32_t n)
{
	struct running *r = context;
	struct row *row;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (get_row(r, tasks[i], &row) < 0)
			return -ENOMEM;
		name_task(r, tasks[i], &row->task);
		if (is_selected(r, &row->task)) {
			sum_task(&r->total.others, &row->task);
			r->total.folded++;
		}
		memset(row, 0, sizeof(*row));
		row->cpu = TRACKER_NONE;
	}
	return 0;
}

static const struct tracker_ops ops = {
	.slice = on_slice,
	.wait = on_wait,
	.wakeup = on_wakeup,
	.leave = on_leave,
	.fold = on_fold,
	.weight = weigh,
};

int running_new(struct running **ret, const struct trace_info *info)
{
	CLEANUP(running) struct running *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return -ENOMEM;
	r->info = info;
	rc = tracker_new(&r->tracker, info, &ops, r);
	if (rc < 0)
		return rc;
	*ret = take_ptr(r);
	return 0;
}

void running_free(struct running *r)
{
	if (!r)
		return;
	tracker_free(r->tracker);
	free(r->rows);
	free(r->tasks);
	free(r->cpus);
	free(r);
}

int running_add(struct running *r, const struct trace_item *item, struct error *e)
{
	struct running_cpu *cpu;
	int rc = tracker_add(r->tracker, item, e); /* it checks the CPU's number */

	if (rc < 0)
		return rc;
	if (get_cpu(r, item->cpu, &cpu) < 0)
		return error_set(e, ENOMEM, "cannot count the events: out of memory");
	if (item->type == ITEM_LOSS) {
		cpu->losses++;
		if (item->loss.count == LOSS_UNKNOWN)
			cpu->lost_unknown++;
		else
			cpu->lost += item->loss.count;
		return 0;
	}
	cpu->events++;
	cpu->switches += item->event.kind == SCHED_SWITCH;
	return 0;
}

bool running_has_cpu(const struct running_cpu *c)
{
	return c->events || c->losses;
}

static void sum_cpus(struct running *r)
{
	struct running_cpu *t = &r->total.cpu;
	uint32_t i;

	for (i = 0; i < r->n_cpus; i++) {
		const struct running_cpu *c = &r->cpus[i];

		if (!running_has_cpu(c))
			continue;
		r->total.cpus++;
		t->busy_ns += c->busy_ns;
		t->idle_ns += c->idle_ns;
		t->unknown_ns += c->unknown_ns;
		t->inferred_ns += c->inferred_ns;
		t->events += c->events;
		t->switches += c->switches;
		t->inferred += c->inferred;
		t->losses += c->losses;
		t->lost += c->lost;
		t->lost_unknown += c->lost_unknown;
	}
}

void running_select(struct running *r, const struct trace_filter *only)
{
	r->only = only;
}

void running_leave_out(struct running *r, int32_t tgid)
{
	r->left_out = tgid;
}

void running_allow(struct running *r, uint32_t most)
{
	tracker_allow(r->tracker, most);
}

int running_finish(struct running *r, struct error *e)
{
	uint32_t n = tracker_n_tasks(r->tracker), i;
	struct running_cpu *cpu;
	struct row *row;
	int rc = tracker_finish(r->tracker, e);

	if (rc < 0)
		return rc;
	if ((n && get_row(r, n - 1, &row) < 0) ||
	    (tracker_n_cpus(r->tracker) && get_cpu(r, tracker_n_cpus(r->tracker) - 1, &cpu) < 0) ||
	    !(r->tasks = calloc(n + 1, sizeof(*r->tasks))))
		return error_set(e, ENOMEM, "cannot sum up the tasks: out of memory");
	for (i = 0; i < n; i++) {
		struct running_task *task = &r->tasks[r->n_tasks];

		if (!tracker_has_task(r->tracker, i))
			continue;
		*task = r->rows[i].task;
		name_task(r, i, task);
		if (!is_selected(r, task))
			continue;
		sum_task(&r->total.task, task);
		r->n_tasks++;
	}
	sum_task(&r->total.task, &r->total.others);
	r->total.tasks = r->n_tasks + r->total.folded;
	sum_cpus(r);
	r->total.from_ns = tracker_from_ns(r->tracker);
	r->total.to_ns = tracker_to_ns(r->tracker);
	running_sort(r, RUNNING_BY_CPU);
	return 0;
}

uint64_t running_wait_average(const struct running_task *t)
{
	return t->waits ? t->wait_ns / t->waits : 0;
}

static uint64_t sort_key(const struct running_task *t, enum running_order order)
{
	switch (order) {
	case RUNNING_BY_SWITCHES:
		return t->switches;
	case RUNNING_BY_WAKEUPS:
		return t->wakeups;
	case RUNNING_BY_PREEMPTIONS:
		return t->preemptions;
	case RUNNING_BY_MIGRATIONS:
		return t->migrations;
	case RUNNING_BY_WAIT:
		return running_wait_average(t);
	case RUNNING_BY_WAIT_MAX:
		return t->wait_max_ns;
	case RUNNING_BY_PID:
	case RUNNING_BY_COMM:
		return 0;
	default:
		return t->cpu_ns;
	}
}

static int compare(const void *pa, const void *pb, void *order)
{
	const struct running_task *a = pa, *b = pb;
	enum running_order by = *(const enum running_order *)order;
	uint64_t ka = sort_key(a, by), kb = sort_key(b, by);
	int by_name = by == RUNNING_BY_COMM ? memcmp(a->comm, b->comm, sizeof(a->comm)) : 0;

	if (by_name)
		return by_name;
	if (ka != kb)
		return ka > kb ? -1 : 1;
	if (a->pid != b->pid) /* rows of equal weight keep one order */
		return a->pid < b->pid ? -1 : 1;
	return (a->born_ns > b->born_ns) - (a->born_ns < b->born_ns);
}

void running_sort(struct running *r, enum running_order order)
{
	qsort_r(r->tasks, r->n_tasks, sizeof(*r->tasks), compare, &order);
}

const struct running_task *running_get_tasks(const struct running *r, size_t *ret_n)
{
	*ret_n = r->n_tasks;
	return r->tasks;
}

const struct running_cpu *running_get_cpus(const struct running *r, size_t *ret_n)
{
	*ret_n = r->n_cpus;
	return r->cpus;
}

const struct running_total *running_get_total(const struct running *r)
{
	return &r->total;
}
