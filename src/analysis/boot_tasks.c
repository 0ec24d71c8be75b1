/* SPDX-License-Identifier: MIT */
/*
 * boot_tasks: see boot_tasks.h.
 *
 * Slices come from the tracker when they end, wakeups when they happen; so changes are sorted when all is read.
 * At equal times they keep the order in which they came, for a clock that ticks slowly.
 */
#include "analysis/boot_tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tracker.h"
#include "trace/pidmap.h"

#define FLAG_HARDIRQ 0x08U /* common_flags of the kernel's events */
#define FLAG_SOFTIRQ 0x10U
#define FLAG_NMI 0x40U
#define FLAGS_INTERRUPT (FLAG_HARDIRQ | FLAG_SOFTIRQ | FLAG_NMI)

struct holder {
	int32_t pid;
	uint32_t task; /* + 1 */
};

struct reader {
	struct boot_tasks *tasks;
	struct tracker *tracker;
	struct pidmap *holders;
	struct trace_info
		info; /* that of the source, with the boot's nanoseconds; it owns nothing */
	const struct trace_item *item; /* that is being read, */
	uint64_t now_ns;	       /* and its time */
	size_t n_changes, n_names;
	bool is_begun;
};

/* Makes room for one more. */
static int grow(void *list, size_t *room, size_t n, size_t size)
{
	size_t more = *room ? *room * 2 : 8;
	void **at = list, *p;

	if (n < *room)
		return 0;
	p = more > SIZE_MAX / size ? NULL : realloc(*at, more * size);
	if (!p)
		return -ENOMEM;
	*at = p;
	*room = more;
	return 0;
}

/* --- tasks --- */

static int add_task(struct reader *r, int32_t pid, struct boot_task **ret)
{
	struct boot_tasks *t = r->tasks;
	struct holder *h = pidmap_add(r->holders, pid);
	struct boot_task *k;
	int res;

	if (t->n >= BOOT_TASKS_MAX)
		return -E2BIG;
	res = h ? grow(&t->list, &t->room, t->n, sizeof(*t->list)) : -ENOMEM;
	if (res < 0)
		return res;
	k = &t->list[t->n++];
	memset(k, 0, sizeof(*k));
	k->pid = pid;
	k->parent = BOOT_NONE;
	k->previous = h->task ? h->task - 1 : BOOT_NONE;
	k->from_ns = k->to_ns = r->now_ns;
	h->task = (uint32_t)t->n;
	*ret = k;
	return 0;
}

/* Who has the pid, or had it last; made if nobody has. */
static int get_task(struct reader *r, int32_t pid, struct boot_task **ret)
{
	const struct holder *h = pidmap_get(r->holders, pid);

	if (!h)
		return add_task(r, pid, ret);
	*ret = &r->tasks->list[h->task - 1];
	return 0;
}

/* Who has the pid now: one that left its CPU dead has it no longer. */
static int get_alive(struct reader *r, int32_t pid, struct boot_task **ret)
{
	int res = get_task(r, pid, ret);

	return res >= 0 && (*ret)->is_over ? add_task(r, pid, ret) : res;
}

static uint32_t find_task(const struct reader *r, int32_t pid)
{
	const struct holder *h = pid > 0 ? pidmap_get(r->holders, pid) : NULL;

	return h ? h->task - 1 : BOOT_NONE;
}

/* The life of the tracker's task that was there then. */
static int get_tracked(struct reader *r, uint32_t task, uint64_t ns, struct boot_task **ret)
{
	struct boot_task *k;
	int res = get_task(r, tracker_get_task(r->tracker, task)->pid, &k);

	if (res < 0)
		return res;
	while (k->is_forked && ns < k->from_ns && k->previous != BOOT_NONE)
		k = &r->tasks->list[k->previous];
	*ret = k;
	return 0;
}

