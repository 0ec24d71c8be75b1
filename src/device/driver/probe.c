/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probe: see probe.h.
 *
 * Everything between begin() and end() runs with interrupts off, on the CPU whose lane it is. Tracepoints
 * hand over tasks that may change while they are read (somebody writes a comm, a wakeup is on its
 * way on another CPU); a name is therefore copied first and looked at then.
 *
 * Nothing here may wake, sleep, allocate or take a lock: a probe of sched_switch holds the run
 * queue's. The exporter's own switches and wakeups are events like all others, and cannot beget more
 * of them: what they put into a lane wakes nobody before the lane is half full.
 */
#include "device/driver/probe.h"

#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/utsname.h>

#include <asm/word-at-a-time.h>

#include "device/driver/compat/fields.h"
#include "device/driver/compat/signature.h"
#include "device/driver/compat/task_state.h"
#include "device/driver/compat/trace_flags.h"
#include "device/driver/compressor_state.h"

/* An event on its way into the lane. It lies with the CPU, not on the stack: many kernels are compiled so
 * that they clear what lies there, and that alone would be a twentieth of the probe. */
struct passage {
	struct compressor_cpu *cpu;
	struct sched_event *event;
	unsigned long irq;
};

/* All but the two tasks, which each kind has to fill as far as it uses them. */
static ALWAYS_INLINE void begin(struct passage *p, void *data, enum sched_kind kind)
{
	struct compressor *c = data;
	struct sched_event *ev;

	local_irq_save(p->irq);
	p->cpu = c->cpus[smp_processor_id()];
	p->event = ev = &p->cpu->event;
	ev->tick = counter_read(c->options.counter);
	ev->state = 0;
	ev->value = 0;
	ev->filename_len = 0;
	ev->kind = kind;
	ev->pid = current->pid;
	ev->flags = compat_trace_flags(p->irq);
	ev->preempt_count = compat_preempt_count();
	ev->extra = 0;
}

/* For kinds that do not use all of both. */
static void clear_tasks(struct sched_event *ev)
{
	memset(&ev->task, 0, sizeof(ev->task));
	memset(&ev->other, 0, sizeof(ev->other));
}

static void add_profile(struct passage *p, u64 blocks)
{
	struct compressor_cpu *cpu = p->cpu;
	u64 spent = counter_read(cpu->owner->options.counter) - p->event->tick;

	raw_write_seqcount_begin(&cpu->profiled);
	cpu->probe_ticks += spent;
	if (cpu->lane.counts.blocks != blocks)
		cpu->block_ticks += spent;
	cpu->longest_ticks = max(cpu->longest_ticks, spent);
	raw_write_seqcount_end(&cpu->profiled);
}

static void end(struct passage *p, const struct filter_tasks *tasks)
{
	struct compressor *c = p->cpu->owner;
	struct lane *lane = &p->cpu->lane;
	u64 blocks = lane->counts.blocks;

	if (!smp_load_acquire(&c->is_open))
		; /* Probes are being put on or taken off, one after the other. */
	else if (c->filter.is_on && !filter_passes(&c->filter, p->event, tasks))
		lane_pass(lane);
	else if (lane_take(lane, p->event) == LANE_WAKE)
		irq_work_queue(&p->cpu->work);
	if (READ_ONCE(c->profile))
		add_profile(p, blocks);
	local_irq_restore(p->irq);
}

/* Cut at the first NUL and padded with them: behind it there may be the rest of an older name. A word
 * at a time, each read once, for every event has one or two names. */
