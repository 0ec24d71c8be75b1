/* SPDX-License-Identifier: MIT */
/*
 * tracker: see tracker.h.
 *
 * Each CPU is a small state machine (nothing seen, running, lost) and so is each task (on a CPU, or
 * off it and why). A CPU's `since` is where its current stretch began, `seen` its last event; the
 * stretch is handed out when it ends. Time never goes back: an event that is older than what its
 * CPU has already shown counts as simultaneous, so the slices of a CPU always add up.
 */
#include "analysis/tracker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tracker_parts.h"

static uint64_t min_ns(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_ns(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* --- the table of tasks --- */

static const struct life *life_of(const struct tracker *t, uint32_t task)
{
	return lives_get(t->lives, task);
}

static int make_room(struct tracker *t, uint32_t task)
{
	uint32_t room = t->room_tasks ? t->room_tasks : 256;
	struct task *tasks;

	if (task < t->room_tasks)
		return 0;
	while (room <= task)
		room *= 2;
	tasks = realloc(t->tasks, (size_t)room * sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	t->tasks = tasks;
	t->room_tasks = room;
	return 0;
}

static int end_task(struct tracker *t, uint32_t index, uint64_t ns);

/* The life that an event is evidence of. comm, if there is one, is its name from now on. */
static int get_task(struct tracker *t, const struct life_sight *sight, uint32_t *ret)
{
	uint32_t i;
	struct task *task;
	int r = lives_see(t->lives, sight, &i);

	if (r == -E2BIG) {
		r = tracker_fold(t);
		if (r >= 0)
			r = lives_see(t->lives, sight, &i);
	}
	if (r > 0)
		r = make_room(t, i) < 0 ? -ENOMEM : 1;
	if (r > 0) {
		task = &t->tasks[i];
		memset(task, 0, sizeof(*task));
		task->cpu = task->waker = task->waker_cpu = task->target_cpu = TRACKER_NONE;
		r = end_task(t, life_of(t, i)->before, sight->ns);
	}
	if (r >= 0)
		*ret = i;
	return r < 0 ? r : 0;
}

static int get_cpu(struct tracker *t, uint32_t cpu)
{
	struct cpu *cpus;

	if (cpu < t->n_cpus)
		return 0;
	if (cpu >= TRACE_CPUS_MAX)
		return -ERANGE;
	cpus = realloc(t->cpus, ((size_t)cpu + 1) * sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	memset(cpus + t->n_cpus, 0, (cpu + 1 - t->n_cpus) * sizeof(*cpus));
	t->cpus = cpus;
	for (; t->n_cpus <= cpu; t->n_cpus++)
		t->cpus[t->n_cpus].held = TRACKER_NONE;
	return 0;
}

/* --- handing out --- */

static int emit_slice(struct tracker *t, struct tracker_slice s)
{
	if (s.to_ns <= s.from_ns || !t->ops->slice)
		return 0;
	return t->ops->slice(t->context, &s);
}

static int emit_unknown(struct tracker *t, uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	return emit_slice(t, (struct tracker_slice){ .type = SLICE_UNKNOWN,
						     .cpu = cpu,
						     .task = TRACKER_NONE,
						     .from_ns = from_ns,
						     .to_ns = to_ns });
}

/* The current stretch of a running CPU, up to to_ns. */
static int emit_stretch(struct tracker *t, uint32_t cpu, uint64_t to_ns, bool inferred)
{
	const struct cpu *c = &t->cpus[cpu];
	bool idle = c->task == TRACKER_NONE;

	return emit_slice(t, (struct tracker_slice){ .type = idle ? SLICE_IDLE : SLICE_TASK,
						     .inferred = c->inferred || inferred,
						     .cpu = cpu,
						     .task = c->task,
						     .from_ns = c->since_ns,
						     .to_ns = to_ns });
}

static bool lost_since(const struct tracker *t, uint32_t cpu, uint64_t from_ns)
{
	const struct cpu *c;

	if (cpu >= t->n_cpus)
		return false;
	c = &t->cpus[cpu];
	return c->state != CPU_RUNNING || c->lost_until_ns > from_ns;
}

static int deliver_wait(struct tracker *t, const struct tracker_wait *w)
{
	return t->ops->wait ? t->ops->wait(t->context, w) : 0;
}

/*
 * Has this CPU been busy and without any event since from_ns? It may be that its recording was cut
 * off, and that the task has meanwhile run there. Only its next event can tell.
 */
static bool is_silent(const struct tracker *t, uint32_t cpu, uint64_t from_ns)
{
	const struct cpu *c;

	if (cpu >= t->n_cpus)
		return false;
	c = &t->cpus[cpu];
	return c->state == CPU_RUNNING && c->task != TRACKER_NONE && c->seen_ns < from_ns;
}

/* Takes a place off the free list, and makes more of them when there is none. */
static int take_place(struct tracker *t, uint32_t *ret)
{
	uint32_t room = t->room_held ? t->room_held * 2 : 64, i;
	struct held_wait *held;

	if (t->free_held == TRACKER_NONE) {
		if (room > TRACKER_HELD_MAX)
			return -E2BIG;
		held = realloc(t->held, (size_t)room * sizeof(*held));
		if (!held)
			return -ENOMEM;
		for (i = t->room_held; i < room; i++)
			held[i].next = i + 1 < room ? i + 1 : TRACKER_NONE;
		t->free_held = t->room_held;
		t->held = held;
		t->room_held = room;
	}
	*ret = t->free_held;
	t->free_held = t->held[*ret].next;
	return 0;
}

static int hold_wait(struct tracker *t, uint32_t cpu, const struct tracker_wait *w)
{
	struct tracker_wait unknown = *w;
	uint32_t i;
	int r = take_place(t, &i);

	if (r == -E2BIG) {
		unknown.end = WAIT_UNKNOWN;
		return deliver_wait(t, &unknown);
	}
	if (r < 0)
		return r;
	t->held[i] = (struct held_wait){ *w, t->cpus[cpu].held };
	t->cpus[cpu].held = i;
	t->tasks[w->task].n_held++;
	return 0;
}

/* The CPU gave a sign of life, or never will: the waits that hang on it are what they were, or
 * unknown. */
static int release_waits(struct tracker *t, uint32_t cpu, bool alive)
{
	struct tracker_wait w;
	uint32_t i;
	int r = 0;

	while ((i = t->cpus[cpu].held) != TRACKER_NONE && r >= 0) {
		w = t->held[i].wait;
		t->cpus[cpu].held = t->held[i].next;
		t->held[i].next = t->free_held;
		t->free_held = i;
		t->tasks[w.task].n_held--;
		if (!alive)
			w.end = WAIT_UNKNOWN;
		r = deliver_wait(t, &w);
	}
	return r;
}

/* Ends a wait of a task. `cpu` is where it ran, or TRACKER_NONE. */
static int emit_wait(struct tracker *t, struct tracker_wait w)
{
	const struct task *task = &t->tasks[w.task];
	bool woken = w.type == WAIT_WAKEUP && w.end != WAIT_UNSEEN;

	w.waker = woken ? task->waker : TRACKER_NONE;
	w.waker_cpu = woken ? task->waker_cpu : TRACKER_NONE;
	w.target_cpu = woken ? task->target_cpu : TRACKER_NONE;
	w.from_ns = min_ns(w.from_ns, w.to_ns);
	if (w.end != WAIT_RAN && w.end != WAIT_INFERRED)
		return deliver_wait(t, &w);
	if (lost_since(t, w.cpu, w.from_ns) || lost_since(t, w.target_cpu, w.from_ns) ||
	    lost_since(t, task->cpu, w.from_ns))
		w.end = WAIT_UNKNOWN;
	else if (w.target_cpu != w.cpu && is_silent(t, w.target_cpu, w.from_ns))
		return hold_wait(t, w.target_cpu, &w);
	else if (task->cpu != w.cpu && is_silent(t, task->cpu, w.from_ns))
		return hold_wait(t, task->cpu, &w);
	return deliver_wait(t, &w);
}

/* --- tasks come and go --- */

/* If the task waits: since when and for what. */
static bool is_waiting(const struct task *task, struct tracker_wait *w)
{
	if (task->on_cpu)
		return false;
	if (task->off == OFF_PREEMPTED) {
		w->type = WAIT_PREEMPTED;
		w->from_ns = task->since_ns;
		return true;
	}
	w->type = WAIT_WAKEUP;
	w->from_ns = task->woken ? task->wake_ns : task->since_ns;
	/* A sleeper runs again only if it was woken; if the only wakeup seen came while it was on
	 * its way out, that was the one. */
	return task->woken || (task->off == OFF_SLEEP && task->woken_on_cpu);
}

static int task_start(struct tracker *t, uint32_t index, uint32_t cpu, uint64_t ns, bool inferred)
{
	struct task *task = &t->tasks[index];
	struct tracker_wait w = { .task = index, .cpu = cpu, .to_ns = ns };
	int r = 0;

	w.end = inferred ? WAIT_INFERRED : WAIT_RAN;
	if (is_waiting(task, &w)) {
		r = emit_wait(t, w);
	} else if (!task->on_cpu && task->off == OFF_SLEEP) {
		w.end = WAIT_UNSEEN;
		w.from_ns = ns;
		r = emit_wait(t, w);
	}
	task = &t->tasks[index];
	task->on_cpu = true;
	task->woken = task->woken_on_cpu = false;
	task->cpu = cpu;
	task->since_ns = ns;
	task->known_off = false;
	return r;
}

/* It no longer has this CPU. If it was meanwhile seen on another, that holds. */
static void task_stop(struct tracker *t, uint32_t index, uint32_t cpu, uint64_t ns,
		      enum off_reason off)
{
	struct task *task;

	if (index == TRACKER_NONE)
		return;
	task = &t->tasks[index];
	if (!task->on_cpu || task->cpu != cpu)
		return;
	task->on_cpu = false;
	task->off = off;
	task->since_ns = ns;
	task->known_off = off != OFF_UNKNOWN;
}

/* The next life of the pid has begun. Whoever saw it die has ended its waits. */
static int end_task(struct tracker *t, uint32_t index, uint64_t ns)
{
	struct tracker_wait w = { .task = index, .end = WAIT_UNKNOWN, .cpu = TRACKER_NONE };
	struct task *task;
	bool waited;
	int r = 0;

	if (index == TRACKER_NONE || t->tasks[index].over)
		return 0;
	task = &t->tasks[index];
	w.to_ns = ns;
	waited = is_waiting(task, &w) && (task->woken || w.type == WAIT_PREEMPTED);
	task->over = true;
	task->on_cpu = task->woken = task->woken_on_cpu = task->known_off = false;
	task->off = OFF_UNKNOWN;
	if (waited)
		r = emit_wait(t, w);
	if (r >= 0 && t->ops->over)
		r = t->ops->over(t->context, index);
	return r;
}

/* The earliest that this task can have come to a CPU: after its wakeup, after its last CPU. */
static uint64_t earliest_start(const struct tracker *t, uint32_t task, uint64_t ns)
{
	const struct task *k;

	if (task == TRACKER_NONE)
		return ns;
	k = &t->tasks[task];
	if (life_of(t, task)->birth_seen)
		ns = max_ns(ns, life_of(t, task)->born_ns);
	if (k->woken)
		ns = max_ns(ns, k->wake_ns);
	if (!k->on_cpu && k->known_off)
		ns = max_ns(ns, k->since_ns);
	return ns;
}

/* --- CPUs --- */

static int cpu_run(struct tracker *t, uint32_t cpu, uint32_t task, uint64_t ns, bool inferred)
{
	struct cpu *c = &t->cpus[cpu];

	c->state = CPU_RUNNING;
	c->inferred = inferred;
	c->task = task;
	c->since_ns = ns;
	return task == TRACKER_NONE ? 0 : task_start(t, task, cpu, ns, inferred);
}

/* When the task that a CPU was thought to run left it, if the other one came at start_ns. */
static uint64_t latest_end(const struct tracker *t, uint32_t cpu, uint64_t start_ns)
{
	const struct cpu *c = &t->cpus[cpu];
	uint64_t end_ns = start_ns;

	if (c->task == TRACKER_NONE)
		return end_ns;
	/* It cannot have been here after it was seen to start elsewhere, nor after its life. */
	if (t->tasks[c->task].cpu != cpu)
		end_ns = min_ns(end_ns, t->tasks[c->task].since_ns);
	if (life_of(t, c->task)->ended)
		end_ns = min_ns(end_ns, life_of(t, c->task)->ended_ns);
	return max_ns(c->seen_ns, end_ns);
}

/* A task was seen that should not be running here: where its run began is inferred. */
static int cpu_infer(struct tracker *t, uint32_t cpu, uint32_t task, uint64_t ns)
{
	struct cpu *c = &t->cpus[cpu];
	uint64_t start_ns = min_ns(earliest_start(t, task, c->seen_ns), ns);
	/* Another life of the same pid: it was here when the former one was over. */
	bool same = c->task != TRACKER_NONE && task != TRACKER_NONE &&
		    life_of(t, c->task)->pid == life_of(t, task)->pid;
	uint64_t end_ns;
	int r;

	if (same)
		start_ns = max_ns(c->seen_ns, min_ns(life_of(t, c->task)->ended_ns, ns));
	end_ns = same ? start_ns : latest_end(t, cpu, start_ns);
	task_stop(t, c->task, cpu, end_ns, OFF_UNKNOWN);
	r = emit_stretch(t, cpu, end_ns, true);
	if (r >= 0)
		r = emit_unknown(t, cpu, end_ns, start_ns);
	return r < 0 ? r : cpu_run(t, cpu, task, start_ns, true);
}

/* The idle task had this CPU at its first event: it had it since the trace began. */
static int cpu_see_idle_first(struct tracker *t, uint32_t cpu, uint64_t ns)
{
	struct cpu *c = &t->cpus[cpu];

	c->seen_ns = ns;
	return cpu_run(t, cpu, TRACKER_NONE, t->from_ns, true);
}

/* An event says that this task ran on this CPU at this time. */
static int cpu_see(struct tracker *t, uint32_t cpu, uint32_t task, uint64_t ns)
{
	struct cpu *c = &t->cpus[cpu];
	uint64_t from_ns;
	int r = c->held == TRACKER_NONE ? 0 : release_waits(t, cpu, true);

	if (r < 0)
		return r;
	switch (c->state) {
	case CPU_NEW:
		c->lost_until_ns = ns; /* first, for the task that turns up may have waited */
		if (task == TRACKER_NONE)
			return cpu_see_idle_first(t, cpu, ns);
		r = emit_unknown(t, cpu, t->from_ns, ns);
		if (r >= 0)
			r = cpu_run(t, cpu, task, ns, false);
		break;
	case CPU_NEW_LOST:
	case CPU_LOST:
		c->lost_until_ns = ns;
		from_ns = c->state == CPU_LOST ? c->since_ns : t->from_ns;
		r = emit_unknown(t, cpu, from_ns, ns);
		if (r >= 0)
			r = cpu_run(t, cpu, task, ns, false);
		break;
	case CPU_RUNNING:
		if (c->task != task)
			r = cpu_infer(t, cpu, task, ns);
		break;
	}
	c->seen_ns = ns;
	return r;
}

static void cpu_lose(struct tracker *t, uint32_t cpu, int *ret)
{
	struct cpu *c = &t->cpus[cpu];

	if (c->state == CPU_NEW)
		c->state = CPU_NEW_LOST;
	if (c->state != CPU_RUNNING)
		return;
	*ret = emit_stretch(t, cpu, c->seen_ns, false);
	if (*ret >= 0)
		*ret = release_waits(t, cpu, false);
	task_stop(t, c->task, cpu, c->seen_ns, OFF_UNKNOWN);
	c->state = CPU_LOST;
	c->since_ns = c->seen_ns;
}

/* --- events --- */

static int on_switch(struct tracker *t, uint32_t cpu, const struct sched_event *ev, uint64_t ns)
{
	const struct life_sight sight = { ev->other.pid, LIFE_ACTS, ns, ev->other.comm };
	uint64_t mask = t->info->dialect.state_mask;
	bool runnable = !(ev->state & mask);
	uint32_t prev = t->cpus[cpu].task, next = TRACKER_NONE;
	int r = emit_stretch(t, cpu, ns, false);

	if (r >= 0 && prev != TRACKER_NONE && t->ops->leave)
		r = t->ops->leave(t->context, prev, runnable);
	if (r < 0)
		return r;
	task_stop(t, prev, cpu, ns, runnable ? OFF_PREEMPTED : OFF_SLEEP);
	if (prev != TRACKER_NONE && ev->state & t->dead_mask) {
		t->tasks[prev].over = true;
		lives_end(t->lives, prev, ns);
	}
	r = ev->other.pid ? get_task(t, &sight, &next) : 0;
	return r < 0 ? r : cpu_run(t, cpu, next, ns, false);
}

static int wake_task(struct tracker *t, uint32_t index, const struct trace_item *item, uint64_t ns)
{
	struct task *task = &t->tasks[index];
	bool first = item->event.kind == SCHED_WAKING;
	bool again = first && task->woken && !task->on_cpu;
	struct tracker_wait w = { .task = index, .end = WAIT_UNKNOWN, .cpu = TRACKER_NONE };
	int r = 0;

	if (again) { /* it must have run in between, and nobody saw it */
		w.from_ns = task->wake_ns;
		w.to_ns = ns;
		task->woken = false;
		r = emit_wait(t, w);
		task = &t->tasks[index];
	}
	if (r >= 0 && (first || !(task->woken || task->woken_on_cpu)) && t->ops->wakeup)
		r = t->ops->wakeup(t->context, index);
	if (item->event.value >= 0)
		task->target_cpu = (uint32_t)item->event.value;
	if (task->on_cpu) {
		/* A wakeup that completes while it runs has put nobody to wait. */
		task->woken_on_cpu = first;
		return r;
	}
	if (task->off == OFF_PREEMPTED)
		return r; /* it was about to sleep when it was preempted, and waits already */
	if (!task->woken)
		task->wake_ns = task->woken_on_cpu && task->known_off ? task->since_ns : ns;
	task->woken = true;
	return r;
}

/* Where common_pid is itself inferred it is no evidence. */
static bool says_who_runs(const struct tracker *t)
{
	return !(t->info->dialect.features & DIALECT_NO_CUR);
}

static int on_wake(struct tracker *t, const struct trace_item *item, uint64_t ns)
{
	const struct sched_event *ev = &item->event;
	const struct life_sight woken = { ev->task.pid,
					  ev->kind == SCHED_WAKEUP_NEW ? LIFE_STARTS : LIFE_WOKEN,
					  ns, ev->task.comm };
	const struct life_sight runs = { ev->pid, says_who_runs(t) ? LIFE_ACTS : LIFE_NAMED, ns,
					 NULL };
	uint32_t index, waker = TRACKER_NONE;
	struct task *task;
	int r;

	if (!ev->task.pid)
		return 0;
	r = ev->pid ? get_task(t, &runs, &waker) : 0;
	if (r >= 0)
		r = get_task(t, &woken, &index);
	if (r < 0)
		return r;
	if (!lives_has(t->lives, waker)) /* that made room for the woken one */
		waker = TRACKER_NONE;
	task = &t->tasks[index];
	if (ev->kind == SCHED_WAKING || !(task->woken || task->woken_on_cpu)) {
		task->waker = waker;
		task->waker_cpu = item->cpu;
	}
	return wake_task(t, index, item, ns);
}

/* A thread that is not the leader of its group calls exec: from now on it has the leader's pid. */
static bool is_exec_of_thread(const struct tracker *t, const struct trace_item *item)
{
	const struct sched_event *ev = &item->event;
	const struct cpu *c = &t->cpus[item->cpu];

	return ev->kind == SCHED_EXEC && ev->value > 0 && ev->value != ev->task.pid &&
	       ev->pid == ev->task.pid && says_who_runs(t) && c->state == CPU_RUNNING &&
	       c->task != TRACKER_NONE && life_of(t, c->task)->pid == ev->value;
}

static int on_exec_of_thread(struct tracker *t, const struct trace_item *item, uint64_t ns)
{
	const struct sched_event *ev = &item->event;
	struct cpu *c = &t->cpus[item->cpu];
	const struct life_sight s = { ev->task.pid, LIFE_NAMED, ns, NULL };
	uint32_t thread = c->task, leader;
	int r = get_task(t, &s, &leader);

	if (r >= 0)
		r = cpu_see(t, item->cpu, thread, ns);
	if (r >= 0)
		r = emit_stretch(t, item->cpu, ns, false);
	if (r < 0)
		return r;
	task_stop(t, thread, item->cpu, ns, OFF_UNKNOWN);
	c->task = TRACKER_NONE;
	lives_replace(t->lives, leader, thread, ns);
	t->tasks[leader].over = t->tasks[leader].woken = false;
	t->tasks[leader].off = OFF_UNKNOWN;
	r = end_task(t, thread, ns);
	return r < 0 ? r : cpu_run(t, item->cpu, leader, ns, false);
}

/* Events that only name a task. */
static int on_named(struct tracker *t, const struct sched_event *ev, uint64_t ns)
{
	struct life_sight s = { ev->task.pid, LIFE_NAMED, ns, NULL };
	uint32_t task;
	int r;

	if (ev->kind == SCHED_RENAME)
		s.comm = ev->other.comm;
	if (ev->kind == SCHED_FORK)
		s = (struct life_sight){ ev->other.pid, LIFE_FORKED, ns, ev->other.comm };
	if (!s.pid)
		return 0;
	r = get_task(t, &s, &task);
	if (r >= 0 && ev->kind == SCHED_EXIT)
		lives_exit(t->lives, task, ns);
	if (r >= 0 && ev->kind == SCHED_EXEC)
		lives_lead(t->lives, task);
	return r;
}

/* An event says who runs. */
static int see_current(struct tracker *t, const struct trace_item *item, uint64_t ns)
{
	const struct sched_event *ev = &item->event;
	bool is_switch = ev->kind == SCHED_SWITCH;
	struct life_sight s = { is_switch ? ev->task.pid : ev->pid, LIFE_ACTS, ns,
				is_switch ? ev->task.comm : NULL };
	uint32_t task = TRACKER_NONE;
	int r = s.pid ? get_task(t, &s, &task) : 0;

	return r < 0 ? r : cpu_see(t, item->cpu, task, ns);
}

static int on_event(struct tracker *t, const struct trace_item *item, uint64_t ns)
{
	const struct sched_event *ev = &item->event;
	int r = 0;

	if (is_exec_of_thread(t, item))
		return on_exec_of_thread(t, item, ns);
	if (ev->kind == SCHED_SWITCH || says_who_runs(t))
		r = see_current(t, item, ns);
	if (r < 0)
		return r;
	switch (ev->kind) {
	case SCHED_SWITCH:
		return on_switch(t, item->cpu, ev, ns);
	case SCHED_WAKING:
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW:
		return on_wake(t, item, ns);
	case SCHED_FORK:
	case SCHED_RENAME:
	case SCHED_EXIT:
	case SCHED_EXEC:
		return on_named(t, ev, ns);
	default:
		return 0;
	}
}

static int why(struct error *e, int r)
{
	if (r == -E2BIG)
		return error_set(e, E2BIG, "cannot follow the tasks: more than %u of them",
				 TRACE_TASKS_MAX);
	if (r == -ERANGE)
		return error_set(e, EBADMSG, "cannot follow the CPUs: a CPU number of %u or more",
				 TRACE_CPUS_MAX);
	return r < 0 ? error_set(e, r, "cannot follow the tasks: %s", strerror(-r)) : 0;
}

static void begin(struct tracker *t, uint64_t ns)
{
	const struct sched_dialect *d = &t->info->dialect;
	uint32_t i;

	for (i = 0; i < DIALECT_STATE_BITS; i++)
		if (d->state_letters[i] && strchr("ZXx", d->state_letters[i]))
			t->dead_mask |= 1ULL << i;
	t->dead_mask &= d->state_mask;
	t->begun = true;
	t->from_ns = t->to_ns = ns;
}

int tracker_add(struct tracker *t, const struct trace_item *item, struct error *e)
{
	uint64_t ns;
	int r = get_cpu(t, item->cpu);

	if (r < 0)
		return why(e, r);
	if (item->type == ITEM_LOSS) {
		cpu_lose(t, item->cpu, &r);
		return why(e, r);
	}
	ns = clock_event_ns(&t->info->clock, &item->event);
	if (!t->begun)
		begin(t, ns);
	ns = max_ns(max_ns(ns, t->from_ns), t->cpus[item->cpu].seen_ns);
	t->to_ns = max_ns(t->to_ns, ns);
	return why(e, on_event(t, item, ns));
}

/* After the last event of a CPU: it may idle for long, but a task does not run for long without
 * any event. Rather was the recording of this CPU cut off. */
static int finish_cpu(struct tracker *t, uint32_t cpu)
{
	const struct cpu *c = &t->cpus[cpu];
	int r;

	if (c->state == CPU_RUNNING && c->task == TRACKER_NONE)
		return emit_stretch(t, cpu, t->to_ns, c->seen_ns < t->to_ns);
	if (c->state == CPU_RUNNING) {
		r = emit_stretch(t, cpu, c->seen_ns, false);
		return r < 0 ? r : emit_unknown(t, cpu, c->seen_ns, t->to_ns);
	}
	return emit_unknown(t, cpu, c->state == CPU_LOST ? c->since_ns : t->from_ns, t->to_ns);
}

int tracker_finish(struct tracker *t, struct error *e)
{
	uint32_t i;
	int r = 0;

	if (t->info->cpus && t->info->cpus <= TRACE_CPUS_MAX)
		r = get_cpu(t, t->info->cpus - 1);
	for (i = 0; i < t->n_cpus && r >= 0; i++) {
		r = finish_cpu(t, i);
		if (r >= 0)
			r = release_waits(t, i, false);
	}
	for (i = 0; i < lives_count(t->lives) && r >= 0; i++) {
		struct tracker_wait w = { .task = i, .end = WAIT_NEVER, .cpu = TRACKER_NONE };

		w.to_ns = t->to_ns;
		if (!lives_has(t->lives, i))
			continue;
		/* A sleeper with nothing but a wakeup from before its sleep may still sleep. */
		if (is_waiting(&t->tasks[i], &w) && (t->tasks[i].woken || w.type == WAIT_PREEMPTED))
			r = emit_wait(t, w);
	}
	return why(e, r);
}

int tracker_new(struct tracker **ret, const struct trace_info *info, const struct tracker_ops *ops,
		void *context)
{
	CLEANUP(tracker) struct tracker *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->info = info;
	t->ops = ops;
	t->context = context;
	t->free_held = TRACKER_NONE;
	t->lives = lives_new(ops->fold ? TRACKER_TASKS_MAX : TRACE_TASKS_MAX);
	if (!t->lives)
		return -ENOMEM;
	*ret = take_ptr(t);
	return 0;
}

void tracker_free(struct tracker *t)
{
	if (!t)
		return;
	free(t->cpus);
	free(t->tasks);
	free(t->held);
	lives_free(t->lives);
	free(t);
}

void tracker_allow(struct tracker *t, uint32_t most)
{
	lives_allow(t->lives, most);
}

uint32_t tracker_n_tasks(const struct tracker *t)
{
	return lives_count(t->lives);
}

uint32_t tracker_n_cpus(const struct tracker *t)
{
	return t->n_cpus;
}

bool tracker_has_task(const struct tracker *t, uint32_t task)
{
	return lives_has(t->lives, task);
}

const struct life *tracker_get_task(const struct tracker *t, uint32_t task)
{
	return lives_get(t->lives, task);
}

const struct lives *tracker_get_lives(const struct tracker *t)
{
	return t->lives;
}

uint32_t tracker_find_task(const struct tracker *t, int32_t pid)
{
	return lives_find(t->lives, pid);
}

uint64_t tracker_from_ns(const struct tracker *t)
{
	return t->from_ns;
}

uint64_t tracker_to_ns(const struct tracker *t)
{
	return t->to_ns;
}
