/* SPDX-License-Identifier: MIT */
/* top_table: see top_table.h. */
#include "cli/top_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "trace/pidmap.h"

struct top {
	struct pidmap *tasks;  /* of struct top_task: who has the pid now */
	struct top_task *gone; /* who had one, and did something since the last look */
	size_t n_gone, room_gone;
	struct top_task *sorted;
	size_t room_sorted;
	struct top_total total;
	struct top_cpu cpus[TRACE_CPUS_MAX];
};

int top_new(struct top **ret, struct error *e)
{
	CLEANUP(top) struct top *t = calloc(1, sizeof(*t));

	if (t)
		t->tasks = pidmap_new(sizeof(struct top_task));
	if (!t || !t->tasks)
		return error_set(e, ENOMEM, "cannot watch the tasks: out of memory");
	*ret = take_ptr(t);
	return 0;
}

void top_free(struct top *t)
{
	if (!t)
		return;
	pidmap_free(t->tasks);
	free(t->sorted);
	free(t->gone);
	free(t);
}

const struct top_total *top_get_total(const struct top *t)
{
	return &t->total;
}

const struct top_cpu *top_get_cpu(const struct top *t, uint32_t cpu)
{
	return &t->cpus[cpu];
}

/* --- what happens --- */

/* NULL if there are too many: then nobody is charged. */
static struct top_task *get_task(struct top *t, int32_t pid, const char comm[SCHED_COMM_LEN])
{
	struct top_task *k = pidmap_get(t->tasks, pid);

	if (!k && pidmap_count(t->tasks) < TOP_TASKS_MAX)
		k = pidmap_add(t->tasks, pid);
	if (!k) {
		t->total.tasks_left_out++;
		return NULL;
	}
	if (comm && comm[0])
		memcpy(k->comm, comm, SCHED_COMM_LEN);
	return k;
}

static bool is_active(const struct top_task *k)
{
	return k->cpu_ns || k->switches || k->wakeups || k->waits;
}

/* The pid is another task's from now on. */
static void begin_life(struct top *t, int32_t pid)
{
	struct top_task *k = pidmap_get(t->tasks, pid);

	if (!k)
		return;
	if (is_active(k)) {
		if (array_grow(&t->gone, t->n_gone, &t->room_gone, sizeof(*k), TOP_TASKS_MAX) == 0)
			t->gone[t->n_gone++] = *k;
		else
			t->total.tasks_left_out++;
	}
	*k = (struct top_task){ .pid = pid };
}

static void charge(struct top *t, struct top_cpu *c, uint64_t now_ns)
{
	struct top_task *k;
	uint64_t ns;

	if (!c->known || now_ns <= c->since_ns)
		return;
	ns = now_ns - c->since_ns;
	c->since_ns = now_ns;
	if (!c->pid) {
		c->idle_ns += ns;
		return;
	}
	c->busy_ns += ns;
	k = pidmap_get(t->tasks, c->pid);
	if (k)
		k->cpu_ns += ns;
}

static void end_wait(struct top_task *k, uint64_t now_ns)
{
	uint64_t ns = now_ns > k->woken_ns ? now_ns - k->woken_ns : 0;

	if (!k->woken_ns)
		return;
	k->woken_ns = 0;
	k->waits++;
	k->wait_ns += ns;
	if (ns > k->wait_max_ns)
		k->wait_max_ns = ns;
}

static void add_switch(struct top *t, struct top_cpu *c, const struct sched_event *ev)
{
	struct top_task *prev = get_task(t, ev->task.pid, ev->task.comm);
	const struct top_task *before = pidmap_get(t->tasks, ev->other.pid);
	struct top_task *next;

	if (c->known && c->pid == ev->task.pid)
		charge(t, c, ev->tick);
	/* A task that exits may sleep before its end, under its name. */
	if (before && before->exited && ev->other.comm[0] &&
	    memcmp(before->comm, ev->other.comm, SCHED_COMM_LEN) != 0)
		begin_life(t, before->pid); /* its fork is lost */
	next = get_task(t, ev->other.pid, ev->other.comm);
	if (prev && prev->pid)
		prev->switches++;
	if (next && next->pid)
		end_wait(next, ev->tick);
	c->known = true;
	c->pid = ev->other.pid;
	/* A CPU that sends later than others may be settled up to a time behind this one. */
	if (ev->tick > c->since_ns)
		c->since_ns = ev->tick;
}

static void add_wakeup(struct top *t, const struct sched_event *ev)
{
	struct top_task *k = get_task(t, ev->task.pid, ev->task.comm);

	if (!k || k->woken_ns)
		return;
	k->woken_ns = ev->tick;
	k->wakeups++;
}

static void add_event(struct top *t, struct top_cpu *c, const struct sched_event *ev)
{
	struct top_task *k;

	t->total.events++;
	switch (ev->kind) {
	case SCHED_SWITCH:
		add_switch(t, c, ev);
		break;
	case SCHED_WAKING:
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW:
		add_wakeup(t, ev);
		break;
	case SCHED_FORK:
		begin_life(t, ev->other.pid);
		get_task(t, ev->other.pid, ev->other.comm);
		break;
	case SCHED_RENAME:
		get_task(t, ev->task.pid, ev->other.comm);
		break;
	case SCHED_EXIT:
		k = get_task(t, ev->task.pid, ev->task.comm);
		if (k)
			k->exited = true;
		break;
	default:
		break;
	}
}

