/* SPDX-License-Identifier: MIT */
/* profile_recorder: see profile_recorder.h. */
#include "device/profile/profile_recorder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "device/agent/run_meta.h"
#include "device/profile/held_rows.h"
#include "device/profile/kernel_names.h"
#include "device/profile/pace.h"
#include "device/profile/process_maps.h"
#include "device/profile/profile_meta.h"
#include "device/profile/task_names.h"
#include "device/profile/told_objects.h"
#include "wire/sample_lane.h"

#define ORIGIN "profile"
#define KALLSYMS "/proc/kallsyms"
#define MODULES "/proc/modules"
#define META_FLUSH_MS 1000U
#define STATE_ASLEEP                                                                               \
	1U /* what a task is that leaves a CPU of its own will; perf does not tell more */

struct profile_recorder {
	struct profile_recorder_options o;
	struct perf_rings *rings;
	struct sample_lane *lanes; /* of each ring */
	struct profile_meta meta;
	struct run_meta run; /* for what every run says */
	struct task_names tasks;
	struct object_ids ids;
	struct held_rows held;
	struct kernel_names *names;
	struct perf_record record;
	struct pace pace;
	uint64_t cost_ns; /* of a sample, in no account; 0: not known, or of no interest */
	uint64_t start_tick, now_ms, meta_ms;
	uint64_t samples, weights, throttled;
	bool has_chains, has_unknown;
};

int profile_recorder_new(struct profile_recorder **ret, const struct profile_recorder_options *o,
			 struct error *e)
{
	CLEANUP(profile_recorder) struct profile_recorder *r = calloc(1, sizeof(*r));
	uint32_t i;
	int failed;

	if (!r)
		return error_set(e, ENOMEM, "cannot record: out of memory");
	r->o = *o;
	r->rings = perf_events_get_rings(o->events);
	r->has_chains = perf_events_has_chains(o->events);
	r->lanes = calloc(r->rings->n, sizeof(*r->lanes));
	if (!r->lanes)
		return error_set(e, ENOMEM, "cannot record: out of memory");
	for (i = 0; i < r->rings->n; i++)
		sample_lane_init(&r->lanes[i], o->out, r->rings->list[i].cpu);
	profile_meta_init(&r->meta, o->out);
	r->meta.told = o->told;
	r->meta.tell = told_objects_push;
	held_rows_init(&r->held);
	pace_init(&r->pace, &o->settings->pace, o->settings->period_ns);
	r->pace.is_cycles = perf_events_is_cycles(o->events);
	if (o->settings->pace.budget_ppm)
		r->cost_ns = perf_events_measure_cost(o->events);
	r->run.device = o->device;
	failed = kernel_names_new(&r->names, KALLSYMS, e);
	if (failed < 0)
		return failed;
	kernel_names_keep_told(r->names, MODULES);
	*ret = take_ptr(r);
	return 0;
}

void profile_recorder_free(struct profile_recorder *r)
{
	if (!r)
		return;
	kernel_names_free(r->names);
	free(r->lanes);
	free(r);
}

/* --- the description --- */

/* How long a period of cycles is the kernel finds out by and by; at the end it is known. */
static void describe(struct profile_recorder *r)
{
	struct sample_sampling sampling;
	uint8_t *p = profile_meta_begin(&r->meta);

	perf_events_get_sampling(r->o.events, &sampling);
	if (!sampling.period && r->samples)
		sampling.period = r->weights / r->samples;
	p = run_meta_put_machine(&r->run, p, ORIGIN, r->rings->list[r->rings->n - 1].cpu + 1);
	p = run_meta_put_clock(p, 0);
	p = run_meta_put_agent(p);
	profile_meta_end(&r->meta, sample_meta_put_sampling(p, &sampling));
}

static void put_life(struct profile_recorder *r, const struct task_name *n, int32_t parent,
		     uint64_t tick, enum sample_life what)
{
	struct sample_life_row row = { .pid = n->pid,
				       .parent = parent,
				       .tick = tick,
				       .what = (uint8_t)what,
				       .comm = n->comm,
				       .comm_len = (uint32_t)strnlen(n->comm, SCHED_COMM_LEN) };

	profile_meta_put_life(&r->meta, &row);
}

/* Mappings that wait are put, or are of no use any more. */
static void release(struct profile_recorder *r, struct task_name *n, bool is_needed)
{
	if (n->held)
		held_rows_pop(&r->held, n->held, is_needed ? &r->meta : NULL);
	n->held = 0;
}

/* The place of a thread, which another one may lose. */
static struct task_name *name(struct profile_recorder *r, int32_t tid, int32_t pid)
{
	struct task_name *n = task_names_put(&r->tasks, tid, pid);
	uint16_t left = task_names_take_slot(&r->tasks);

