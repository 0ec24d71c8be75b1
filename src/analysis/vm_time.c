/* SPDX-License-Identifier: MIT */
/*
 * vm_time: see vm_time.h.
 *
 * A virtual CPU has one open segment. An event that changes its class closes it and opens the next; closed ones of the
 * current episode (from an exit to the next entry) are held back in a small array, because the event that ends a halt tells
 * how long ago polling began. Whoever waits for a CPU gets a new segment whenever that CPU changes hands, so each has
 * one culprit.
 */
#include "analysis/vm_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/vm_exit.h"
#include "store/array.h"
#include "trace/pidmap.h"

#define EPISODE_MAX 32U	 /* segments held back; a longer episode is given away in parts */
#define STATE_DEAD 0xb0U /* EXIT_DEAD, EXIT_ZOMBIE, TASK_DEAD */
#define UNKNOWN_TID (-1)

static const struct sample_task nobody = { .tid = UNKNOWN_TID };

const char *const vm_class_words[VM_CLASSES] = {
	[VM_UNKNOWN] = "unknown",  [VM_GUEST] = "guest",       [VM_KERNEL] = "vmm-kernel",
	[VM_OUTSIDE] = "vmm-user", [VM_STEAL] = "steal",       [VM_WAITING] = "waiting",
	[VM_HALT] = "halt",	   [VM_POLL] = "halt-polling", [VM_ASLEEP] = "asleep",
};

struct vcpu {
	struct vm_vcpu shown;
	struct vm_segment open;	 /* its to_tick is not known yet */
	struct vm_segment *held; /* EPISODE_MAX */
	uint32_t n_held;
	uint32_t wait_next,
		wait_before; /* of those who wait for the same CPU, index + 1; 0: none */
	uint32_t wait_cpu;   /* that one, if */
	bool is_linked;
	bool on_cpu;
	bool outside; /* the VMM's program has the word */
	bool asleep;  /* after this episode's exit it slept: polling is over */
	bool sampled; /* a sample was taken in the guest: the next exit is ours */
};

/* By tid, the newest virtual CPU that has it. */
struct place {
	int32_t tid;
	uint32_t vcpu; /* index + 1 */
};

struct cpu {
	struct sample_task current; /* tid UNKNOWN_TID: not known */
	uint32_t waiting;	    /* the first virtual CPU that waits for it, index + 1 */
};

struct vm_time {
	struct vm_time_options o;
	struct vcpu *vcpus;
	size_t n, room;
	struct pidmap *places;
	struct cpu *cpus;
	uint32_t n_cpus;
	struct sample_pauses pauses;
};

