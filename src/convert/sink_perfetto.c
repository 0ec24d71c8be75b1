/* SPDX-License-Identifier: MIT */
/*
 * sink_perfetto: a trace in Perfetto's protobuf format, for ui.perfetto.dev and trace_processor.
 *
 * Events go into one ftrace bundle per CPU, which becomes a packet when its buffer is full, so
 * memory is one buffer per CPU. Each event has its stamp and pid first, because the reader is
 * fastest so; the common flags come last for the same reason. The numbers of the fields are in
 * docs/format/perfetto.md and in tests/data/perfetto_subset.proto.
 *
 * Around them: the kernel's release (without it the reader decodes task states as those of 4.4), a
 * clock snapshot, the tasks that the trace knows (at the start) and those it learned from events (at
 * the end) as a process tree, and the lost events: a flag in the bundle after the loss, exact sums
 * per CPU in the statistics at the end. A thread whose process is not known is shown as a process of
 * its own.
 *
 * The reader takes a pid for one task until it is told otherwise, so where a pid is used again (the
 * rule is that of trace/tasks.h) an event says so that the kernel has, but that was not recorded: a
 * fork is followed by task_newtask; where the fork is missing, sched_process_free of the task before
 * precedes the first event of the next one. What the task before was called is written then, as a
 * process tree of the moment when it was last heard.
 *
 * The reader takes ftrace stamps for CLOCK_BOOTTIME unless told a clock that it knows. For those we
 * name the clock and say that its zero is boot time's: the timeline then shows the trace's own
 * stamps. Of other clocks (mono, perf, …) the reader would refuse the name, so none is given.
 */
#include <assert.h>
#include <errno.h>

#include "base/outfile.h"
#include "convert/proto.h"
#include "convert/sink.h"
#include "trace/pidmap.h"
#include "trace/state.h"

#define BUNDLE_ROOM 32768U
#define EVENT_ROOM (SCHED_FILENAME_MAX + 256U)
#define TASK_ROOM 256U
#define STATS_ROOM 128U
#define CPUS_MAX 1024U /* the reader refuses others */
#define SEQUENCE_ID 1U
#define CLONE_THREAD_FLAG 0x10000U /* of clone() */

enum { /* Trace, TracePacket */
       TRACE_PACKET = 1,
       PACKET_FTRACE_EVENTS = 1,
       PACKET_PROCESS_TREE = 2,
       PACKET_CLOCK_SNAPSHOT = 6,
       PACKET_TIMESTAMP = 8,
       PACKET_SEQUENCE_ID = 10,
       PACKET_FTRACE_STATS = 34,
       PACKET_SYSTEM_INFO = 45,
};

enum { /* FtraceEventBundle, FtraceEvent */
       BUNDLE_CPU = 1,
       BUNDLE_EVENT = 2,
       BUNDLE_LOST_EVENTS = 3,
       BUNDLE_FTRACE_CLOCK = 5,
       BUNDLE_FTRACE_TIMESTAMP = 6,
       BUNDLE_BOOT_TIMESTAMP = 7,
       EVENT_TIMESTAMP = 1,
       EVENT_PID = 2,
       EVENT_COMMON_FLAGS = 5,
       EVENT_TASK_NEWTASK = 235,
       EVENT_SCHED_PROCESS_FREE = 240,
};

enum { CLOCK_ID_REALTIME = 1, CLOCK_ID_MONOTONIC = 3, CLOCK_ID_BOOTTIME = 6 };

static const uint16_t kind_field[SCHED_KINDS] = {
	[SCHED_SWITCH] = 4,	  [SCHED_WAKING] = 20,	[SCHED_WAKEUP] = 17,
	[SCHED_WAKEUP_NEW] = 114, [SCHED_FORK] = 239,	[SCHED_EXEC] = 237,
	[SCHED_EXIT] = 238,	  [SCHED_RENAME] = 236, [SCHED_SETPRIO] = 353,
};

struct bundle {
	struct proto p;
	size_t packet, body; /* marks */
	bool lost;	     /* before the next event */
	uint64_t events;
	uint64_t ring;	  /* events lost in the kernel's ring */
	uint64_t dropped; /* and elsewhere */
};