	if (left)
		held_rows_pop(&r->held, left, &r->meta);
	return n;
}

/* A process that was there before, or of which the beginning was lost. */
static struct task_name *meet(struct profile_recorder *r, int32_t pid, uint64_t tick)
{
	struct process_stat s = { .parent = 0 };
	struct task_name *n = name(r, pid, pid);

	if (process_stat_get(pid, &s))
		memcpy(n->comm, s.comm, sizeof(n->comm));
	n->threads = s.threads;
	n->is_old = true;
	put_life(r, n, s.parent, tick, SAMPLE_LIFE_START);
	return n;
}

/* Its mappings are needed. If it is gone by now they are not to be had. */
static void need(struct profile_recorder *r, int32_t pid, uint64_t tick)
{
	struct task_name *n;

	if (pid <= 0)
		return;
	n = task_names_get(&r->tasks, pid);
	if (!n || n->pid != pid)
		n = meet(r, pid, tick);
	release(r, n, true);
	if (n->is_described)
		return;
	n->is_described = true;
	process_maps_put(&r->meta, &r->ids, pid, n->is_old ? r->start_tick : tick);
}

/* Who is there, before sampling starts, since some may end soon. Who comes between is met when it is sampled. */
static void meet_all(struct profile_recorder *r)
{
	DIR *folder = opendir("/proc");
	const struct dirent *d;
	int32_t pid;

	while (folder && (d = readdir(folder))) {
		pid = (int32_t)atoi(d->d_name);
		if (pid > 0)
			meet(r, pid, r->start_tick);
	}
	if (folder)
		closedir(folder);
}

static void meet_targets(struct profile_recorder *r)
{
	const struct profile_settings *s = r->o.settings;
	uint32_t i;

	if (s->all) {
		kernel_names_learn_idle(r->names);
		meet_all(r);
	}
	for (i = 0; i < s->n_pids; i++)
		need(r, s->pids[i], r->start_tick);
	if (r->o.command)
		meet(r, r->o.command, r->start_tick)->is_described = !s->all;
}

/* CPU time of this program, and of the kernel for its samples. */
static uint64_t used_ns(const struct profile_recorder *r)
{
	return pace_used_ns() + r->samples * r->cost_ns;
}

int profile_recorder_start(struct profile_recorder *r, struct error *e)
{
	int failed;

	r->start_tick = clock_mono_ns();
	r->now_ms = r->meta_ms = r->start_tick / CLOCK_NS_PER_MS;
	describe(r);
	meet_targets(r);
	pace_start(&r->pace, clock_mono_ns(), used_ns(r));
	pace_put(&r->pace, &r->meta, clock_mono_ns());
	profile_meta_flush(&r->meta);
	failed = perf_events_start(r->o.events, r->pace.is_paused, e);
	return failed < 0 ? failed : 0;
}

/* --- records --- */

static void set_task(struct profile_recorder *r, struct sample_task *t, int32_t pid, int32_t tid)
{
	struct task_name *n;

	t->tid = tid;
	t->pid = pid;
	t->vcpu = SAMPLE_NO_VCPU;
	if (tid <= 0)
		return;
	n = task_names_get(&r->tasks, tid);
	if (!n || (n->pid != pid && pid > 0)) {
		n = name(r, tid, pid);
		process_comm_get(pid, tid, n->comm);
	}
	memcpy(t->comm, n->comm, sizeof(t->comm));
	t->pid = n->pid;
}

/* A caller's address is that of its next instruction, which may be another function's. */
static void see_kernel(struct profile_recorder *r, const struct perf_record *x)
{
	bool is_full = false;
	uint32_t i;

	for (i = 0; i < x->n_kernel; i++)
		is_full |= kernel_names_push(r->names, x->chain[i] - (i > 0));
	if (is_full)
		kernel_names_put(r->names, &r->meta);
}

/*
 * A counter's interrupt comes some instructions late. The program may have entered the kernel by then,
 * which nobody asked for and not everybody may see.
 */
static void drop_kernel(struct perf_record *x)
{
	memmove(x->chain, x->chain + x->n_kernel, x->n_user * sizeof(*x->chain));
	x->n_kernel = 0;
	x->mode = SAMPLE_USER;
}

