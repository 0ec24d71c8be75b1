/* SPDX-License-Identifier: MIT */
/* vm_recorder: see vm_recorder.h. */
#include "device/vm/vm_recorder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/agent/run_meta.h"
#include "device/profile/kernel_names.h"
#include "device/profile/pace.h"
#include "device/profile/process_maps.h"
#include "device/profile/profile_meta.h"
#include "device/profile/task_names.h"
#include "device/profile/told_objects.h"
#include "device/vm/vm_guests.h"
#include "device/vm/vm_reader.h"
#include "wire/sample_lane.h"

#define ORIGIN "vm"
#define KALLSYMS "/proc/kallsyms"
#define MODULES "/proc/modules"
#define META_FLUSH_MS 1000U
#define BUFFER (1U << 20)
#define CPUS_MOST 8192

struct vm_recorder {
	struct vm_recorder_options o;
	struct sample_lane *lanes; /* of each CPU */
	uint64_t *told,
		*lost;	   /* of each: losses that its lane knows, and those that the source does */
	uint64_t *used_ns; /* of each, as its last chunk said */
	uint32_t n_lanes;
	uint8_t *buffer;
	struct vm_reader reader;
	struct vm_reader_exit *lefts; /* of each CPU, the reader's */
	struct profile_meta meta;
	struct run_meta run; /* for what every run says */
	struct task_names tasks;
	struct object_ids ids;
	struct kernel_names *names;
	uint64_t start_tick, now_ms, meta_ms;
	struct vm_counts counts;
	struct pace pace;
	struct vm_settings settings; /* with the period of now */
	uint16_t exits, said_exits;  /* enum sample_exits; none until the first chunk came */
};

int vm_recorder_new(struct vm_recorder **ret, const struct vm_recorder_options *o, struct error *e)
{
	CLEANUP(vm_recorder) struct vm_recorder *r = calloc(1, sizeof(*r));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t i;
	int failed;

	if (cpus < 1 || cpus > CPUS_MOST)
		return error_set(e, EINVAL, "cannot record: this machine has %ld CPUs", cpus);
	if (r) {
		r->o = *o;
		r->n_lanes = (uint32_t)cpus;
		r->lanes = calloc(r->n_lanes, sizeof(*r->lanes));
		r->told = calloc(r->n_lanes, sizeof(*r->told));
		r->lost = calloc(r->n_lanes, sizeof(*r->lost));
		r->used_ns = calloc(r->n_lanes, sizeof(*r->used_ns));
		r->lefts = calloc(r->n_lanes, sizeof(*r->lefts));
		r->buffer = malloc(BUFFER);
	}
	if (!r || !r->lanes || !r->told || !r->lost || !r->used_ns || !r->lefts || !r->buffer)
		return error_set(e, ENOMEM, "cannot record: out of memory");
	vm_reader_init(&r->reader, r->lefts, r->n_lanes);
	for (i = 0; i < r->n_lanes; i++)
		sample_lane_init(&r->lanes[i], o->out, i);
	profile_meta_init(&r->meta, o->out);
	r->meta.told = o->told;
	r->meta.tell = told_objects_push;
	r->settings = *o->settings;
	pace_init(&r->pace, &o->pace, o->settings->period_ns);
	r->pace.is_cycles = o->settings->cycles;
	r->pace.cycles = o->settings->cycles;
	r->run.device = o->name;
	failed = kernel_names_new(&r->names, KALLSYMS, e);
	if (failed < 0)
		return failed;
	kernel_names_keep_told(r->names, MODULES);
	*ret = take_ptr(r);
	return 0;
}

void vm_recorder_free(struct vm_recorder *r)
{
	if (!r)
		return;
	kernel_names_free(r->names);
	free(r->buffer);
	free(r->lost);
	free(r->used_ns);
	free(r->lefts);
	free(r->told);
	free(r->lanes);
	free(r);
}

/* --- the description --- */

static void describe(struct vm_recorder *r)
{
	const struct vm_settings *s = r->o.settings;
	struct sample_sampling sampling = {
		.period = s->cycles ? s->cycles : s->period_ns,
		.jitter = s->jitter,
		.collector = r->o.source->ops->collector,
		.method = s->cycles ? SAMPLE_CYCLES : r->o.source->ops->method,
		.exits = s->exits ? (uint8_t)r->exits : SAMPLE_EXITS_NONE,
		.has = SAMPLE_HAS_GUESTS | SAMPLE_HAS_CHAINS | SAMPLE_HAS_WHOLE
	};
	uint8_t *p = profile_meta_begin(&r->meta);

	r->said_exits = r->exits;
	sampling.has |= s->switches ? SAMPLE_HAS_SWITCHES : 0;
	sampling.has |= s->exits ? SAMPLE_HAS_EXITS : 0;
	p = run_meta_put_machine(&r->run, p, ORIGIN, r->n_lanes);
	p = run_meta_put_clock(p, 0);
	p = run_meta_put_agent(p);
	profile_meta_end(&r->meta, sample_meta_put_sampling(p, &sampling));
}

