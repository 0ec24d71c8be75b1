/* SPDX-License-Identifier: MIT */
/*
 * sink_chrome: Chrome's trace event JSON, for chrome://tracing, Perfetto's UI and speedscope-like
 * viewers (docs/format/chrome.md).
 *
 * The format knows no scheduler, so the trace is told as slices. A process "CPUs" has one track
 * per CPU with what ran there; every task has a track with its states (running, runnable,
 * sleeping, …), under its process where the trace knows it. A wakeup is an arrow from the waker to
 * the moment the woken task runs. Slices on a track never overlap: a slice begins no earlier than
 * the one before it ended, whatever the stamps say.
 *
 * A slice is written when it ends, so memory is one record per CPU and per task. What the trace
 * does not know is marked in the slice's arguments: "partial" where its begin was not seen,
 * "open" where its end was not, "lost" where a loss cut it, "may_miss" where events were lost while
 * it lasted.
 *
 * A pid that is used again is another task (the rule is that of trace/tasks.h) and has another
 * track. The first task of a pid has the pid as its track's number, each later one a number that no
 * pid has; its name then tells the pid. A track's name lists the names that its task had.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"
#include "convert/chrome_json.h"
#include "convert/fields.h"
#include "convert/sink.h"
#include "trace/pidmap.h"
#include "trace/state.h"
#include "trace/word.h"

#define LATER_TRACKS (1 << 22) /* the kernel's pids end below it */
#define TITLE_MAX 96U	       /* bytes of a track's name: a few names of a task */

enum task_phase {
	PHASE_UNKNOWN = 0,
	PHASE_RUNNING,
	PHASE_RUNNABLE,
	PHASE_BLOCKED,
};

struct chrome_task {
	int32_t pid;
	int32_t track; /* 0: not seen yet */
	int32_t process;
	char comm[SCHED_COMM_LEN];
	char title[TITLE_MAX]; /* the names so far */
	uint32_t title_len;
	bool is_named; /* by an event, not by the table alone */
	bool is_dead;  /* it has left its CPU for good */
	enum task_phase phase;
	uint32_t cpu;	     /* where it runs */
	uint64_t since_ns;   /* when the phase began */
	uint64_t written_ns; /* where its last slice ended */
	uint64_t state;	     /* of PHASE_BLOCKED and PHASE_RUNNABLE: prev_state when it left */
	uint64_t wake_ns;    /* the wakeup that an arrow is owed for */
	int32_t waker;	     /* its track; 0: none owed */
	int32_t waker_process;
};

struct chrome_cpu {
	bool known; /* is `pid` running since since_ns? else since_ns is where knowledge ends */
	int32_t pid;
	int32_t prio;
	uint64_t since_ns;
	uint64_t written_ns;
};

struct sink_chrome {
	struct trace_sink sink;
	const struct trace_info *info;
	struct chrome_json json;
	struct pidmap *tasks;
	struct chrome_cpu *cpus; /* TRACE_CPUS_MAX of them */
	uint32_t cpus_seen;	 /* highest number + 1 */
	bool started;
	uint64_t first_ns, last_ns;
	uint64_t last_loss_ns;
	uint64_t flows;
	int32_t later_tracks;
};

static const char *phase_name(const struct sink_chrome *c, const struct chrome_task *t)
{
	static const struct {
		char letter;
		const char *name;
	} names[] = {
		{ 'S', "Sleeping" }, { 'D', "Uninterruptible sleep" },
		{ 'T', "Stopped" },  { 't', "Stopped by tracer" },
		{ 'P', "Parked" },   { 'I', "Idle" },
	};
	char text[STATE_TEXT_MAX];
	size_t i;

	if (t->phase == PHASE_RUNNING)
		return "Running";
	state_format(text, &c->info->dialect, t->state);
	if (t->phase == PHASE_RUNNABLE)
		return strchr(text, '+') ? "Runnable (preempted)" : "Runnable";
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (text[0] == names[i].letter)
			return names[i].name;
	return "Blocked";
}

/* Ends the task's present phase. The arrow goes out with the running slice it points to, behind
 * it, because viewers bind an arrow to a slice that they have already seen. */
static void close_phase(struct sink_chrome *c, struct chrome_task *t, uint64_t now,
			const char *mark)
{
	struct chrome_slice s = { .process = t->process,
				  .thread = t->track,
				  .from_ns = t->since_ns,
				  .to_ns = now,
				  .mark = mark };
	bool written;

	if (t->phase == PHASE_UNKNOWN)
		return;
	s.name = phase_name(c, t);
	s.name_len = (uint32_t)strlen(s.name);
	s.may_miss = c->last_loss_ns > t->since_ns;
	s.args = t->phase == PHASE_RUNNING ? CHROME_ARG_CPU : CHROME_ARG_STATE;
	s.cpu = t->cpu;
	s.state = t->state;
	s.dialect = &c->info->dialect;
	written = chrome_json_slice(&c->json, &s, &t->written_ns);
	if (written && t->phase == PHASE_RUNNING && t->waker) {
		struct chrome_flow f = { .id = ++c->flows,
					 .from = { t->waker_process, t->waker, t->wake_ns },
					 .to = { t->process, t->track, t->since_ns } };

		chrome_json_flow(&c->json, &f);
	}
	if (t->phase == PHASE_RUNNING)
		t->waker = 0;
	t->phase = PHASE_UNKNOWN;
}