static ALWAYS_INLINE void put_comm(char comm[SCHED_COMM_LEN], const char *from)
{
	const struct word_at_a_time constants = WORD_AT_A_TIME_CONSTANTS;
	unsigned long word, zeros;
	u32 i;

	BUILD_BUG_ON(SCHED_COMM_LEN > TASK_COMM_LEN);
	for (i = 0; i < SCHED_COMM_LEN; i += sizeof(word)) {
		/* Somebody may write the name: what is read of it is one of the two, word by
		 * word. */
		data_race(memcpy(&word, from + i, sizeof(word)));
		if (has_zero(word, &zeros, &constants))
			break;
		memcpy(comm + i, &word, sizeof(word));
	}
	if (i < SCHED_COMM_LEN) {
		zeros = create_zero_mask(prep_zero_mask(word, zeros, &constants));
		word &= zero_bytemask(zeros);
		memcpy(comm + i, &word, sizeof(word));
		for (i += sizeof(word), word = 0; i < SCHED_COMM_LEN; i += sizeof(word))
			memcpy(comm + i, &word, sizeof(word));
	}
}

static void put_task(struct sched_task *to, const struct task_struct *t)
{
	to->pid = t->pid;
	to->prio = READ_ONCE(t->prio);
	put_comm(to->comm, t->comm);
}

static void take_switch(void *data, struct task_struct *prev, struct task_struct *next, u64 state)
{
	const struct filter_tasks tasks = { .task = prev, .other = next };
	struct passage p;

	begin(&p, data, SCHED_SWITCH);
	put_task(&p.event->task, prev);
	put_task(&p.event->other, next);
	p.event->state = state;
	end(&p, &tasks);
}

static void switch_with_state(void *data, bool preempt, struct task_struct *prev,
			      struct task_struct *next, unsigned int prev_state)
{
	take_switch(data, prev, next, compat_state_from(preempt, prev_state, prev));
}

static void switch_without_state(void *data, bool preempt, struct task_struct *prev,
				 struct task_struct *next)
{
	take_switch(data, prev, next, compat_state_of(preempt, prev));
}

static void take_wakeup(void *data, enum sched_kind kind, struct task_struct *woken)
{
	const struct filter_tasks tasks = { .task = woken };
	struct passage p;

	begin(&p, data, kind);
	put_task(&p.event->task, woken);
	p.event->value = (s32)task_cpu(woken);
	p.event->extra = COMPAT_WAKEUP_SUCCESS;
	end(&p, &tasks);
}

static void probe_waking(void *data, struct task_struct *woken)
{
	take_wakeup(data, SCHED_WAKING, woken);
}

static void probe_wakeup(void *data, struct task_struct *woken)
{
	take_wakeup(data, SCHED_WAKEUP, woken);
}

static void probe_wakeup_new(void *data, struct task_struct *woken)
{
	take_wakeup(data, SCHED_WAKEUP_NEW, woken);
}

static void probe_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	const struct filter_tasks tasks = { .task = parent, .other = child };
	struct passage p;

	begin(&p, data, SCHED_FORK);
	clear_tasks(p.event);
	p.event->task.pid = parent->pid;
	put_comm(p.event->task.comm, parent->comm);
	p.event->other.pid = child->pid;
	put_comm(p.event->other.comm, child->comm);
	end(&p, &tasks);
}

static void probe_exec(void *data, struct task_struct *t, pid_t old_pid, struct linux_binprm *bprm)
{
	const struct filter_tasks tasks = { .task = t };
	struct passage p;

	begin(&p, data, SCHED_EXEC);
	clear_tasks(p.event);
	p.event->task.pid = t->pid;
	p.event->value = old_pid;
	p.event->filename_len = (u16)strnlen(bprm->filename, SCHED_FILENAME_MAX);
	if (p.event->filename_len)
		p.event->filename = bprm->filename;
	end(&p, &tasks);
}

static void take_exit(void *data, struct task_struct *t, bool group_dead)
{
	const struct filter_tasks tasks = { .task = t };
	struct passage p;

	begin(&p, data, SCHED_EXIT);
	put_task(&p.event->task, t);
	p.event->extra = group_dead;
	end(&p, &tasks);
}

static void exit_with_group(void *data, struct task_struct *t, bool group_dead)
{
	take_exit(data, t, group_dead);
}