static struct task_name *meet(struct vm_recorder *r, int32_t pid, uint64_t tick)
{
	struct process_stat s = { .parent = 0 };
	struct task_name *n = task_names_put(&r->tasks, pid, pid);
	struct sample_life_row row = { .pid = pid, .tick = tick, .what = SAMPLE_LIFE_START };

	if (process_stat_get(pid, &s))
		memcpy(n->comm, s.comm, sizeof(n->comm));
	n->is_old = tick == r->start_tick;
	row.parent = s.parent;
	row.comm = n->comm;
	row.comm_len = (uint32_t)strnlen(n->comm, SCHED_COMM_LEN);
	profile_meta_put_life(&r->meta, &row);
	return n;
}

/* Its mappings are needed. If it is gone by now they are not to be had. */
static void need(struct vm_recorder *r, int32_t pid, uint64_t tick)
{
	struct task_name *n;

	if (pid <= 0)
		return;
	n = task_names_get(&r->tasks, pid);
	if (!n)
		n = meet(r, pid, tick);
	if (n->is_described)
		return;
	n->is_described = true;
	process_maps_put(&r->meta, &r->ids, pid, n->is_old ? r->start_tick : tick);
}

static void meet_all(struct vm_recorder *r)
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

int vm_recorder_start(struct vm_recorder *r, struct error *e)
{
	int failed = 0;

	r->start_tick = clock_mono_ns();
	r->now_ms = r->meta_ms = r->start_tick / CLOCK_NS_PER_MS;
	describe(r);
	pace_start(&r->pace, r->start_tick, pace_used_ns());
	if (!r->pace.is_paused)
		failed = r->o.source->ops->start(r->o.source, &r->settings, e);
	if (failed < 0)
		return failed;
	pace_put(&r->pace, &r->meta, clock_mono_ns());
	meet_all(r);
	profile_meta_flush(&r->meta);
	return 0;
}

/* --- records --- */

/* A caller's address is that of its next instruction, which may be another function's. */
static void see_sample(struct vm_recorder *r, const struct sample_event *ev)
{
	bool is_full = false;
	uint32_t i;

	r->counts.samples++;
	r->counts.guests += ev->guest != 0;
	if (r->o.guests)
		vm_guests_see(r->o.guests, ev);
	if (ev->n_user)
		need(r, ev->task.pid, ev->tick);
	for (i = 0; i < ev->n_kernel; i++)
		is_full |= kernel_names_push(r->names, ev->chain[i] - (i > 0));
	if (is_full)
		kernel_names_put(r->names, &r->meta);
}

static void lose(struct vm_recorder *r, uint32_t cpu, uint64_t count)
{
	sample_lane_lose(&r->lanes[cpu], LOSS_RING, count);
	r->told[cpu] += count;
	r->counts.lost += count;
}

static void see_used(struct vm_recorder *r, uint32_t cpu, uint64_t used_ns)
{
	if (used_ns <= r->used_ns[cpu])
		return;
	r->counts.used_ns += used_ns - r->used_ns[cpu];
	r->used_ns[cpu] = used_ns;
}

/* By this process, and inside the kernel for it. */
static uint64_t all_used_ns(const struct vm_recorder *r)
{
	return pace_used_ns() + r->counts.used_ns;
}

static int take_chunks(struct vm_recorder *r, size_t len, struct error *e)
{
	enum wire_status status;
	struct vm_reader *reader = &r->reader;
	struct sample_event ev;
	uint32_t lost;

	vm_reader_feed(reader, r->buffer, len);
	while ((status = vm_reader_next(reader, &ev, &lost)) == WIRE_OK) {
		r->exits = reader->exits;
		if (lost)
			lose(r, reader->cpu, lost);
		if (ev.kind == SAMPLE_TAKEN)
			see_sample(r, &ev);
		else
			r->counts.events++;
		sample_lane_put(&r->lanes[reader->cpu], &ev, r->now_ms);
		r->lost[reader->cpu] = reader->lost;
		see_used(r, reader->cpu, reader->used_ns);
	}
	return status == WIRE_MORE ? 0
				   : error_set(e, EPROTO,
					       "cannot read virtual machines: its records "
					       "are of another version");
}

/* 1: there may be more; 0: that was all. */
static int read_some(struct vm_recorder *r, struct error *e)
{
	ssize_t n = r->o.source->ops->read(r->o.source, r->buffer, BUFFER);
	int failed;

	if (n == -EAGAIN || n == -EINTR)
		return 0;
	if (n < 0)
		return error_set(e, (int)-n, "cannot read virtual machines: %s", strerror((int)-n));
	failed = take_chunks(r, (size_t)n, e);
	return failed < 0 ? failed : n > 0;
}