static int put_change(struct reader *r, struct boot_task *k, struct boot_change c)
{
	int res = grow(&k->changes, &k->room_changes, k->n_changes, sizeof(*k->changes));

	if (r->n_changes >= BOOT_TASK_CHANGES_MAX)
		return -E2BIG;
	if (res < 0)
		return res;
	r->n_changes++;
	k->changes[k->n_changes++] = c;
	if (!k->is_forked && c.ns < k->from_ns)
		k->from_ns = c.ns;
	if (c.ns > k->to_ns)
		k->to_ns = c.ns;
	return 0;
}

/* It is called so from now on, if it was not before. */
static int put_name(struct reader *r, struct boot_task *k, const char comm[SCHED_COMM_LEN])
{
	struct boot_task_name *n;
	int res;

	if (!comm[0] ||
	    (k->n_names && !memcmp(k->names[k->n_names - 1].comm, comm, SCHED_COMM_LEN)))
		return 0;
	if (r->n_names >= BOOT_TASK_NAMES_MAX)
		return -E2BIG;
	res = grow(&k->names, &k->room_names, k->n_names, sizeof(*k->names));
	if (res < 0)
		return res;
	r->n_names++;
	n = &k->names[k->n_names++];
	memset(n, 0, sizeof(*n));
	n->ns = r->now_ns;
	memcpy(n->comm, comm, SCHED_COMM_LEN);
	return 0;
}

/* --- what the tracker says --- */

static int count_busy(struct boot_tasks *t, const struct tracker_slice *s)
{
	uint64_t ns = s->from_ns, end_ns;
	struct boot_busy *b;
	size_t i;
	int r;

	if (s->type == SLICE_UNKNOWN)
		return 0;
	while (ns < s->to_ns) {
		i = (size_t)((ns - t->from_ns) / BOOT_TASKS_PIECE_NS);
		if (i >= BOOT_POINTS_MAX)
			return 0;
		for (; t->n_busy <= i; t->n_busy++) {
			r = grow(&t->busy, &t->room_busy, t->n_busy, sizeof(*t->busy));
			if (r < 0)
				return r;
			memset(&t->busy[t->n_busy], 0, sizeof(*t->busy));
		}
		b = &t->busy[i];
		end_ns = t->from_ns + (uint64_t)(i + 1) * BOOT_TASKS_PIECE_NS;
		end_ns = end_ns < s->to_ns ? end_ns : s->to_ns;
		*(s->type == SLICE_IDLE ? &b->idle_ns : &b->busy_ns) += end_ns - ns;
		ns = end_ns;
	}
	return 0;
}

static int on_slice(void *context, const struct tracker_slice *s)
{
	struct reader *r = context;
	struct boot_change c = { .ns = s->from_ns, .whom = BOOT_NONE, .type = BOOT_CHANGE_RUN };
	struct boot_task *k;
	int res = count_busy(r->tasks, s);

	if (res < 0 || s->type != SLICE_TASK)
		return res;
	res = get_tracked(r, s->task, s->from_ns, &k);
	if (res < 0)
		return res;
	/* A start that is inferred comes behind whatever made it possible. */
	c.order = k->run_ns == s->from_ns ? k->run_order : UINT32_MAX;
	k->ran_ns += s->to_ns - s->from_ns;
	res = put_change(r, k, c);
	if (res < 0)
		return res;
	c.type = BOOT_CHANGE_STOP;
	c.ns = s->to_ns;
	c.order = k->next_order++;
	return put_change(r, k, c);
}

static uint8_t state_of(const struct sched_dialect *d, uint64_t state, bool *is_kernel)
{
	uint64_t bits = state & d->state_mask;
	uint8_t found = bits ? BOOT_SLEEPING : BOOT_RUNNABLE;
	bool is_idle = false;
	unsigned int i;

	for (i = 0; i < DIALECT_STATE_BITS; i++) {
		if (!(bits >> i & 1))
			continue;
		switch (d->state_letters[i]) {
		case 'D':
			found = BOOT_DISK_WAIT;
			break;
		case 'T':
		case 't':
			found = BOOT_STOPPED;
			break;
		case 'X':
		case 'x':
		case 'Z':
			return BOOT_TASK_GONE;
		case 'N': /* with D: a kernel thread that has nothing to do */
		case 'I':
			is_idle = true;
			break;
		default:
			break;
		}
	}
	*is_kernel = *is_kernel || is_idle;
	return is_idle ? BOOT_SLEEPING : found;
}