static void open_phase(struct chrome_task *t, enum task_phase phase, uint64_t now)
{
	t->phase = phase;
	t->since_ns = now;
}

/* Adds a name to those that the task had, as long as there is room for it. */
static void add_title(struct chrome_task *t)
{
	static const char arrow[] = " \u2192 ";
	uint32_t len = comm_length(t->comm), sep = t->title_len ? sizeof(arrow) - 1 : 0;

	if (t->title_len + sep + len > TITLE_MAX)
		return;
	memcpy(t->title + t->title_len, arrow, sep);
	memcpy(t->title + t->title_len + sep, t->comm, len);
	t->title_len += sep + len;
}

static void set_comm(struct chrome_task *t, const char comm[SCHED_COMM_LEN])
{
	if (t->title_len && !memcmp(t->comm, comm, SCHED_COMM_LEN))
		return;
	memcpy(t->comm, comm, SCHED_COMM_LEN);
	add_title(t);
}

/* The track of the process: that of the leader's life now, or the number of its pid. */
static int32_t process_of(const struct sink_chrome *c, const struct chrome_task *t, int32_t tgid)
{
	const struct chrome_task *leader;

	if (tgid <= 0 || tgid == t->pid)
		return t->track;
	leader = pidmap_get(c->tasks, tgid);
	return leader && leader->track ? leader->track : tgid;
}

static void name_tracks(struct sink_chrome *c, const struct chrome_task *t)
{
	char text[TITLE_MAX + 24];
	size_t len = t->title_len;

	memcpy(text, t->title, len);
	if (t->track != t->pid)
		len += (size_t)snprintf(text + len, sizeof(text) - len, " (pid %" PRId32 ")",
					t->pid);
	chrome_json_thread(&c->json, t->process, t->track, text, (uint32_t)len);
	if (t->process == t->track)
		chrome_json_process(&c->json, t->track, text, (uint32_t)len);
}

/* The pid is another task from now on. */
static void begin_life(struct sink_chrome *c, struct chrome_task *t, uint64_t now)
{
	const int32_t pid = t->pid;

	close_phase(c, t, now, "open");
	name_tracks(c, t);
	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->track = t->process = LATER_TRACKS + c->later_tracks++;
}

/* The record of a task that an event named; NULL only when the table is full or memory is out. */
static struct chrome_task *see_task(struct sink_chrome *c, const struct sched_task *named,
				    uint64_t now, bool forked)
{
	struct chrome_task *t = pidmap_add(c->tasks, named->pid);
	const struct trace_task *known;

	if (!t)
		return NULL;
	if (t->is_named && (forked || (t->is_dead && named->comm[0] &&
				       memcmp(t->comm, named->comm, SCHED_COMM_LEN) != 0)))
		begin_life(c, t, now);
	if (!t->track) {
		known = info_get_task(c->info, named->pid);
		t->track = named->pid;
		t->process = process_of(c, t, known ? known->tgid : -1);
		if (known && !named->comm[0])
			set_comm(t, known->comm);
	}
	if (named->comm[0]) {
		if (!t->is_named)
			t->title_len = 0; /* the table may mean another life */
		set_comm(t, named->comm);
		t->is_named = true;
	}
	return t;
}

/* What ran on the CPU until now. */
static void close_cpu(struct sink_chrome *c, uint32_t cpu, const struct sched_task *task,
		      uint64_t now, const char *mark)
{
	struct chrome_cpu *state = &c->cpus[cpu];
	struct chrome_slice s = { .process = CHROME_CPUS,
				  .thread = (int32_t)cpu,
				  .from_ns = state->since_ns,
				  .to_ns = now,
				  .name = task->comm,
				  .name_len = (uint32_t)strnlen(task->comm, SCHED_COMM_LEN),
				  .args = CHROME_ARG_TASK,
				  .pid = task->pid,
				  .prio = task->prio,
				  .mark = mark };

	if (task->pid)
		chrome_json_slice(&c->json, &s, &state->written_ns);
}