static void take_sample(struct profile_recorder *r, uint32_t ring, struct perf_record *x)
{
	struct sample_event ev = { .tick = x->time, .kind = SAMPLE_TAKEN };

	if (x->mode == SAMPLE_KERNEL && !perf_events_has_kernel(r->o.events))
		drop_kernel(x);
	ev.mode = x->mode;
	need(r, x->pid, x->time);
	set_task(r, &ev.task, x->pid, x->tid);
	if (x->mode == SAMPLE_KERNEL && !x->tid && kernel_names_is_idle(r->names, x->ip))
		ev.mode = SAMPLE_IDLE;
	if (x->mode == SAMPLE_GUEST_KERNEL || x->mode == SAMPLE_GUEST_USER) {
		ev.guest = SAMPLE_GUEST_PC;
		ev.guest_pc = x->ip;
	}
	ev.weight = perf_events_get_weight(r->o.events, ring, x);
	ev.n_kernel = x->n_kernel;
	ev.n_user = x->n_user;
	ev.chain = x->chain;
	see_kernel(r, x);
	r->samples++;
	r->weights += ev.weight;
	sample_lane_put(&r->lanes[ring], &ev, r->now_ms);
}

/* Of a CPU as a whole, who leaves says who comes. Of a process, nobody is whoever else there is. */
static void take_switch(struct profile_recorder *r, uint32_t ring, const struct perf_record *x)
{
	struct sample_event ev = { .tick = x->time, .kind = SAMPLE_SWITCH };
	bool is_out = x->misc & PERF_MISC_OUT;

	if (x->type == PERF_SWITCH_WIDE && !is_out)
		return;
	set_task(r, is_out ? &ev.task : &ev.next, x->pid, x->tid);
	if (x->type == PERF_SWITCH_WIDE)
		set_task(r, &ev.next, x->other, x->other_tid);
	else
		set_task(r, is_out ? &ev.next : &ev.task, 0, 0);
	ev.value = !is_out || x->misc & PERF_MISC_PREEMPT ? 0 : STATE_ASLEEP;
	sample_lane_put(&r->lanes[ring], &ev, r->now_ms);
}

static void take_fork(struct profile_recorder *r, const struct perf_record *x)
{
	char comm[SCHED_COMM_LEN] = "";
	struct task_name *n;
	bool is_described = false;

	if (x->tid <= 0 || x->pid <= 0)
		return;
	if (x->pid != x->parent) {
		need(r, x->parent, x->time);
		n = task_names_get(&r->tasks, x->parent);
		is_described = n && n->is_described;
	} else if ((n = task_names_get(&r->tasks, x->pid)) && n->threads) {
		n->threads++;
	}
	n = task_names_get(&r->tasks, x->parent_tid);
	if (n)
		memcpy(comm, n->comm, sizeof(comm));
	n = name(r, x->tid, x->pid);
	release(r, n, false);
	memcpy(n->comm, comm, sizeof(comm));
	n->threads = x->pid == x->tid;
	n->is_described = is_described;
	n->is_old = false;
	if (x->pid != x->parent)
		put_life(r, n, x->parent, x->time, SAMPLE_LIFE_START);
}

/* A process is over with the last of its threads, which need not be the first one. */
static void take_exit(struct profile_recorder *r, const struct perf_record *x)
{
	struct task_name *n = task_names_get(&r->tasks, x->pid);

	if (!n || n->pid != x->pid || !n->threads)
		return;
	if (--n->threads)
		return;
	put_life(r, n, 0, x->time, SAMPLE_LIFE_END);
	release(r, n, false);
}

static void take_comm(struct profile_recorder *r, const struct perf_record *x)
{
	struct task_name *n;

	if (x->tid <= 0)
		return;
	n = name(r, x->tid, x->pid);
	memcpy(n->comm, x->comm, sizeof(n->comm));
	if (!(x->misc & PERF_MISC_EXEC))
		return;
	n->threads = 1;
	n->is_described = true;
	n->is_old = false;
	release(r, n, false);
	n->held = held_rows_take(&r->held);
	put_life(r, n, 0, x->time, SAMPLE_LIFE_EXEC);
}

static void take_map(struct profile_recorder *r, struct perf_record *x)
{
	struct task_name *n = task_names_get(&r->tasks, x->pid);

	x->map.tick = x->time;
	if (x->map.pid <= 0)
		return;
	if (!x->map.build_id_len)
		object_ids_get(&r->ids, &x->map, x->device, x->inode);
	if (n && n->held && held_rows_push(&r->held, n->held, &x->map)) {
		if (r->o.told)
			told_objects_push(r->o.told, &x->map);
		return;
	}
	if (n)
		release(r, n, true);
	profile_meta_put_mapping(&r->meta, &x->map);
}

static void take_loss(struct profile_recorder *r, uint32_t ring, uint64_t count)
{
	perf_events_forget(r->o.events, ring);
	sample_lane_lose(&r->lanes[ring], LOSS_RING, count);
	r->has_unknown |= count == LOSS_UNKNOWN;
}