static void exit_without_group(void *data, struct task_struct *t)
{
	take_exit(data, t, false);
}

static void probe_rename(void *data, struct task_struct *t, const char *comm)
{
	const struct filter_tasks tasks = { .task = t };
	struct passage p;

	begin(&p, data, SCHED_RENAME);
	clear_tasks(p.event);
	p.event->task.pid = t->pid;
	put_comm(p.event->task.comm, t->comm);
	/* The new name may be a string of any length. */
	sched_comm_set(p.event->other.comm, comm, SCHED_COMM_LEN - 1);
	p.event->value = t->signal->oom_score_adj;
	end(&p, &tasks);
}

static void probe_setprio(void *data, struct task_struct *t, struct task_struct *donor)
{
	const struct filter_tasks tasks = { .task = t };
	struct passage p;

	begin(&p, data, SCHED_SETPRIO);
	clear_tasks(p.event);
	put_task(&p.event->task, t);
	p.event->other.prio = donor ? min(t->normal_prio, donor->prio) : t->normal_prio;
	end(&p, &tasks);
}

static void *const probes[SCHED_KINDS] = {
	[SCHED_SWITCH] =
		COMPAT_SWITCH_HAS_STATE ? (void *)switch_with_state : (void *)switch_without_state,
	[SCHED_WAKING] = probe_waking,
	[SCHED_WAKEUP] = probe_wakeup,
	[SCHED_WAKEUP_NEW] = probe_wakeup_new,
	[SCHED_FORK] = probe_fork,
	[SCHED_EXEC] = probe_exec,
	[SCHED_EXIT] =
		COMPAT_EXIT_HAS_GROUP_DEAD ? (void *)exit_with_group : (void *)exit_without_group,
	[SCHED_RENAME] = probe_rename,
	[SCHED_SETPRIO] = probe_setprio,
};

static void look_at(struct tracepoint *point, void *data)
{
	struct probe_points *p = data;
	u32 kind;

	for (kind = 0; kind < SCHED_KINDS; kind++)
		if (!strcmp(point->name, sched_kind_event(kind)))
			p->point[kind] = point;
}

void probe_points_init(struct probe_points *p)
{
	memset(p, 0, sizeof(*p));
	for_each_kernel_tracepoint(look_at, p);
}

u32 probe_points_kinds(const struct probe_points *p)
{
	u32 kind, kinds = 0;

	for (kind = 0; kind < SCHED_KINDS; kind++)
		kinds |= p->point[kind] ? 1U << kind : 0;
	return kinds;
}

int probe_points_open(struct probe_points *p, u32 kinds, struct compressor *c)
{
	u32 kind;
	int r = 0;

	for (kind = 0; kind < SCHED_KINDS && !r; kind++) {
		if (!p->point[kind] || !(kinds & 1U << kind))
			continue;
		r = tracepoint_probe_register(p->point[kind], probes[kind], c);
		if (!r)
			p->open |= 1U << kind;
	}
	if (r)
		probe_points_close(p, c);
	return r;
}

void probe_points_close(struct probe_points *p, struct compressor *c)
{
	u32 kind;

	for (kind = 0; kind < SCHED_KINDS; kind++)
		if (p->open & 1U << kind)
			tracepoint_probe_unregister(p->point[kind], probes[kind], c);
	p->open = 0;
	tracepoint_synchronize_unregister();
}

void probe_get_dialect(struct sched_dialect *ret)
{
	dialect_from_release(ret, init_utsname()->release);
	/* A probe knows the pid, also where the kernel's event has none. */
	ret->features &= ~(u32)(DIALECT_RENAME_NO_PID | DIALECT_GROUP_DEAD | DIALECT_BIG_ENDIAN);
	if (COMPAT_EXIT_HAS_GROUP_DEAD)
		ret->features |= DIALECT_GROUP_DEAD;
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		ret->features |= DIALECT_BIG_ENDIAN;
	ret->long_size = sizeof(long);
}