static int on_switch(struct sink_chrome *c, uint32_t cpu, const struct sched_event *e, uint64_t now)
{
	struct chrome_cpu *state = &c->cpus[cpu];
	bool partial = !state->known || state->pid != e->task.pid;
	struct chrome_task *prev = e->task.pid ? see_task(c, &e->task, now, false) : NULL;
	struct chrome_task *next = e->other.pid ? see_task(c, &e->other, now, false) : NULL;
	char text[STATE_TEXT_MAX];

	if ((e->task.pid && !prev) || (e->other.pid && !next))
		return pidmap_why(c->tasks);
	close_cpu(c, cpu, &e->task, now, partial ? "partial" : NULL);
	if (prev) {
		if (prev->phase != PHASE_RUNNING) {
			prev->phase = PHASE_RUNNING;
			prev->cpu = cpu;
			prev->since_ns = state->since_ns;
			prev->waker = 0;
		}
		close_phase(c, prev, now, partial ? "partial" : NULL);
		prev->state = e->state;
		state_format(text, &c->info->dialect, e->state);
		if (text[0] == 'R')
			open_phase(prev, PHASE_RUNNABLE, now);
		else if (text[0] && strchr("XxZ", text[0]))
			prev->is_dead = true;
		else
			open_phase(prev, PHASE_BLOCKED, now);
	}
	if (next) {
		close_phase(c, next, now, NULL);
		next->cpu = cpu;
		open_phase(next, PHASE_RUNNING, now);
	}
	state->known = true;
	state->pid = e->other.pid;
	state->prio = e->other.prio;
	state->since_ns = now;
	return 0;
}

static int on_wakeup(struct sink_chrome *c, const struct sched_event *e, uint64_t now)
{
	struct chrome_task *t = e->task.pid ? see_task(c, &e->task, now, false) : NULL;
	struct sched_task waker = { .pid = e->pid };
	struct chrome_task *by;

	if (!t)
		return e->task.pid ? pidmap_why(c->tasks) : 0;
	if (t->phase == PHASE_RUNNING || t->phase == PHASE_RUNNABLE)
		return 0; /* the second of waking and wakeup, or one that came too late to matter */
	close_phase(c, t, now, NULL);
	t->state = 0;
	open_phase(t, PHASE_RUNNABLE, now);
	t->waker = 0;
	if (e->pid > 0 && e->pid != t->pid) { /* pid 0 is an interrupt while idle: no slice */
		by = see_task(c, &waker, now, false);
		if (!by)
			return pidmap_why(c->tasks);
		/* Around a switch the event may name a task that has left already: no slice either. One
		 * without slices yet is in a running one that is still to come. */
		if (by->phase != PHASE_RUNNING && by->written_ns)
			return 0;
		t->waker = by->track;
		t->waker_process = by->process;
		t->wake_ns = now;
	}
	return 0;
}

/* Fork, exec, exit, rename and setprio are marks on the track of the task that did them. */
static int on_mark(struct sink_chrome *c, const struct trace_item *item, uint64_t now)
{
	const struct sched_event *e = &item->event;
	struct sched_task who = { .pid = e->pid ? e->pid : e->task.pid };
	struct chrome_at at = { .ns = now };
	struct chrome_task *t;

	if (e->kind == SCHED_RENAME)
		who = e->task;
	if (!who.pid)
		return 0;
	t = see_task(c, &who, now, false);
	if (!t)
		return pidmap_why(c->tasks);
	if (e->kind == SCHED_RENAME)
		set_comm(t, e->other.comm);
	if (e->kind == SCHED_FORK && e->other.pid && !see_task(c, &e->other, now, true))
		return pidmap_why(c->tasks);
	at.process = t->process;
	at.thread = t->track;
	chrome_json_mark(&c->json, &at, item, c->info);
	return 0;
}

static void on_loss(struct sink_chrome *c, uint32_t cpu, const struct trace_loss *loss)
{
	struct chrome_cpu *state = &c->cpus[cpu];
	uint64_t to = clock_ns(&c->info->clock, loss->to_tick);
	uint64_t from = loss->from_tick ? clock_ns(&c->info->clock, loss->from_tick) : c->first_ns;
	struct chrome_task *t =
		state->known && state->pid ? pidmap_get(c->tasks, state->pid) : NULL;
	struct sched_task last = { .prio = state->prio };

	if (t) {
		last.pid = t->pid;
		memcpy(last.comm, t->comm, SCHED_COMM_LEN);
		close_cpu(c, cpu, &last, from, "lost");
		if (t->phase == PHASE_RUNNING && t->cpu == cpu)
			close_phase(c, t, from, "lost");
	}
	if (from < state->written_ns)
		from = state->written_ns;
	chrome_json_loss(&c->json, cpu, from, to, loss);
	if (state->written_ns < to)
		state->written_ns = to;
	state->known = false;
	state->since_ns = to;
	if (c->last_loss_ns < to)
		c->last_loss_ns = to;
}