static int on_leave(void *context, uint32_t task, bool preempted)
{
	struct reader *r = context;
	struct boot_change c = { .whom = BOOT_NONE, .type = BOOT_CHANGE_LEAVE };
	struct boot_task *k;
	int res = get_tracked(r, task, r->now_ns, &k);

	if (res < 0)
		return res;
	(void)preempted;
	/* Not before the slice that it ends, whose end the tracker may have put later. */
	c.ns = k->n_changes && k->to_ns > r->now_ns ? k->to_ns : r->now_ns;
	c.state = state_of(&r->info.dialect, r->item->event.state, &k->is_kernel);
	c.order = k->next_order++;
	if (c.state == BOOT_TASK_GONE)
		k->is_over = true;
	return put_change(r, k, c);
}

/*
 * Who woke somebody. A wakeup of a task on another CPU may be made complete there by an interrupt that the waker sent,
 * or by that CPU's idle task: then sched_wakeup alone, without the sched_waking before it, does not say who it was.
 */
static uint32_t waker_of(const struct reader *r)
{
	const struct sched_event *ev = &r->item->event;
	bool may_be_sent = ev->kind != SCHED_WAKING && ev->value == (int32_t)r->item->cpu;

	if (ev->flags & FLAGS_INTERRUPT)
		return may_be_sent && ev->flags & FLAG_HARDIRQ ? BOOT_NONE : BOOT_INTERRUPT;
	if (r->info.dialect.features & DIALECT_NO_CUR)
		return BOOT_NONE;
	if (!ev->pid)
		return may_be_sent ? BOOT_NONE : BOOT_INTERRUPT;
	return find_task(r, ev->pid);
}

static int on_wakeup(void *context, uint32_t task)
{
	struct reader *r = context;
	struct boot_change c = { .ns = r->now_ns, .whom = BOOT_NONE, .type = BOOT_CHANGE_WAKE };
	struct boot_task *k;
	int res = get_tracked(r, task, r->now_ns, &k);

	if (res < 0)
		return res;
	c.whom = waker_of(r);
	c.order = k->next_order++;
	return put_change(r, k, c);
}

static const struct tracker_ops tracker_ops = {
	.slice = on_slice,
	.wakeup = on_wakeup,
	.leave = on_leave,
};

/* --- events --- */

static int take_fork(struct reader *r, const struct sched_event *ev)
{
	struct boot_task *k;
	int res;

	if (ev->other.pid <= 0)
		return 0;
	r->tasks->has_forks = true;
	res = add_task(r, ev->other.pid, &k);
	if (res < 0)
		return res;
	k->is_forked = true;
	k->parent_pid = ev->task.pid;
	k->parent = find_task(r, ev->task.pid);
	return put_name(r, k, ev->other.comm);
}

/* A task that is woken for the first time of its life, and of whose fork nothing is known. */
static int take_new(struct reader *r, const struct sched_event *ev)
{
	struct boot_task *k;
	int res;

	if (ev->task.pid <= 0)
		return 0;
	res = get_task(r, ev->task.pid, &k);
	if (res < 0 || k->is_forked)
		return res;
	if (k->n_changes) {
		res = add_task(r, ev->task.pid, &k);
		if (res < 0)
			return res;
	}
	k->is_forked = true;
	k->from_ns = k->to_ns = r->now_ns;
	k->parent_pid = ev->pid > 0 ? ev->pid : 0;
	k->parent = find_task(r, ev->pid);
	return put_name(r, k, ev->task.comm);
}

