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
 * The reader takes ftrace stamps for CLOCK_BOOTTIME unless told a clock that it knows. For those we
 * name the clock and say that its zero is boot time's: the timeline then shows the trace's own
 * stamps. Of other clocks (mono, perf, …) the reader would refuse the name, so none is given.
 */
#include <assert.h>
#include <errno.h>

#include "base/outfile.h"
#include "convert/proto.h"
#include "convert/sink.h"

#define BUNDLE_ROOM 32768U
#define EVENT_ROOM (SCHED_FILENAME_MAX + 256U)
#define TASK_ROOM 256U
#define STATS_ROOM 128U
#define CPUS_MAX 1024U /* the reader refuses others */
#define SEQUENCE_ID 1U

enum { /* Trace, TracePacket */
       TRACE_PACKET = 1,
       PACKET_FTRACE_EVENTS = 1,
       PACKET_PROCESS_TREE = 2,
       PACKET_CLOCK_SNAPSHOT = 6,
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

struct sink_perfetto {
	struct trace_sink base;
	struct outfile *out;
	const struct trace_info *info;
	struct trace_info learned; /* only its tasks are used */
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
	info_done(&s->learned);
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

/* As many packets as it takes. `other` is a second opinion on the processes, or NULL. */
static void write_process_tree(struct sink_perfetto *s, const struct trace_info *tasks,
			       const struct trace_info *other)
{
	const struct trace_task *t, *known;
	size_t i = 0, packet, tree;
	struct proto p;

	while (i < tasks->n_tasks) {
		p = scratch(s);
		packet = begin_packet(&p);
		tree = proto_begin(&p, PACKET_PROCESS_TREE, 4);
		for (; i < tasks->n_tasks && p.room - p.len > TASK_ROOM; i++) {
			t = &tasks->tasks[i];
			known = other ? info_get_task(other, t->pid) : NULL;
			if (t->pid > 0) /* the idle tasks are nobody's process */
				put_task(&p, t, known ? known->tgid : t->tgid);
		}
		proto_end(&p, tree, 4);
		write_packet(s, &p, packet);
	}
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

static int learn(struct sink_perfetto *s, const struct sched_task *t, struct error *e)
{
	int r = t->pid > 0 ? info_add_task(&s->learned, t->pid, -1, t->comm) : 0;

	return r >= 0 ? 0 : error_set(e, -r, "cannot write Perfetto trace: too many tasks");
}

/* A rename has the pid beside the old name only. */
static int learn_names(struct sink_perfetto *s, const struct sched_event *ev, struct error *e)
{
	struct sched_task renamed = ev->other;
	int r = 0;

	if (ev->kind == SCHED_RENAME) {
		renamed.pid = ev->task.pid;
		return learn(s, &renamed, e);
	}
	if (ev->kind != SCHED_EXEC)
		r = learn(s, &ev->task, e);
	if (r >= 0 && (ev->kind == SCHED_SWITCH || ev->kind == SCHED_FORK))
		r = learn(s, &ev->other, e);
	return r;
}

static int take_event(struct sink_perfetto *s, const struct trace_item *item, struct error *e)
{
	const struct sched_event *ev = &item->event;
	struct bundle *b = NULL;
	int r = get_bundle(s, item->cpu, &b, e);

	if (r >= 0 && ev->kind >= SCHED_KINDS)
		r = error_set(e, EINVAL, "cannot write Perfetto trace: unknown kind of event %u",
			      ev->kind);
	if (r >= 0)
		r = learn_names(s, ev, e);
	if (r < 0)
		return r;
	if (b->p.len > BUNDLE_ROOM - EVENT_ROOM)
		end_bundle(s, b);
	if (!b->p.len)
		r = begin_bundle(s, b, item->cpu, e);
	if (r < 0)
		return r;
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
	write_process_tree(s, s->info, NULL);
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
		write_process_tree(s, s->info, NULL);
	write_process_tree(s, &s->learned, s->info);
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

	if (!s || info_init(&s->learned) < 0) {
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