static uint64_t item_ns(const struct sink_chrome *c, const struct trace_item *item)
{
	if (item->type == ITEM_EVENT)
		return clock_event_ns(&c->info->clock, &item->event);
	return clock_ns(&c->info->clock,
			item->loss.from_tick ? item->loss.from_tick : item->loss.to_tick);
}

static void start_cpu(struct sink_chrome *c, uint32_t cpu)
{
	for (; c->cpus_seen <= cpu; c->cpus_seen++) {
		c->cpus[c->cpus_seen].since_ns = c->first_ns;
		c->cpus[c->cpus_seen].written_ns = c->first_ns;
	}
}

static int chrome_item(struct trace_sink *s, const struct trace_item *item, struct error *e)
{
	struct sink_chrome *c = (struct sink_chrome *)s;
	uint64_t now = item_ns(c, item);
	int r = 0;

	if (item->cpu >= TRACE_CPUS_MAX)
		return error_set(e, EINVAL, "cannot write chrome JSON: no CPU %" PRIu32, item->cpu);
	if (!c->started) {
		c->started = true;
		c->first_ns = now;
	}
	if (c->last_ns < now)
		c->last_ns = now;
	start_cpu(c, item->cpu);
	if (item->type == ITEM_LOSS)
		on_loss(c, item->cpu, &item->loss);
	else if (item->event.kind == SCHED_SWITCH)
		r = on_switch(c, item->cpu, &item->event, now);
	else if (item->event.kind <= SCHED_WAKEUP_NEW)
		r = on_wakeup(c, &item->event, now);
	else
		r = on_mark(c, item, now);
	if (r < 0)
		return error_set(e, r, "cannot write chrome JSON: too many tasks");
	return chrome_json_check(&c->json, e);
}

static int chrome_begin(struct trace_sink *s, const struct trace_info *info, struct error *e)
{
	struct sink_chrome *c = (struct sink_chrome *)s;

	c->info = info;
	chrome_json_begin(&c->json, info);
	return chrome_json_check(&c->json, e);
}

static void close_all(struct sink_chrome *c)
{
	struct sched_task last;
	struct chrome_task *t;
	size_t i;

	for (i = 0; i < c->cpus_seen; i++) {
		t = c->cpus[i].known ? pidmap_get(c->tasks, c->cpus[i].pid) : NULL;
		if (!t)
			continue;
		memset(&last, 0, sizeof(last));
		last.prio = c->cpus[i].prio;
		last.pid = t->pid;
		memcpy(last.comm, t->comm, SCHED_COMM_LEN);
		close_cpu(c, (uint32_t)i, &last, c->last_ns, "open");
	}
	for (i = 0; i < pidmap_count(c->tasks); i++)
		close_phase(c, pidmap_at(c->tasks, i), c->last_ns, "open");
}

/* Names come last, because tasks get names until the end, and viewers take them from anywhere. */
static void write_names(struct sink_chrome *c)
{
	struct sched_task leader = { 0 };
	const struct chrome_task *t;
	size_t i;

	chrome_json_process(&c->json, CHROME_CPUS, "CPUs", 4);
	for (i = 0; i < c->cpus_seen; i++)
		chrome_json_cpu(&c->json, (uint32_t)i);
	for (i = 0; i < pidmap_count(c->tasks); i++) {
		t = pidmap_at(c->tasks, i);
		name_tracks(c, t);
		/* A leader without events of its own still names its process: it joins the end of
		 * the list. */
		leader.pid = t->process;
		if (t->process != t->track && t->process < LATER_TRACKS)
			see_task(c, &leader, c->last_ns, false);
	}
}

static int chrome_end(struct trace_sink *s, struct error *e)
{
	struct sink_chrome *c = (struct sink_chrome *)s;

	close_all(c);
	write_names(c);
	return chrome_json_end(&c->json, e);
}

static void chrome_free(struct trace_sink *s)
{
	struct sink_chrome *c = (struct sink_chrome *)s;

	outfile_free(c->json.out);
	pidmap_free(c->tasks);
	free(c->cpus);
	free(c);
}

static const struct trace_sink_ops chrome_ops = {
	.begin = chrome_begin,
	.item = chrome_item,
	.end = chrome_end,
	.free = chrome_free,
};

int sink_chrome_new(struct trace_sink **ret, const char *path, struct error *e)
{
	struct sink_chrome *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	c->sink.ops = &chrome_ops;
	c->cpus = calloc(TRACE_CPUS_MAX, sizeof(*c->cpus));
	c->tasks = pidmap_new(sizeof(struct chrome_task));
	if (!c->cpus || !c->tasks)
		r = error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	else
		r = outfile_open(&c->json.out, path, e);
	if (r < 0) {
		chrome_free(&c->sink);
		return r;
	}
	*ret = &c->sink;
	return 0;
}