static int take_exec(struct reader *r, const struct sched_event *ev)
{
	struct boot_task_name *n;
	struct boot_task *k, *old;
	int res;

	if (ev->task.pid <= 0)
		return 0;
	if (ev->value > 0 && ev->value != ev->task.pid) {
		/* A thread has executed: it has the number of its process from now on. */
		res = get_task(r, ev->value, &old);
		if (res < 0)
			return res;
		old->is_over = true;
		old->to_ns = r->now_ns;
	}
	res = get_task(r, ev->task.pid, &k);
	if (res < 0)
		return res;
	k->is_over = k->has_exited = false;
	k->has_executed = true;
	if (!k->n_names || !ev->filename_len)
		return 0;
	n = &k->names[k->n_names - 1];
	free(n->program);
	n->program = strndup(ev->filename, ev->filename_len);
	return n->program ? 0 : -ENOMEM;
}

static int take_exit(struct reader *r, const struct sched_event *ev)
{
	struct boot_task *k;
	int res;

	if (ev->task.pid <= 0)
		return 0;
	res = get_task(r, ev->task.pid, &k);
	if (res < 0)
		return res;
	k->has_exited = true;
	k->left_others = (r->info.dialect.features & DIALECT_GROUP_DEAD) && !ev->extra;
	k->to_ns = k->to_ns > r->now_ns ? k->to_ns : r->now_ns;
	return 0;
}

static int name_task(struct reader *r, const struct sched_task *t)
{
	struct boot_task *k;
	int res;

	if (t->pid <= 0)
		return 0;
	res = get_alive(r, t->pid, &k);
	return res < 0 ? res : put_name(r, k, t->comm);
}

/* The order of a switch-in among what comes at the same time. */
static int take_switch(struct reader *r, const struct sched_event *ev)
{
	struct boot_task *k;
	int res = name_task(r, &ev->task);

	if (res >= 0)
		res = name_task(r, &ev->other);
	if (res < 0 || ev->other.pid <= 0)
		return res;
	res = get_task(r, ev->other.pid, &k);
	if (res < 0)
		return res;
	k->run_ns = r->now_ns;
	k->run_order = k->next_order++;
	return 0;
}

static int take_event(struct reader *r, const struct sched_event *ev)
{
	struct boot_task *k;
	int res;

	switch (ev->kind) {
	case SCHED_SWITCH:
		return take_switch(r, ev);
	case SCHED_WAKING:
	case SCHED_WAKEUP:
		return name_task(r, &ev->task);
	case SCHED_WAKEUP_NEW:
		return take_new(r, ev);
	case SCHED_FORK:
		return take_fork(r, ev);
	case SCHED_EXEC:
		return take_exec(r, ev);
	case SCHED_EXIT:
		return take_exit(r, ev);
	case SCHED_RENAME:
		if (ev->task.pid <= 0)
			return 0;
		res = get_task(r, ev->task.pid, &k);
		return res < 0 ? res : put_name(r, k, ev->other.comm);
	default:
		return 0;
	}
}

static int take_loss(struct reader *r, const struct trace_item *item)
{
	const struct trace_clock *c = &r->info.clock;
	const struct trace_loss *l = &item->loss;
	struct boot_tasks *t = r->tasks;
	struct boot_loss *loss;
	int res;

	if (t->n_losses == BOOT_LOSSES_MAX) {
		loss = &t->losses[t->n_losses - 1];
		loss->to_ns = l->to_tick > l->from_tick ? clock_ns(c, l->to_tick) : UINT64_MAX;
		loss->count = LOSS_UNKNOWN;
		return 0;
	}
	res = grow(&t->losses, &t->room_losses, t->n_losses, sizeof(*t->losses));
	if (res < 0)
		return res;
	loss = &t->losses[t->n_losses++];
	loss->from_ns = l->from_tick ? clock_ns(c, l->from_tick) : 0;
	loss->to_ns = l->to_tick > l->from_tick ? clock_ns(c, l->to_tick) : UINT64_MAX;
	loss->count = l->count;
	loss->cpu = item->cpu;
	return 0;
}

static int why(struct error *e, int r)
{
	if (r == -E2BIG)
		return error_set(e, E2BIG,
				 "cannot lay the scheduler's events over the boot: too "
				 "many tasks or events");
	return error_set(e, r, "cannot lay the scheduler's events over the boot: %s", strerror(-r));
}