int top_add(struct top *t, const struct trace_item *item, struct error *e)
{
	struct top_cpu *c;
	uint64_t ns = item->type == ITEM_EVENT ? item->event.tick : item->loss.to_tick;

	if (item->cpu >= TRACE_CPUS_MAX)
		return error_set(e, EBADMSG, "cannot watch CPU %u: there are at most %u", item->cpu,
				 TRACE_CPUS_MAX);
	c = &t->cpus[item->cpu];
	c->seen = true;
	if (item->cpu >= t->total.cpus)
		t->total.cpus = item->cpu + 1;
	if (!t->total.to_ns)
		t->total.from_ns = t->total.to_ns = ns;
	if (ns > t->total.to_ns)
		t->total.to_ns = ns;
	if (item->type == ITEM_EVENT) {
		add_event(t, c, &item->event);
		return 0;
	}
	t->total.losses++;
	if (item->loss.count != LOSS_UNKNOWN)
		t->total.lost += item->loss.count;
	if (item->loss.from_tick)
		charge(t, c, item->loss.from_tick);
	c->known = false;
	return 0;
}

void top_forget(struct top *t)
{
	size_t i;

	for (i = 0; i < TRACE_CPUS_MAX; i++) {
		t->cpus[i].known = false;
		t->cpus[i].since_ns = 0;
	}
	for (i = 0; i < pidmap_count(t->tasks); i++)
		((struct top_task *)pidmap_at(t->tasks, i))->woken_ns = 0;
	memset(&t->total, 0, sizeof(t->total));
}

/* --- looking --- */

static uint64_t sort_key(const struct top_task *k, enum top_order order)
{
	switch (order) {
	case TOP_BY_SWITCHES:
		return k->switches;
	case TOP_BY_WAKEUPS:
		return k->wakeups;
	case TOP_BY_WAIT:
		return k->waits ? k->wait_ns / k->waits : 0;
	case TOP_BY_MAX:
		return k->wait_max_ns;
	case TOP_BY_PID:
	case TOP_BY_COMM:
		return 0;
	default:
		return k->cpu_ns;
	}
}

static int compare(const void *pa, const void *pb, void *context)
{
	const struct top_task *a = pa, *b = pb;
	enum top_order order = *(const enum top_order *)context;
	uint64_t x = sort_key(a, order), y = sort_key(b, order);
	int r = order == TOP_BY_COMM ? memcmp(a->comm, b->comm, SCHED_COMM_LEN) : 0;

	if (r)
		return r;
	if (x != y)
		return x < y ? 1 : -1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

const struct top_task *top_look(struct top *t, enum top_order order, size_t *ret_n)
{
	size_t count = pidmap_count(t->tasks), n = 0, i;
	struct top_task *grown;

	for (i = 0; i < t->total.cpus; i++)
		charge(t, &t->cpus[i], t->total.to_ns);
	*ret_n = 0;
	if (count + t->n_gone > t->room_sorted) {
		grown = realloc(t->sorted, (count + t->n_gone) * sizeof(*grown));
		if (!grown)
			return t->sorted;
		t->sorted = grown;
		t->room_sorted = count + t->n_gone;
	}
	for (i = 0; i < count; i++) {
		const struct top_task *k = pidmap_at(t->tasks, i);

		if (k->pid && is_active(k))
			t->sorted[n++] = *k;
	}
	for (i = 0; i < t->n_gone; i++)
		t->sorted[n++] = t->gone[i];
	if (n)
		qsort_r(t->sorted, n, sizeof(*t->sorted), compare, &order);
	*ret_n = n;
	return t->sorted;
}

static bool is_on_cpu(const struct top *t, int32_t pid)
{
	uint32_t i;

	for (i = 0; i < t->total.cpus; i++)
		if (t->cpus[i].known && t->cpus[i].pid == pid)
			return true;
	return false;
}

static void start_again(struct top_task *k)
{
	k->quiet = is_active(k) ? 0 : k->quiet + 1;
	k->cpu_ns = k->switches = k->wakeups = 0;
	k->waits = k->wait_ns = k->wait_max_ns = 0;
}

/* Tasks come and go all the time: those that are over are left behind. Without memory all stay. */
static void drop_tasks(struct top *t)
{
	struct pidmap *kept = pidmap_new(sizeof(struct top_task));
	size_t count = pidmap_count(t->tasks), i;
	struct top_task *copy;

	for (i = 0; kept && i < count; i++) {
		const struct top_task *k = pidmap_at(t->tasks, i);

		if ((k->exited || k->quiet > TOP_QUIET_LOOKS) && !is_on_cpu(t, k->pid))
			continue;
		copy = pidmap_add(kept, k->pid);
		if (copy) {
			*copy = *k;
		} else {
			pidmap_free(kept);
			kept = NULL;
		}
	}
	if (!kept)
		return;
	pidmap_free(t->tasks);
	t->tasks = kept;
}

void top_next(struct top *t)
{
	size_t i;

	for (i = 0; i < pidmap_count(t->tasks); i++)
		start_again(pidmap_at(t->tasks, i));
	drop_tasks(t);
	t->n_gone = 0;
	for (i = 0; i < t->total.cpus; i++)
		t->cpus[i].busy_ns = t->cpus[i].idle_ns = 0;
	t->total.from_ns = t->total.to_ns;
	t->total.events = t->total.losses = t->total.lost = t->total.tasks_left_out = 0;
}