/* Lets the source stop, which takes its time, and takes what it still has. */
static int stop_source(struct vm_recorder *r, uint64_t *ret_tick, struct error *e)
{
	int failed = r->o.source->ops->stop(r->o.source, e), more = 1;
	uint32_t i;

	*ret_tick = clock_mono_ns();
	while (failed == 0 && more > 0)
		more = read_some(r, e);
	for (i = 0; i < r->n_lanes; i++) {
		/* What is missing behind the last record. */
		if (r->lost[i] > r->told[i])
			lose(r, i, r->lost[i] - r->told[i]);
		if (r->o.source->ops->is_counted_anew)
			r->lost[i] = r->told[i] = r->used_ns[i] = 0;
	}
	return failed < 0 ? failed : more;
}

static int start_source(struct vm_recorder *r, uint64_t *ret_tick, struct error *e)
{
	int failed = r->o.source->ops->start(r->o.source, &r->settings, e);

	*ret_tick = clock_mono_ns();
	return failed;
}

/* Whose period stays as it is while it records stops for a moment, and says so. */
static int restart_source(struct vm_recorder *r, uint64_t *ret_tick, struct error *e)
{
	int failed = stop_source(r, ret_tick, e);

	r->pace.is_paused = true;
	pace_put(&r->pace, &r->meta, *ret_tick);
	r->pace.is_paused = false;
	return failed < 0 ? failed : start_source(r, ret_tick, e);
}

static int change_pace(struct vm_recorder *r, struct error *e)
{
	uint64_t now = clock_mono_ns();
	bool was_paused = r->pace.is_paused;
	int failed = 0;

	if (!pace_turn(&r->pace, now, all_used_ns(r))) {
		pace_put_due(&r->pace, &r->meta, now);
		return 0;
	}
	r->settings.period_ns = (uint32_t)r->pace.budget.period_ns;
	if (r->pace.is_paused)
		failed = was_paused ? 0 : stop_source(r, &now, e);
	else if (was_paused)
		failed = start_source(r, &now, e);
	else if (!r->o.source->ops->set_period)
		failed = restart_source(r, &now, e);
	if (!r->pace.is_paused && r->o.source->ops->set_period)
		r->o.source->ops->set_period(r->o.source, r->settings.period_ns);
	pace_put(&r->pace, &r->meta, now);
	return failed;
}

int vm_recorder_set_pace(struct vm_recorder *r, const struct message_config *c, struct error *e)
{
	if (r->settings.cycles && c->given & (1U << CONFIG_PACE_FIELD(PACE_OF_VM, PACE_RATE) |
					      1U << CONFIG_PACE_FIELD(PACE_OF_VM, PACE_BUDGET)))
		return error_set(e, EOPNOTSUPP,
				 "cannot change the period: this recorder samples by cycles");
	pace_apply(&r->pace, c, PACE_OF_VM, VM_PERIOD_LEAST_NS);
	return 0;
}

bool vm_recorder_is_paused(const struct vm_recorder *r)
{
	return r->pace.is_paused;
}

int vm_recorder_wait_ms(const struct vm_recorder *r, int ms)
{
	return pace_wait_ms(&r->pace, clock_mono_ns(), ms);
}

int vm_recorder_turn(struct vm_recorder *r, struct error *e)
{
	uint32_t i;
	int more;

	r->now_ms = clock_mono_ns() / CLOCK_NS_PER_MS;
	more = r->pace.is_paused ? 0 : read_some(r, e);
	if (more >= 0)
		more = change_pace(r, e);
	if (more < 0)
		return more;
	for (i = 0; i < r->n_lanes; i++)
		sample_lane_flush(&r->lanes[i], r->now_ms);
	if (r->exits != r->said_exits)
		describe(r);
	if (r->o.is_live)
		kernel_names_put_due(r->names, &r->meta, r->now_ms);
	if (r->o.guests)
		vm_guests_turn(r->o.guests, &r->meta);
	if (r->now_ms - r->meta_ms >= META_FLUSH_MS) {
		profile_meta_flush(&r->meta);
		r->meta_ms = r->now_ms;
	}
	if (profile_meta_take_back(&r->meta)) {
		task_names_forget_said(&r->tasks);
		pace_repeat(&r->pace, &r->meta);
		kernel_names_forget_told(r->names);
	}
	return 0;
}

int vm_recorder_stop(struct vm_recorder *r, bool is_complete, struct error *e)
{
	uint64_t tick = clock_mono_ns();
	int failed = r->pace.is_paused ? 0 : stop_source(r, &tick, e);
	uint32_t i;

	pace_put_end(&r->pace, &r->meta, tick, is_complete);
	for (i = 0; i < r->n_lanes; i++)
		sample_lane_stop(&r->lanes[i], tick);
	kernel_names_put(r->names, &r->meta);
	if (r->o.guests)
		vm_guests_finish(r->o.guests, &r->meta);
	describe(r);
	profile_meta_flush(&r->meta);
	return failed;
}

void vm_recorder_get_counts(const struct vm_recorder *r, struct vm_counts *ret)
{
	*ret = r->counts;
	ret->undescribed = r->meta.missed;
}