static int take_item(struct reader *r, const struct trace_item *item, struct error *e)
{
	const struct sched_event *ev = &item->event;
	int res;

	r->item = item;
	if (item->type == ITEM_EVENT) {
		r->now_ns = clock_event_ns(&r->info.clock, ev);
		if (!r->is_begun)
			r->tasks->from_ns = r->now_ns;
		r->is_begun = true;
		if (r->now_ns < r->tasks->from_ns)
			r->now_ns = r->tasks->from_ns;
	}
	res = item->type == ITEM_EVENT ? take_event(r, ev) : take_loss(r, item);
	if (res < 0)
		return why(e, res);
	return tracker_add(r->tracker, item, e);
}

static int read_all(struct reader *r, struct trace_source *s, uint64_t until_ns, struct error *e)
{
	struct trace_item item;
	int res;

	while ((res = s->ops->next(s, &item, e)) == 1) {
		if (item.type == ITEM_EVENT && r->is_begun &&
		    clock_event_ns(&r->info.clock, &item.event) > until_ns)
			break;
		res = take_item(r, &item, e);
		if (res < 0)
			return res;
	}
	return res < 0 ? res : tracker_finish(r->tracker, e);
}

/* --- the end --- */

static int by_time(const void *a, const void *b)
{
	const struct boot_change *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_start(const void *a, const void *b)
{
	const struct boot_loss *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* A source that knows nothing of who was on the CPU has named nobody who was not a waker. */
static bool tells_interrupts(uint32_t features)
{
	return !(features & DIALECT_NO_FLAGS) ||
	       features & (DIALECT_WAKER_CONTEXT | DIALECT_NO_CUR);
}

static void finish(struct reader *r)
{
	struct boot_tasks *t = r->tasks;
	struct boot_task *k;
	size_t i;

	t->to_ns = tracker_to_ns(r->tracker);
	t->tells_interrupts = tells_interrupts(r->info.dialect.features);
	t->cpus = tracker_n_cpus(r->tracker);
	for (i = 0; i < t->n; i++) {
		k = &t->list[i];
		if (k->n_changes)
			qsort(k->changes, k->n_changes, sizeof(*k->changes), by_time);
		k->is_over = k->is_over || k->has_exited;
	}
	for (i = 0; i < t->n_losses; i++) {
		struct boot_loss *l = &t->losses[i];

		l->from_ns = l->from_ns > t->from_ns ? l->from_ns : t->from_ns;
		l->to_ns = l->to_ns < t->to_ns ? l->to_ns : t->to_ns;
		l->to_ns = l->to_ns > l->from_ns ? l->to_ns : l->from_ns;
	}
	if (t->n_losses)
		qsort(t->losses, t->n_losses, sizeof(*t->losses), by_start);
}

static void done(struct reader *r)
{
	tracker_free(r->tracker);
	pidmap_free(r->holders);
	boot_tasks_free(r->tasks);
}

int boot_tasks_new(struct boot_tasks **ret, struct trace_source *s, uint64_t add_ns,
		   uint64_t until_ns, struct error *e)
{
	__attribute__((cleanup(done))) struct reader r = { .info = s->info };
	int res;

	r.info.clock.base_ns += add_ns;
	r.tasks = calloc(1, sizeof(*r.tasks));
	r.holders = pidmap_new(sizeof(struct holder));
	res = r.tasks && r.holders ? tracker_new(&r.tracker, &r.info, &tracker_ops, &r) : -ENOMEM;
	if (res < 0)
		return why(e, res);
	res = read_all(&r, s, until_ns, e);
	if (res < 0)
		return res;
	finish(&r);
	*ret = take_ptr(r.tasks);
	return 0;
}

void boot_tasks_free(struct boot_tasks *t)
{
	size_t i, k;

	if (!t)
		return;
	for (i = 0; i < t->n; i++) {
		for (k = 0; k < t->list[i].n_names; k++)
			free(t->list[i].names[k].program);
		free(t->list[i].names);
		free(t->list[i].changes);
	}
	free(t->list);
	free(t->losses);
	free(t->busy);
	free(t);
}