int vm_time_new(struct vm_time **ret, const struct vm_time_options *o)
{
	struct vm_time *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->o = *o;
	t->pauses.pace = o->pace;
	t->places = pidmap_new(sizeof(struct place));
	if (!t->places) {
		free(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

void vm_time_free(struct vm_time *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->n; i++)
		free(t->vcpus[i].held);
	pidmap_free(t->places);
	free(t->vcpus);
	free(t->cpus);
	free(t);
}

/* --- copies --- */

static int dup_vcpus(struct vm_time *to, const struct vm_time *t, size_t n_held)
{
	to->vcpus = calloc(t->n + 1, sizeof(*to->vcpus));
	if (!to->vcpus)
		return -ENOMEM;
	to->room = t->n + 1;
	for (; to->n < t->n; to->n++) {
		const struct vcpu *from = &t->vcpus[to->n];
		size_t room = from->n_held > n_held ? from->n_held : n_held;
		struct vm_segment *held = calloc(room + 1, sizeof(*held));

		if (!held)
			return -ENOMEM;
		memcpy(held, from->held, from->n_held * sizeof(*held));
		to->vcpus[to->n] = *from;
		to->vcpus[to->n].held = held;
	}
	return 0;
}

static int dup_cpus(struct vm_time *to, const struct vm_time *t)
{
	to->cpus = malloc((t->n_cpus + 1) * sizeof(*to->cpus));
	if (!to->cpus)
		return -ENOMEM;
	if (t->n_cpus)
		memcpy(to->cpus, t->cpus, t->n_cpus * sizeof(*to->cpus));
	to->n_cpus = t->n_cpus;
	return 0;
}

/* Of several that had a number the newest has it. */
static int find_places(struct vm_time *t)
{
	struct place *p;
	size_t i;

	for (i = 0; i < t->n; i++) {
		p = pidmap_add(t->places, t->vcpus[i].shown.tid);
		if (!p)
			return -ENOMEM;
		p->vcpu = (uint32_t)i + 1;
	}
	return 0;
}

int vm_time_dup(struct vm_time **ret, const struct vm_time *t, const struct vm_time_options *o)
{
	CLEANUP(vm_time) struct vm_time *to = calloc(1, sizeof(*to));
	int r;

	if (!to)
		return -ENOMEM;
	if (o)
		to->o = *o;
	to->pauses = (struct sample_pauses){ .pace = o ? o->pace : NULL, .done = t->pauses.done };
	r = dup_vcpus(to, t, o ? EPISODE_MAX : 0);
	if (r == 0)
		r = dup_cpus(to, t);
	if (r == 0 && o) {
		to->places = pidmap_new(sizeof(struct place));
		r = to->places ? find_places(to) : -ENOMEM;
	}
	if (r < 0)
		return r;
	*ret = take_ptr(to);
	return 0;
}

size_t vm_time_count(const struct vm_time *t)
{
	return t->n;
}

const struct vm_vcpu *vm_time_get(const struct vm_time *t, uint32_t vcpu)
{
	return vcpu < t->n ? &t->vcpus[vcpu].shown : NULL;
}

bool vm_time_is_first(const struct vm_time *t, uint32_t vcpu)
{
	uint32_t i = 0;

	while (i < vcpu && t->vcpus[i].shown.pid != t->vcpus[vcpu].shown.pid)
		i++;
	return i == vcpu;
}

/* --- segments --- */

static int flush(struct vm_time *t, struct vcpu *v)
{
	uint32_t i;
	int r = 0;

	for (i = 0; i < v->n_held && r >= 0; i++)
		r = t->o.listener->segment(t->o.data, &v->held[i]);
	v->n_held = 0;
	return r < 0 ? r : 0;
}

/* Closes the open segment at a tick; what comes is as it until the caller changes it. */
static int close_at(struct vm_time *t, struct vcpu *v, uint64_t tick)
{
	int r = 0;

	if (tick <= v->open.from_tick)
		return 0;
	if (v->n_held == EPISODE_MAX)
		r = flush(t, v);
	v->open.to_tick = tick;
	v->held[v->n_held++] = v->open;
	v->open.from_tick = tick;
	v->open.is_exit = false;
	v->shown.end_tick = tick;
	return r;
}

static bool is_waiting(const struct vcpu *v)
{
	return v->open.kind == VM_STEAL || v->open.kind == VM_WAITING;
}

static void wait_begin(struct vm_time *t, struct vcpu *v)
{
	struct cpu *c = &t->cpus[v->open.cpu];

	v->open.culprit = c->current;
	v->wait_before = 0;
	v->wait_next = c->waiting;
	if (c->waiting)
		t->vcpus[c->waiting - 1].wait_before = v->open.vcpu + 1;
	c->waiting = v->open.vcpu + 1;
	v->wait_cpu = v->open.cpu;
	v->is_linked = true;
}

static void wait_end(struct vm_time *t, struct vcpu *v)
{
	if (v->wait_before)
		t->vcpus[v->wait_before - 1].wait_next = v->wait_next;
	else
		t->cpus[v->wait_cpu].waiting = v->wait_next;
	if (v->wait_next)
		t->vcpus[v->wait_next - 1].wait_before = v->wait_before;
	v->is_linked = false;
}

/* Another class from this tick on; `cpu`: where it is, or waits. */
static int change(struct vm_time *t, struct vcpu *v, uint64_t tick, enum vm_class class,
		  uint32_t cpu)
{
	int r = close_at(t, v, tick);

	if (v->is_linked)
		wait_end(t, v);
	v->open.kind = (uint8_t) class;
	v->open.cpu = cpu;
	v->open.ours &= class == VM_KERNEL;
	v->open.culprit = nobody;
	if (is_waiting(v) && cpu < t->n_cpus)
		wait_begin(t, v);
	return r;
}

/* --- who --- */

static struct vcpu *find(struct vm_time *t, const struct sample_task *task)
{
	const struct place *p = pidmap_get(t->places, task->tid);
	struct vcpu *v = p && p->vcpu ? &t->vcpus[p->vcpu - 1] : NULL;

	return v && v->shown.pid == task->pid && !v->shown.is_gone ? v : NULL;
}

static int add(struct vm_time *t, const struct sample_task *task, uint64_t tick, struct vcpu **ret)
{
	struct place *p = pidmap_add(t->places, task->tid);
	struct vcpu *v;
	int r = p ? array_grow(&t->vcpus, t->n, &t->room, sizeof(*t->vcpus), VM_VCPUS_MAX)
		  : -ENOMEM;

	if (r < 0)
		return r;
	v = &t->vcpus[t->n];
	memset(v, 0, sizeof(*v));
	v->held = calloc(EPISODE_MAX, sizeof(*v->held));
	if (!v->held)
		return -ENOMEM;
	v->shown.tid = task->tid;
	v->shown.pid = task->pid;
	v->shown.number = SAMPLE_NO_VCPU;
	v->shown.first_tick = v->shown.end_tick = v->open.from_tick = tick;
	v->open.vcpu = (uint32_t)t->n;
	v->open.cpu = VM_CPU_NONE;
	v->open.culprit = nobody;
	v->outside = true; /* a thread that has not yet been in its guest is in the VMM's program */
	p->vcpu = (uint32_t)++t->n;
	*ret = v;
	return 0;
}

/* The virtual CPU that a task runs; *ret NULL: it runs none. `certain`: the event itself says that it does. */
static int get(struct vm_time *t, const struct sample_task *task, uint64_t tick, bool certain,
	       struct vcpu **ret)
{
	int r = 0;

	*ret = find(t, task);
	if (!*ret && task->tid > 0 && (certain || task->vcpu >= 0))
		r = add(t, task, tick, ret);
	if (*ret && task->vcpu >= 0)
		(*ret)->shown.number = task->vcpu;
	if (*ret && task->comm[0])
		memcpy((*ret)->shown.comm, task->comm, SCHED_COMM_LEN);
	return r;
}

/* --- CPUs --- */

static int get_cpu(struct vm_time *t, uint32_t cpu)
{
	struct cpu *grown;

	if (cpu < t->n_cpus)
		return 0;
	if (cpu >= VM_CPUS_MAX)
		return -E2BIG;
	grown = realloc(t->cpus, (cpu + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	t->cpus = grown;
	while (t->n_cpus <= cpu)
		grown[t->n_cpus++] = (struct cpu){ .current = nobody };
	return 0;
}

/* The CPU is another task's from here on: those who wait for it have another culprit. */
static int hand_over(struct vm_time *t, uint32_t cpu, uint64_t tick, const struct sample_task *next)
{
	uint32_t i = t->cpus[cpu].waiting;
	int r = 0;

	t->cpus[cpu].current = *next;
	while (i && r >= 0) {
		struct vcpu *v = &t->vcpus[i - 1];

		r = close_at(t, v, tick);
		v->open.culprit = *next;
		i = v->wait_next;
	}
	return r;
}

/* --- events --- */

static int put_entry(struct vm_time *t, struct vcpu *v, const struct sample_item *item)
{
	int r = change(t, v, item->event.tick, VM_GUEST, item->cpu);

	v->on_cpu = true;
	v->outside = v->asleep = v->sampled = false;
	return r < 0 ? r : flush(t, v);
}

/* An event that says where the guest was when it was left. */
static int tell_place(struct vm_time *t, const struct vcpu *v, const struct sample_item *item)
{
	if (!item->event.guest || !t->o.listener->sample)
		return 0;
	return t->o.listener->sample(t->o.data, &v->open, item);
}

static int put_exit(struct vm_time *t, struct vcpu *v, const struct sample_item *item)
{
	const struct sample_event *ev = &item->event;
	bool ours = v->sampled && vm_exit_is_interrupt(t->o.exits, ev->value);
	int r;

	/* The interrupt that took the sample had ended the guest's run: what was since was not the guest's. */
	if (ours && v->open.kind == VM_GUEST) {
		v->open.kind = VM_KERNEL;
		v->open.ours = v->open.has_reason = true;
		v->open.reason = ev->value;
		v->open.detail = ev->detail;
	}
	r = change(t, v, ev->tick, VM_KERNEL, item->cpu);
	v->on_cpu = true;
	v->outside = v->asleep = v->sampled = false;
	v->open.is_exit = v->open.has_reason = true;
	v->open.reason = ev->value;
	v->open.detail = ev->detail;
	v->open.ours = ours;
	return r < 0 ? r : tell_place(t, v, item);
}

static bool is_halted(const struct vm_time *t, const struct vcpu *v)
{
	return !v->outside && v->open.has_reason &&
	       vm_exit_is_halt(t->o.exits, v->open.reason, v->open.detail);
}

/* What was the kernel's since `from` was polling. One of the held segments may have to be cut in two. */
static void poll_since(struct vcpu *v, uint64_t from)
{
	uint32_t i;

	for (i = 0; i < v->n_held; i++) {
		struct vm_segment *s = &v->held[i];

		if (s->kind == VM_HALT)
			return;
		if (s->kind != VM_KERNEL || s->to_tick <= from)
			continue;
		if (s->from_tick < from && v->n_held < EPISODE_MAX) {
			memmove(s + 1, s, (v->n_held - i) * sizeof(*s));
			v->n_held++;
			s->to_tick = s[1].from_tick = from;
			s[1].is_exit = false;
			continue;
		}
		s->kind = VM_POLL;
		s->ours = false; /* whatever the exit was for, this is no cost of it */
	}
}

static int put_poll(struct vm_time *t, struct vcpu *v, const struct sample_item *item)
{
	const struct sample_event *ev = &item->event;
	uint64_t now = clock_ns(t->o.clock, ev->tick);
	uint64_t from = ev->value < now ? clock_tick_at(t->o.clock, now - ev->value) : 0;
	int r = 0;

	/* The kernel says so on behalf of its thread, which therefore runs. */
	if (v->open.kind == VM_UNKNOWN) {
		v->on_cpu = true;
		return change(t, v, ev->tick, VM_KERNEL, item->cpu);
	}
	/* Still on the CPU since the exit: what is open was polling, too. */
	if (v->open.kind == VM_KERNEL && !v->asleep)
		r = close_at(t, v, ev->tick);
	if (is_halted(t, v))
		poll_since(v, from);
	return r;
}

static int put_out(struct vm_time *t, struct vcpu *v, const struct sample_item *item)
{
	const struct sample_event *ev = &item->event;
	enum vm_class class = VM_STEAL;
	int r = tell_place(t, v, item);

	if (r < 0)
		return r;
	v->on_cpu = false;
	if (ev->value & STATE_DEAD) {
		r = close_at(t, v, ev->tick);
		v->shown.is_gone = true;
		if (v->is_linked)
			wait_end(t, v);
		return r < 0 ? r : flush(t, v);
	}
	if (ev->value)
		class = is_halted(t, v) ? VM_HALT : VM_ASLEEP;
	v->asleep |= ev->value != 0;
	return change(t, v, ev->tick, class, item->cpu);
}

static int put_in(struct vm_time *t, struct vcpu *v, const struct sample_item *item)
{
	v->on_cpu = true;
	return change(t, v, item->event.tick, v->outside ? VM_OUTSIDE : VM_KERNEL, item->cpu);
}

static int put_switch(struct vm_time *t, const struct sample_item *item)
{
	const struct sample_event *ev = &item->event;
	struct vcpu *v;
	int r = get(t, &ev->next, ev->tick, false, &v);

	if (r == 0 && v)
		r = put_in(t, v, item);
	if (r == 0)
		r = hand_over(t, item->cpu, ev->tick, &ev->next);
	if (r == 0)
		r = get(t, &ev->task, ev->tick, false, &v);
	return r == 0 && v ? put_out(t, v, item) : r;
}

static int put_wake(struct vm_time *t, const struct sample_event *ev)
{
	struct vcpu *v;
	int r = get(t, &ev->next, ev->tick, false, &v);

	/* One that is on a CPU was woken before it slept: nothing changes. */
	if (r < 0 || !v || v->on_cpu || is_waiting(v))
		return r;
	return change(t, v, ev->tick, VM_WAITING,
		      ev->value < t->n_cpus ? (uint32_t)ev->value : VM_CPU_NONE);
}

/* A sample in the guest whose exit was told already: some KVMs do that before they serve the interrupt. */
static bool is_told(const struct vm_time *t, const struct vcpu *v)
{
	return v->open.kind == VM_KERNEL && v->open.is_exit &&
	       vm_exit_is_interrupt(t->o.exits, v->open.reason);
}

static int put_sample(struct vm_time *t, const struct sample_item *item)
{
	const struct sample_event *ev = &item->event;
	struct vcpu *v;
	int r = get(t, &ev->task, ev->tick, ev->guest != 0, &v);

	if (r < 0 || !v)
		return r;
	/* After a loss a sample says what the virtual CPU does. */
	if (v->open.kind == VM_UNKNOWN) {
		enum vm_class class = ev->guest ? VM_GUEST : v->outside ? VM_OUTSIDE : VM_KERNEL;

		r = change(t, v, ev->tick, class, item->cpu);
		v->on_cpu = true;
	}
	if (ev->guest && is_told(t, v))
		v->open.ours = true;
	else
		v->sampled |= ev->guest != 0;
	/* What was before the sample comes before it. */
	if (r == 0 && v->open.kind == VM_GUEST)
		r = close_at(t, v, ev->tick);
	if (r == 0 && (v->open.kind == VM_GUEST || v->open.ours))
		r = flush(t, v);
	if (r == 0 && t->o.listener->sample)
		r = t->o.listener->sample(t->o.data, &v->open, item);
	return r;
}

/* Who was on this CPU, or on none, may have done anything since. */
static int put_loss(struct vm_time *t, const struct sample_item *item)
{
	size_t i;
	int r = 0;

	for (i = 0; i < t->n && r >= 0; i++) {
		struct vcpu *v = &t->vcpus[i];

		if (v->shown.is_gone || (v->on_cpu && v->open.cpu != item->cpu))
			continue;
		r = change(t, v, item->loss.from_tick, VM_UNKNOWN, VM_CPU_NONE);
		v->on_cpu = v->sampled = v->open.has_reason = false;
	}
	t->cpus[item->cpu].current = nobody;
	return r;
}

/* Nothing was recorded from here on, of nobody. */
static int put_pause(struct vm_time *t, uint64_t tick)
{
	size_t i;
	int r = 0;

	for (i = 0; i < t->n && r >= 0; i++) {
		struct vcpu *v = &t->vcpus[i];

		if (v->shown.is_gone)
			continue;
		r = change(t, v, tick, VM_UNKNOWN, VM_CPU_NONE);
		v->on_cpu = v->sampled = v->open.has_reason = false;
	}
	for (i = 0; i < t->n_cpus; i++)
		t->cpus[i].current = nobody;
	return r;
}

static int put_guest(struct vm_time *t, const struct sample_item *item)
{
	const struct sample_event *ev = &item->event;
	struct vcpu *v;
	int r = get(t, &ev->task, ev->tick, true, &v);

	if (r < 0 || !v)
		return r;
	switch (ev->kind) {
	case SAMPLE_ENTRY:
		return put_entry(t, v, item);
	case SAMPLE_EXIT:
		return put_exit(t, v, item);
	case SAMPLE_POLL:
		return put_poll(t, v, item);
	default:
		v->outside = true;
		v->on_cpu = true;
		return change(t, v, ev->tick, VM_OUTSIDE, item->cpu);
	}
}

int vm_time_put(struct vm_time *t, const struct sample_item *item)
{
	bool is_loss = item->type == ITEM_LOSS;
	uint64_t tick = is_loss ? item->loss.from_tick : item->event.tick, pause;
	int r = get_cpu(t, item->cpu);

	while (r >= 0 && sample_pauses_next(&t->pauses, tick, &pause))
		r = put_pause(t, pause);
	if (r < 0)
		return r;
	if (is_loss)
		return put_loss(t, item);
	switch (item->event.kind) {
	case SAMPLE_TAKEN:
		return put_sample(t, item);
	case SAMPLE_SWITCH:
		return put_switch(t, item);
	case SAMPLE_WAKE:
		return put_wake(t, &item->event);
	default:
		return put_guest(t, item);
	}
}

int vm_time_end(struct vm_time *t, uint64_t tick)
{
	size_t i;
	int r = 0;

	for (i = 0; i < t->n && r >= 0; i++) {
		if (t->vcpus[i].shown.is_gone)
			continue;
		r = close_at(t, &t->vcpus[i], tick);
		if (r >= 0)
			r = flush(t, &t->vcpus[i]);
	}
	return r;
}