/* The task that has a pid now. */
struct perfetto_task {
	int32_t pid;
	bool is_named;
	bool is_dead;  /* it has left its CPU for good */
	bool is_later; /* another had the pid before */
	uint64_t last_ns;
	char comm[SCHED_COMM_LEN];
};

struct sink_perfetto {
	struct trace_sink base;
	struct outfile *out;
	const struct trace_info *info;
	struct pidmap *learned; /* struct perfetto_task */
	struct bundle *bundles;
	uint32_t n_bundles;
	bool started;
	uint64_t start_ns;
	size_t n_tasks; /* of info, when the trace started */
	uint8_t scratch[BUNDLE_ROOM];
};

static struct sink_perfetto *self(struct trace_sink *s)
{
	return (struct sink_perfetto *)s;
}

static void sink_perfetto_free(struct trace_sink *base)
{
	struct sink_perfetto *s = self(base);
	uint32_t i;

	for (i = 0; i < s->n_bundles; i++)
		free(s->bundles[i].p.data);
	free(s->bundles);
	pidmap_free(s->learned);
	outfile_free(s->out);
	free(s);
}

static size_t begin_packet(struct proto *p)
{
	p->len = 0;
	return proto_begin(p, TRACE_PACKET, 4);
}

static void write_packet(struct sink_perfetto *s, struct proto *p, size_t mark)
{
	proto_uint(p, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	proto_end(p, mark, 4);
	assert(!p->full);
	outfile_write(s->out, p->data, p->len);
	p->len = 0;
}

static struct proto scratch(struct sink_perfetto *s)
{
	return (struct proto){ .data = s->scratch, .room = sizeof(s->scratch) };
}

static void write_system_info(struct sink_perfetto *s)
{
	struct proto p = scratch(s);
	size_t packet = begin_packet(&p);
	size_t info = proto_begin(&p, PACKET_SYSTEM_INFO, 2);
	size_t uts = proto_begin(&p, 1, 2);

	proto_text(&p, 1, "Linux");
	if (*s->info->kernel)
		proto_text(&p, 3, s->info->kernel);
	if (*s->info->machine)
		proto_text(&p, 4, s->info->machine);
	proto_end(&p, uts, 2);
	proto_uint(&p, 8, s->info->cpus);
	proto_end(&p, info, 2);
	write_packet(s, &p, packet);
}

static void put_clock(struct proto *p, uint32_t id, uint64_t ns)
{
	size_t mark = proto_begin(p, 1, 1);

	proto_uint(p, 1, id);
	proto_uint(p, 2, ns);
	proto_end(p, mark, 1);
}

static void write_clock_snapshot(struct sink_perfetto *s)
{
	const struct trace_clock *c = &s->info->clock;
	struct proto p = scratch(s);
	size_t packet = begin_packet(&p);
	size_t snapshot = proto_begin(&p, PACKET_CLOCK_SNAPSHOT, 1);

	put_clock(&p, CLOCK_ID_BOOTTIME, s->start_ns);
	if (!strcmp(c->name, "mono"))
		put_clock(&p, CLOCK_ID_MONOTONIC, s->start_ns);
	if (c->has_realtime)
		put_clock(&p, CLOCK_ID_REALTIME, s->start_ns + (uint64_t)c->realtime_off_ns);
	proto_end(&p, snapshot, 1);
	write_packet(s, &p, packet);
}

/* FtraceClock of the trace's clock, 0 for those that Perfetto has no number for. */
static uint32_t ftrace_clock(const char *name)
{
	if (!strcmp(name, "global"))
		return 2;
	if (!strcmp(name, "local"))
		return 3;
	return strcmp(name, "mono_raw") ? 0 : 4;
}

static void put_task(struct proto *p, const struct trace_task *t, int32_t tgid)
{
	size_t len = strnlen(t->comm, SCHED_COMM_LEN), mark;

	if (tgid < 0 || tgid == t->pid) {
		mark = proto_begin(p, 1, 1);
		proto_int(p, 1, t->pid);
		proto_bytes(p, 3, t->comm, len);
		proto_uint(p, 9, 1); /* that was a comm, not a command line */
	} else {
		mark = proto_begin(p, 2, 1);
		proto_int(p, 1, t->pid);
		proto_bytes(p, 2, t->comm, len);
		proto_int(p, 3, tgid);
	}
	proto_end(p, mark, 1);
}

/* The process of a task that events name: the table's, if it means this one. */
static int32_t tgid_of(const struct sink_perfetto *s, const struct perfetto_task *t)
{
	const struct trace_task *known = info_get_task(s->info, t->pid);

	if (!known || (t->is_later && memcmp(known->comm, t->comm, SCHED_COMM_LEN) != 0))
		return -1;
	return known->tgid;
}

static struct trace_task entry_of(const struct sink_perfetto *s, const struct perfetto_task *t)
{
	struct trace_task entry = { .pid = t->pid, .tgid = tgid_of(s, t) };

	memcpy(entry.comm, t->comm, SCHED_COMM_LEN);
	return entry;
}

/* The table (NULL), or what was learned: as many packets as it takes. */
static void write_process_tree(struct sink_perfetto *s, const struct pidmap *learned)
{
	size_t n = learned ? pidmap_count(learned) : s->info->n_tasks, i = 0, packet, tree;
	struct trace_task t;
	struct proto p;

	while (i < n) {
		p = scratch(s);
		packet = begin_packet(&p);
		tree = proto_begin(&p, PACKET_PROCESS_TREE, 4);
		for (; i < n && p.room - p.len > TASK_ROOM; i++) {
			t = learned ? entry_of(s, pidmap_at(learned, i)) : s->info->tasks[i];
			if (t.pid > 0) /* the idle tasks are nobody's process */
				put_task(&p, &t, t.tgid);
		}
		proto_end(&p, tree, 4);
		write_packet(s, &p, packet);
	}
}

/* One task as it was when it was last heard. */
static void write_last_of(struct sink_perfetto *s, const struct perfetto_task *t)
{
	struct proto p = scratch(s);
	size_t packet = begin_packet(&p), tree;
	struct trace_task entry = entry_of(s, t);

	proto_uint(&p, PACKET_TIMESTAMP, t->last_ns);
	tree = proto_begin(&p, PACKET_PROCESS_TREE, 4);
	put_task(&p, &entry, entry.tgid);
	proto_end(&p, tree, 4);
	write_packet(s, &p, packet);
}

/* phase 1: start of the trace, all zero; 2: its end. The reader shows the difference. */
static void write_stats(struct sink_perfetto *s, uint32_t phase)
{
	const struct bundle none = { .events = 0 };
	uint32_t cpus = s->info->cpus > s->n_bundles ? s->info->cpus : s->n_bundles;
	uint32_t cpu = 0;

	while (cpu < cpus && cpu < CPUS_MAX) {
		struct proto p = scratch(s);
		size_t packet = begin_packet(&p);
		size_t stats = proto_begin(&p, PACKET_FTRACE_STATS, 4), mark;

		proto_uint(&p, 1, phase);
		for (; cpu < cpus && cpu < CPUS_MAX && p.room - p.len > STATS_ROOM; cpu++) {
			const struct bundle *b =
				phase == 2 && cpu < s->n_bundles ? &s->bundles[cpu] : &none;

			mark = proto_begin(&p, 2, 1);
			proto_uint(&p, 1, cpu);
			proto_uint(&p, 3, b->ring);
			proto_uint(&p, 8, b->dropped);
			proto_uint(&p, 9, b->events);
			proto_end(&p, mark, 1);
		}
		proto_end(&p, stats, 4);
		write_packet(s, &p, packet);
	}
}

static void put_names(struct proto *p, const struct sched_task *t, uint32_t comm, uint32_t pid)
{
	proto_bytes(p, comm, t->comm, strnlen(t->comm, SCHED_COMM_LEN));
	proto_int(p, pid, t->pid);
}

static void put_fields(struct proto *p, const struct sched_event *ev, uint32_t features)
{
	switch (ev->kind) {
	case SCHED_SWITCH:
		put_names(p, &ev->task, 1, 2);
		proto_int(p, 3, ev->task.prio);
		proto_uint(p, 4, ev->state);
		put_names(p, &ev->other, 5, 6);
		proto_int(p, 7, ev->other.prio);
		break;
	case SCHED_FORK:
		put_names(p, &ev->task, 1, 2);
		put_names(p, &ev->other, 3, 4);
		break;
	case SCHED_EXEC:
		proto_bytes(p, 1, ev->filename,
			    ev->filename_len <= SCHED_FILENAME_MAX ? ev->filename_len
								   : SCHED_FILENAME_MAX);
		proto_int(p, 2, ev->task.pid);
		proto_int(p, 3, ev->value);
		break;
	case SCHED_EXIT:
		put_names(p, &ev->task, 1, 2);
		proto_int(p, 4, ev->task.prio);
		break;
	case SCHED_RENAME:
		proto_int(p, 1, ev->task.pid);
		proto_bytes(p, 2, ev->task.comm, strnlen(ev->task.comm, SCHED_COMM_LEN));
		proto_bytes(p, 3, ev->other.comm, strnlen(ev->other.comm, SCHED_COMM_LEN));
		proto_int(p, 4, ev->value);
		break;
	case SCHED_SETPRIO:
		put_names(p, &ev->task, 1, 4);
		proto_int(p, 2, ev->other.prio);
		proto_int(p, 3, ev->task.prio);
		break;
	default: /* the three wakeups */
		put_names(p, &ev->task, 1, 2);
		proto_int(p, 3, ev->task.prio);
		if (features & (DIALECT_SUCCESS | DIALECT_SUCCESS_SILENT))
			proto_int(p, 4, ev->extra);
		proto_int(p, 5, ev->value);
	}
}

/* Only an exec's filename can make an event longer than one length byte can say. */
static void put_event(struct proto *p, const struct sched_event *ev, uint64_t ns, uint32_t features)
{
	unsigned int width = ev->kind == SCHED_EXEC ? 2 : 1;
	size_t event = proto_begin(p, BUNDLE_EVENT, width), fields;

	proto_uint(p, EVENT_TIMESTAMP, ns);
	proto_uint(p, EVENT_PID, (uint32_t)ev->pid);
	fields = proto_begin(p, kind_field[ev->kind], width);
	put_fields(p, ev, features);
	proto_end(p, fields, width);
	if (!(features & DIALECT_NO_FLAGS))
		proto_uint(p, EVENT_COMMON_FLAGS, ev->flags);
	proto_end(p, event, width);
}

static int begin_bundle(struct sink_perfetto *s, struct bundle *b, uint32_t cpu, struct error *e)
{
	uint32_t clock = ftrace_clock(s->info->clock.name);

	if (!b->p.data) {
		b->p.data = malloc(BUNDLE_ROOM);
		if (!b->p.data)
			return error_set(e, ENOMEM, "cannot write Perfetto trace: out of memory");
		b->p.room = BUNDLE_ROOM;
	}
	b->packet = begin_packet(&b->p);
	b->body = proto_begin(&b->p, PACKET_FTRACE_EVENTS, 4);
	proto_uint(&b->p, BUNDLE_CPU, cpu);
	if (b->lost)
		proto_uint(&b->p, BUNDLE_LOST_EVENTS, 1);
	b->lost = false;
	if (clock) {
		proto_uint(&b->p, BUNDLE_FTRACE_CLOCK, clock);
		proto_uint(&b->p, BUNDLE_FTRACE_TIMESTAMP, s->start_ns);
		proto_uint(&b->p, BUNDLE_BOOT_TIMESTAMP, s->start_ns);
	}
	return 0;
}

static void end_bundle(struct sink_perfetto *s, struct bundle *b)
{
	if (!b->p.len)
		return;
	proto_end(&b->p, b->body, 4);
	write_packet(s, &b->p, b->packet);
}

static int get_bundle(struct sink_perfetto *s, uint32_t cpu, struct bundle **ret, struct error *e)
{
	struct bundle *grown;

	if (cpu >= CPUS_MAX)
		return error_set(e, EINVAL,
				 "cannot write Perfetto trace: CPU %u is beyond its limit of %u",
				 cpu, CPUS_MAX);
	if (cpu >= s->n_bundles) {
		grown = realloc(s->bundles, (cpu + 1) * sizeof(*grown));
		if (!grown)
			return error_set(e, ENOMEM, "cannot write Perfetto trace: out of memory");
		memset(grown + s->n_bundles, 0, (cpu + 1 - s->n_bundles) * sizeof(*grown));
		s->bundles = grown;
		s->n_bundles = cpu + 1;
	}
	*ret = &s->bundles[cpu];
	return 0;
}

/* An event beside those of the trace, about a task that begins or one that is gone. */
static void put_task_event(struct bundle *b, const struct sched_event *ev, uint64_t ns,
			   const struct perfetto_task *t, uint64_t clone_flags)
{
	bool is_new = ev->kind == SCHED_FORK;
	struct proto *p = &b->p;
	size_t event = proto_begin(p, BUNDLE_EVENT, 1), fields;
	size_t len = strnlen(t->comm, SCHED_COMM_LEN);

	proto_uint(p, EVENT_TIMESTAMP, ns);
	proto_uint(p, EVENT_PID, (uint32_t)ev->pid);
	fields = proto_begin(p, is_new ? EVENT_TASK_NEWTASK : EVENT_SCHED_PROCESS_FREE, 1);
	if (is_new) {
		proto_int(p, 1, t->pid);
		proto_bytes(p, 2, t->comm, len);
		proto_uint(p, 3, clone_flags);
	} else {
		proto_bytes(p, 1, t->comm, len);
		proto_int(p, 2, t->pid);
	}
	proto_end(p, fields, 1);
	proto_end(p, event, 1);
}

/* An event names a task. The bundle has room for the event and for what is said here. */
static int learn(struct sink_perfetto *s, struct bundle *b, const struct sched_event *ev,
		 const struct sched_task *named)
{
	uint64_t ns = clock_event_ns(&s->info->clock, ev);
	bool forked = ev->kind == SCHED_FORK && named == &ev->other;
	struct perfetto_task *t = named->pid > 0 ? pidmap_add(s->learned, named->pid) : NULL;
	bool other;
	int32_t tgid;

	if (!t)
		return named->pid > 0 ? pidmap_why(s->learned) : 0;
	if (!named->comm[0] && !forked) /* as bsf leaves it */
		return 0;
	other = memcmp(t->comm, named->comm, SCHED_COMM_LEN) != 0;
	if (t->is_named && (forked || (t->is_dead && other))) {
		write_last_of(s, t);
		if (!forked)
			put_task_event(b, ev, ns, t, 0);
		t->is_dead = false;
		t->is_later = true;
	}
	memcpy(t->comm, named->comm, SCHED_COMM_LEN);
	if (t->is_later && forked) {
		tgid = tgid_of(s, t);
		put_task_event(b, ev, ns, t, tgid > 0 && tgid != t->pid ? CLONE_THREAD_FLAG : 0);
	}
	t->is_named = true;
	t->last_ns = ns;
	return 0;
}

/* A rename has the pid beside the old name only. */
static int learn_names(struct sink_perfetto *s, struct bundle *b, const struct sched_event *ev)
{
	struct sched_task renamed = ev->other;
	char text[STATE_TEXT_MAX];
	struct perfetto_task *t;
	int r = 0;

	if (ev->kind != SCHED_EXEC)
		r = learn(s, b, ev, &ev->task);
	if (r >= 0 && ev->kind == SCHED_RENAME) {
		renamed.pid = ev->task.pid;
		r = learn(s, b, ev, &renamed);
	}
	if (r >= 0 && (ev->kind == SCHED_SWITCH || ev->kind == SCHED_FORK))
		r = learn(s, b, ev, &ev->other);
	if (r < 0 || ev->kind != SCHED_SWITCH)
		return r;
	state_format(text, &s->info->dialect, ev->state);
	t = text[0] && strchr("XxZ", text[0]) ? pidmap_get(s->learned, ev->task.pid) : NULL;
	if (t)
		t->is_dead = true;
	return 0;
}

static int take_event(struct sink_perfetto *s, const struct trace_item *item, struct error *e)
{
	const struct sched_event *ev = &item->event;
	struct bundle *b = NULL;
	int r = get_bundle(s, item->cpu, &b, e);

	if (r >= 0 && ev->kind >= SCHED_KINDS)
		r = error_set(e, EINVAL, "cannot write Perfetto trace: unknown kind of event %u",
			      ev->kind);
	if (r < 0)
		return r;
	if (b->p.len > BUNDLE_ROOM - EVENT_ROOM - 2 * TASK_ROOM)
		end_bundle(s, b);
	if (!b->p.len)
		r = begin_bundle(s, b, item->cpu, e);
	if (r < 0)
		return r;
	r = learn_names(s, b, ev);
	if (r < 0)
		return error_set(e, -r, "cannot write Perfetto trace: %s",
				 r == -E2BIG ? "too many tasks" : "out of memory");
	put_event(&b->p, ev, clock_event_ns(&s->info->clock, ev), s->info->dialect.features);
	b->events++;
	return outfile_error(s->out);
}

static int take_loss(struct sink_perfetto *s, const struct trace_item *item, struct error *e)
{
	struct bundle *b = NULL;
	int r = get_bundle(s, item->cpu, &b, e);

	if (r < 0)
		return r;
	end_bundle(s, b);
	b->lost = true;
	if (item->loss.count == LOSS_UNKNOWN)
		return 0;
	if (item->loss.cause == LOSS_RING)
		b->ring += item->loss.count;
	else
		b->dropped += item->loss.count;
	return 0;
}

/* Only the first item tells where the trace's time begins. */
static void start(struct sink_perfetto *s, const struct trace_item *item)
{
	const struct trace_clock *c = &s->info->clock;

	s->started = true;
	if (item)
		s->start_ns = item->type == ITEM_EVENT ? clock_event_ns(c, &item->event)
						       : clock_ns(c, item->loss.to_tick);
	write_clock_snapshot(s);
	write_system_info(s);
	write_process_tree(s, NULL);
	s->n_tasks = s->info->n_tasks;
	write_stats(s, 1);
}

static int sink_perfetto_begin(struct trace_sink *base, const struct trace_info *info,
			       struct error *e)
{
	(void)e;
	self(base)->info = info;
	return 0;
}

static int sink_perfetto_item(struct trace_sink *base, const struct trace_item *item,
			      struct error *e)
{
	struct sink_perfetto *s = self(base);
	int r;

	if (!s->started)
		start(s, item);
	r = item->type == ITEM_EVENT ? take_event(s, item, e) : take_loss(s, item, e);
	if (r < 0 && r == outfile_error(s->out))
		return error_set(e, -r, "cannot write Perfetto trace: %s", strerror(-r));
	return r;
}

static int sink_perfetto_end(struct trace_sink *base, struct error *e)
{
	struct sink_perfetto *s = self(base);
	uint32_t cpu;
	int r;

	if (!s->started)
		start(s, NULL);
	for (cpu = 0; cpu < s->n_bundles; cpu++) {
		struct bundle *b = &s->bundles[cpu];

		end_bundle(s, b);
		if (!b->lost)
			continue;
		r = begin_bundle(s, b, cpu, e);
		if (r < 0)
			return r;
		end_bundle(s, b);
	}
	if (s->info->n_tasks != s->n_tasks)
		write_process_tree(s, NULL);
	write_process_tree(s, s->learned);
	write_stats(s, 2);
	return outfile_commit(s->out, e);
}

static const struct trace_sink_ops sink_perfetto_ops = {
	.begin = sink_perfetto_begin,
	.item = sink_perfetto_item,
	.end = sink_perfetto_end,
	.free = sink_perfetto_free,
};

int sink_perfetto_new(struct trace_sink **ret, const char *path, struct error *e)
{
	struct sink_perfetto *s = calloc(1, sizeof(*s));
	int r;

	if (s)
		s->learned = pidmap_new(sizeof(struct perfetto_task));
	if (!s || !s->learned) {
		free(s);
		return error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	}
	s->base.ops = &sink_perfetto_ops;
	r = outfile_open(&s->out, path, e);
	if (r < 0) {
		sink_perfetto_free(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}