static void take_record(struct profile_recorder *r, uint32_t ring, struct perf_record *x)
{
	switch (x->type) {
	case PERF_SAMPLE:
		take_sample(r, ring, x);
		break;
	case PERF_SWITCH:
	case PERF_SWITCH_WIDE:
		take_switch(r, ring, x);
		break;
	case PERF_FORK:
		take_fork(r, x);
		break;
	case PERF_EXIT:
		take_exit(r, x);
		break;
	case PERF_COMM:
		take_comm(r, x);
		break;
	case PERF_MMAP2:
		take_map(r, x);
		break;
	case PERF_LOST:
	case PERF_LOST_SAMPLES:
		take_loss(r, ring, x->count);
		break;
	case PERF_THROTTLE:
		r->throttled++;
		take_loss(r, ring, LOSS_UNKNOWN);
		break;
	default:
		break;
	}
}

static void drain(struct profile_recorder *r, uint64_t until)
{
	struct perf_piece piece;
	int got;

	perf_rings_begin(r->rings, until);
	while (perf_rings_next(r->rings, &piece)) {
		got = piece.bytes
			      ? perf_record_parse(&r->record, piece.bytes, piece.len, r->has_chains)
			      : -EBADMSG;
		if (got > 0)
			take_record(r, piece.ring, &r->record);
		else if (got < 0)
			take_loss(r, piece.ring, LOSS_UNKNOWN);
	}
	perf_rings_end(r->rings);
}

/* What was sampled before a change is taken with the weights of before. */
static void change_pace(struct profile_recorder *r, uint64_t now)
{
	bool was_paused = r->pace.is_paused;

	if (!pace_turn(&r->pace, now, used_ns(r))) {
		pace_put_due(&r->pace, &r->meta, now);
		return;
	}
	if (r->pace.is_paused) {
		perf_events_pause(r->o.events, true);
		now = clock_mono_ns();
		drain(r, now);
	} else {
		perf_events_set_period(r->o.events, r->pace.budget.period_ns);
		if (was_paused)
			perf_events_pause(r->o.events, false);
		now = was_paused ? clock_mono_ns() : now;
	}
	pace_put(&r->pace, &r->meta, now);
}

void profile_recorder_set_pace(struct profile_recorder *r, const struct message_config *c)
{
	pace_apply(&r->pace, c, PACE_OF_PROFILE, PROFILE_PERIOD_LEAST);
	if (r->pace.budget.ppm && !r->cost_ns)
		r->cost_ns = perf_events_measure_cost(r->o.events);
}

void profile_recorder_turn(struct profile_recorder *r)
{
	uint64_t now = clock_mono_ns();
	uint32_t i;

	r->now_ms = now / CLOCK_NS_PER_MS;
	drain(r, now);
	change_pace(r, now);
	perf_events_change_period(r->o.events, clock_mono_ns());
	for (i = 0; i < r->rings->n; i++)
		sample_lane_flush(&r->lanes[i], r->now_ms);
	if (r->o.is_live)
		kernel_names_put_due(r->names, &r->meta, r->now_ms);
	if (r->now_ms - r->meta_ms >= META_FLUSH_MS) {
		profile_meta_flush(&r->meta);
		r->meta_ms = r->now_ms;
	}
	if (profile_meta_take_back(&r->meta)) {
		task_names_forget_said(&r->tasks);
		pace_repeat(&r->pace, &r->meta);
		kernel_names_forget_told(r->names);
	}
}

int profile_recorder_wait_ms(const struct profile_recorder *r, int ms)
{
	return pace_wait_ms(&r->pace, clock_mono_ns(), ms);
}

void profile_recorder_stop(struct profile_recorder *r, bool is_complete)
{
	uint64_t tick;
	uint32_t i;

	perf_events_stop(r->o.events);
	tick = clock_mono_ns();
	pace_put_end(&r->pace, &r->meta, tick, is_complete);
	drain(r, UINT64_MAX);
	for (i = 0; i < r->rings->n; i++)
		sample_lane_stop(&r->lanes[i], tick);
	kernel_names_put(r->names, &r->meta);
	describe(r);
}

void profile_recorder_get_counts(const struct profile_recorder *r, struct profile_counts *ret)
{
	uint32_t i, cause;

	*ret = (struct profile_counts){ .samples = r->samples,
					.bytes = r->o.out->bytes,
					.throttled = r->throttled,
					.undescribed = r->meta.missed,
					.has_unknown = r->has_unknown };
	for (i = 0; i < r->rings->n; i++)
		for (cause = 0; cause < LOSS_CAUSES; cause++)
			ret->lost += r->lanes[i].lost[cause];
}
