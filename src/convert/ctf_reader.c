/* SPDX-License-Identifier: MIT */
/*
 * ctf_reader: see ctf_reader.h.
 *
 * Each CTF stream (a channel's buffer of one CPU) is pulled by itself and merged here by time, then
 * CPU, then stream. Messages that do not concern us are dropped when they arrive, so the queues
 * hold only scheduler events, packet beginnings and loss reports.
 *
 * LTTng does not record who was running (common_pid) unless its user added the context `tid`; then
 * it is inferred: the last next_tid on that CPU, before the first switch that switch's prev_tid
 * (found by a bounded look ahead when opening, else 0), and for fork, exec and exit the task itself,
 * because the kernel emits those in that task's context. After a loss the inference may be wrong
 * until the next switch; the dialect says DIALECT_NO_CUR.
 *
 * A loss is reported where the packet after it begins. LTTng counts what it discarded while it had
 * no free packet to write to, so the interval is from the end of the packet before to that
 * beginning. Missing packets make the count unknown.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "convert/ctf_env.h"
#include "convert/ctf_graph.h"
#include "convert/ctf_plan.h"
#include "convert/ctf_reader.h"

#define AHEAD_MESSAGES 20000U /* looked at per stream for the first switch and its CPU */
#define AHEAD_QUEUE 1024U     /* and at most so many of them kept */

struct entry {
	const bt_message *message;
	uint64_t tick;
	uint32_t cpu;
};

struct stream {
	struct entry *queue;
	size_t head, n, room;
	uint64_t pulled; /* messages */
	uint64_t last_tick;
	uint32_t cpu;
	bool has_cpu, has_switch, ended;
	bool events_tell; /* each event tells its CPU, the packets do not */
	/* Loss reports since the last packet, told when the next one begins. */
	bool lost;
	uint64_t lost_from, lost_count;
};

struct ctf_reader {
	struct trace_source base;
	char *dir;
	void (*alive)(void);
	struct ctf_graph *graph;
	struct ctf_plans plans;
	struct ctf_env env;
	bool has_env;
	struct stream *streams;
	size_t n_streams;
	uint32_t cpus_told;	/* by the events of the whole trace; 0: nobody looked */
	bool counting;		/* is somebody looking? */
	int32_t *running;	/* per CPU */
	const bt_message *held; /* the last item's strings live in it */
	int failed;
	struct error error;
};

static struct ctf_reader *self(struct trace_source *s)
{
	return (struct ctf_reader *)s;
}

static void close_graph(struct ctf_reader *s)
{
	size_t i, k;

	for (i = 0; i < s->n_streams; i++) {
		for (k = s->streams[i].head; k < s->streams[i].n; k++)
			bt_message_put_ref(s->streams[i].queue[k].message);
		free(s->streams[i].queue);
	}
	bt_message_put_ref(s->held);
	s->held = NULL;
	free(s->streams);
	s->streams = NULL;
	s->n_streams = 0;
	ctf_plans_done(&s->plans);
	ctf_graph_free(s->graph);
	s->graph = NULL;
}

static void ctf_reader_free(struct trace_source *base)
{
	struct ctf_reader *s = self(base);

	close_graph(s);
	info_done(&s->base.info);
	free(s->running);
	free(s->dir);
	free(s);
}

static int push(struct stream *st, const bt_message *m, uint64_t tick)
{
	struct entry *grown;
	size_t room;

	if (st->head == st->n)
		st->head = st->n = 0;
	if (st->n == st->room) {
		room = st->room ? st->room * 2 : 64;
		grown = realloc(st->queue, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		st->queue = grown;
		st->room = room;
	}
	st->queue[st->n].message = m;
	st->queue[st->n].cpu = st->cpu;
	st->queue[st->n++].tick = tick;
	return 0;
}

static uint64_t tick_of(const struct ctf_reader *s, const bt_clock_snapshot *cs)
{
	return ctf_clock_tick(&s->env.clock, bt_clock_snapshot_get_value(cs));
}

static int check_cpu(const struct ctf_reader *s, struct stream *st, int64_t cpu, struct error *e)
{
	if (cpu < 0 || cpu >= TRACE_CPUS_MAX)
		return error_set(e, EBADMSG, "cannot read CTF trace %s: impossible cpu_id %lld",
				 s->dir, (long long)cpu);
	if (s->running && cpu >= s->base.info.cpus)
		return error_set(e, EBADMSG,
				 "cannot read CTF trace %s: a stream turns to the unknown CPU %lld",
				 s->dir, (long long)cpu);
	st->cpu = (uint32_t)cpu;
	st->has_cpu = true;
	return 0;
}

static int set_cpu(struct ctf_reader *s, struct stream *st, const bt_packet *packet,
		   struct error *e)
{
	int64_t cpu = 0;

	st->events_tell =
		!ctf_field_int(bt_packet_borrow_context_field_const(packet), "cpu_id", &cpu);
	return st->events_tell ? 0 : check_cpu(s, st, cpu, e);
}

/* perf writes the CPU into each event. How many there are shows only at the end. */
static int set_event_cpu(struct ctf_reader *s, struct stream *st, const struct ctf_plan *plan,
			 const bt_event *event, struct error *e)
{
	int64_t cpu;
	int r;

	if (!ctf_plan_cpu(plan, event, &cpu))
		return error_set(e, EBADMSG,
				 "cannot read CTF trace %s: neither packets nor events tell their "
				 "CPU (cpu_id, perf_cpu)",
				 s->dir);
	r = check_cpu(s, st, cpu, e);
	if (r >= 0 && s->counting && st->cpu >= s->cpus_told)
		s->cpus_told = st->cpu + 1;
	return r;
}

static int accept_event(struct ctf_reader *s, struct stream *st, const bt_message *m,
			uint64_t *ret_tick, struct error *e)
{
	const bt_event *event = bt_message_event_borrow_event_const(m);
	const struct ctf_plan *plan = NULL;
	struct trace_task task;
	int r;

	r = ctf_plans_get(&s->plans, bt_event_borrow_class_const(event), &plan, e);
	if (r < 0)
		return r;
	*ret_tick = tick_of(s, bt_message_event_borrow_default_clock_snapshot_const(m));
	if (st->events_tell && (plan->use == CTF_EVENT || plan->use == CTF_UNREAD)) {
		r = set_event_cpu(s, st, plan, event, e);
		if (r < 0)
			return r;
	}
	if (plan->use == CTF_LOSS || plan->use == CTF_UNREAD)
		return 1;
	if (plan->use == CTF_EVENT) {
		st->has_switch = st->has_switch || plan->kind == SCHED_SWITCH;
		return 1;
	}
	if (plan->use == CTF_SKIP) {
		s->base.info.skipped++;
		return 0;
	}
	ctf_plan_decode_task(plan, event, &task);
	r = info_add_task(&s->base.info, task.pid, task.tgid, task.comm);
	return r < 0 ? error_set(e, -r, "cannot read CTF trace %s: too many tasks", s->dir) : 0;
}

static const bt_stream_class *packet_class(const bt_packet *packet)
{
	return bt_stream_borrow_class_const(bt_packet_borrow_stream_const(packet));
}

/* LTTng packs its metadata in packets whose magic number has the traced machine's byte order; our
 * own export is text and says it in its environment. */
static void read_byte_order(struct ctf_reader *s)
{
	static const uint8_t big[4] = { 0x75, 0xd1, 0x1d, 0x57 };
	_cleanup_free_ char *path = NULL;
	uint8_t magic[4];
	FILE *f;

	if (asprintf(&path, "%s/metadata", s->dir) < 0) {
		path = NULL;
		return;
	}
	f = fopen(path, "rbe");
	if (!f)
		return;
	if (fread(magic, 1, sizeof(magic), f) == sizeof(magic) && !memcmp(magic, big, sizeof(big)))
		s->base.info.dialect.features |= DIALECT_BIG_ENDIAN;
	fclose(f);
}

/* The very first message leads to the trace and thereby to all that info needs. */
static int read_env(struct ctf_reader *s, const bt_message *m, struct error *e)
{
	int r;

	if (bt_message_get_type(m) != BT_MESSAGE_TYPE_STREAM_BEGINNING)
		return error_set(e, EBADMSG, "CTF trace %s does not begin a stream", s->dir);
	r = ctf_env_read(&s->env, bt_message_stream_beginning_borrow_stream_const(m), &s->plans,
			 &s->base.info, e);
	s->has_env = r >= 0;
	read_byte_order(s);
	return r;
}

/* 1: to be queued under *ret_tick; 0: of no interest; < 0: failed. */
static int accept(struct ctf_reader *s, struct stream *st, const bt_message *m, uint64_t *ret_tick,
		  struct error *e)
{
	const bt_packet *packet;
	int r;

	if (!s->has_env)
		return read_env(s, m, e);
	switch (bt_message_get_type(m)) {
	case BT_MESSAGE_TYPE_EVENT:
		return accept_event(s, st, m, ret_tick, e);
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		packet = bt_message_packet_beginning_borrow_packet_const(m);
		if (bt_stream_class_packets_have_beginning_default_clock_snapshot(
			    packet_class(packet)))
			*ret_tick = tick_of(
				s,
				bt_message_packet_beginning_borrow_default_clock_snapshot_const(m));
		r = st->has_cpu || st->events_tell ? 0 : set_cpu(s, st, packet, e);
		return r < 0 ? r : 1;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return !s->env.own; /* our own kiseki_loss says it more exactly */
	default:
		return 0;
	}
}

/* One batch into the queue. */
static int pull(struct ctf_reader *s, size_t at, struct error *e)
{
	struct stream *st = &s->streams[at];
	bt_message_array_const messages = NULL;
	uint64_t i, n = 0, tick;
	int r, queued = 0;

	s->alive();
	r = ctf_graph_pull(s->graph, at, &messages, &n, e);
	if (r == 0)
		st->ended = true;
	if (r <= 0)
		return r;
	st->pulled += n;
	for (i = 0; i < n; i++) {
		tick = st->last_tick;
		if (queued >= 0)
			queued = accept(s, st, messages[i], &tick, e);
		if (queued > 0 && tick < st->last_tick)
			queued = error_set(e, EBADMSG,
					   "cannot read CTF trace %s: the stream of CPU %u goes "
					   "back in time at cycle %llu",
					   s->dir, st->cpu, (unsigned long long)tick);
		if (queued > 0 && s->counting) /* and nothing else */
			queued = 0;
		if (queued > 0 && push(st, messages[i], tick) < 0)
			queued = error_set(e, ENOMEM, "cannot read CTF trace %s: out of memory",
					   s->dir);
		if (queued > 0)
			st->last_tick = tick;
		else
			bt_message_put_ref(messages[i]);
	}
	return queued < 0 ? queued : 1;
}

static int open_graph(struct ctf_reader *s, struct error *e)
{
	int r = ctf_graph_open(&s->graph, s->dir, e);

	if (r < 0)
		return r;
	s->n_streams = ctf_graph_streams(s->graph);
	s->streams = calloc(s->n_streams, sizeof(*s->streams));
	if (!s->streams) {
		s->n_streams = 0;
		return error_set(e, ENOMEM, "cannot read CTF trace %s: out of memory", s->dir);
	}
	return 0;
}

/* The CPUs that the events of the whole trace tell, of which nothing is kept. */
static int count_cpus(struct ctf_reader *s, struct error *e)
{
	size_t i;
	int r;

	close_graph(s);
	r = open_graph(s, e);
	s->counting = true;
	for (i = 0; i < s->n_streams && r >= 0; i++)
		while (!s->streams[i].ended && r >= 0)
			r = pull(s, i, e);
	s->counting = false;
	s->base.info.skipped = 0;
	close_graph(s);
	return r < 0 ? r : open_graph(s, e);
}

static bool events_tell(const struct ctf_reader *s)
{
	size_t i;

	for (i = 0; i < s->n_streams; i++)
		if (s->streams[i].events_tell)
			return true;
	return false;
}

/* Reads each stream up to its first switch, within bounds. It lies in a packet, which has told its CPU. */
static int look_ahead(struct ctf_reader *s, struct error *e)
{
	size_t i;
	int r;

	for (i = 0; i < s->n_streams; i++) {
		struct stream *st = &s->streams[i];

		while (!st->ended && !st->has_switch && st->pulled < AHEAD_MESSAGES &&
		       st->n < AHEAD_QUEUE) {
			r = pull(s, i, e);
			if (r < 0)
				return r;
		}
		if (st->cpu >= s->base.info.cpus)
			s->base.info.cpus = st->cpu + 1;
	}
	if (s->cpus_told > s->base.info.cpus)
		s->base.info.cpus = s->cpus_told;
	return 0;
}

/* The message's event, or its loss, as an item. */
static void decode(struct ctf_reader *s, const struct entry *en, struct trace_item *ret)
{
	const bt_event *event = bt_message_event_borrow_event_const(en->message);
	const struct ctf_plan *plan = NULL;

	memset(ret, 0, sizeof(*ret));
	ret->cpu = en->cpu;
	/* The class has its plan since it was queued, so this does not fail. */
	ctf_plans_get(&s->plans, bt_event_borrow_class_const(event), &plan, NULL);
	assert(plan);
	if (plan->use == CTF_UNREAD) {
		ret->type = ITEM_LOSS;
		ret->loss = (struct trace_loss){ en->tick, en->tick, 1, LOSS_DAMAGE };
		return;
	}
	if (plan->use == CTF_LOSS) {
		ret->type = ITEM_LOSS;
		ctf_plan_decode_loss(plan, event, &ret->loss);
		ret->loss.from_tick = ctf_clock_tick(&s->env.clock, ret->loss.from_tick);
		ret->loss.to_tick = ctf_clock_tick(&s->env.clock, ret->loss.to_tick);
		return;
	}
	ret->type = ITEM_EVENT;
	ctf_plan_decode(plan, event, s->env.prio_offset, &ret->event);
	ret->event.tick = en->tick;
}

/* Who runs on each CPU when the trace begins: the prev of the earliest switch queued for it. */
static int infer_running(struct ctf_reader *s, struct error *e)
{
	_cleanup_free_ uint64_t *best = calloc(s->base.info.cpus + 1, sizeof(*best));
	struct trace_item item;
	size_t i, k;

	free(s->running);
	s->running = calloc(s->base.info.cpus + 1, sizeof(*s->running));
	if (!best || !s->running)
		return error_set(e, ENOMEM, "cannot read CTF trace %s: out of memory", s->dir);
	memset(best, 0xff, (s->base.info.cpus + 1) * sizeof(*best));
	for (i = 0; i < s->n_streams; i++) {
		struct stream *st = &s->streams[i];

		for (k = st->head; k < st->n; k++) {
			if (bt_message_get_type(st->queue[k].message) != BT_MESSAGE_TYPE_EVENT)
				continue;
			decode(s, &st->queue[k], &item);
			if (item.type != ITEM_EVENT || item.event.kind != SCHED_SWITCH ||
			    item.event.tick >= best[item.cpu])
				continue;
			best[item.cpu] = item.event.tick;
			s->running[item.cpu] = item.event.task.pid;
		}
	}
	return 0;
}

static int start(struct ctf_reader *s, struct error *e)
{
	int r = open_graph(s, e);

	if (r >= 0)
		r = look_ahead(s, e);
	if (r >= 0 && !s->cpus_told && events_tell(s)) {
		r = count_cpus(s, e);
		if (r >= 0)
			r = look_ahead(s, e);
	}
	if (r >= 0)
		r = infer_running(s, e);
	return r;
}

/* The stream whose head is next, filling queues that ran empty; NULL at the end. */
static int pick(struct ctf_reader *s, struct stream **ret, struct error *e)
{
	struct stream *best = NULL;
	size_t i;
	int r;

	for (i = 0; i < s->n_streams; i++) {
		struct stream *st = &s->streams[i];
		uint64_t tick;

		while (st->head == st->n && !st->ended) {
			r = pull(s, i, e);
			if (r < 0)
				return r;
		}
		if (st->head == st->n)
			continue;
		tick = st->queue[st->head].tick;
		if (!best || tick < best->queue[best->head].tick ||
		    (tick == best->queue[best->head].tick && st->cpu < best->cpu))
			best = st;
	}
	*ret = best;
	return 0;
}

static void note_loss(const struct ctf_reader *s, struct stream *st, const bt_message *m)
{
	const bt_clock_snapshot *from = NULL;
	const bt_stream_class *sc;
	uint64_t count = LOSS_UNKNOWN;

	if (bt_message_get_type(m) == BT_MESSAGE_TYPE_DISCARDED_EVENTS) {
		sc = bt_stream_borrow_class_const(
			bt_message_discarded_events_borrow_stream_const(m));
		if (bt_stream_class_discarded_events_have_default_clock_snapshots(sc))
			from = bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
				m);
		if (bt_message_discarded_events_get_count(m, &count) !=
		    BT_PROPERTY_AVAILABILITY_AVAILABLE)
			count = LOSS_UNKNOWN;
	} else {
		sc = bt_stream_borrow_class_const(
			bt_message_discarded_packets_borrow_stream_const(m));
		if (bt_stream_class_discarded_packets_have_default_clock_snapshots(sc))
			from = bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
				m);
	}
	st->lost_count = st->lost && st->lost_count == LOSS_UNKNOWN ? LOSS_UNKNOWN : count;
	st->lost = true;
	st->lost_from = from ? tick_of(s, from) : 0;
}

/* 1 if a loss was waiting for this packet. */
static int begin_packet(struct ctf_reader *s, struct stream *st, const struct entry *en,
			struct trace_item *ret, struct error *e)
{
	const bt_packet *packet = bt_message_packet_beginning_borrow_packet_const(en->message);
	int r = set_cpu(s, st, packet, e);

	if (r < 0)
		return r;
	memset(ret, 0, sizeof(*ret));
	ret->type = ITEM_LOSS;
	ret->cpu = st->cpu;
	if (!st->lost)
		return 0;
	st->lost = false;
	ret->loss.from_tick = st->lost_from < en->tick ? st->lost_from : 0;
	ret->loss.to_tick = en->tick;
	ret->loss.count = st->lost_count;
	ret->loss.cause = LOSS_RING;
	return 1;
}

/* What the payload does not have: who ran, and the flags. */
static void add_context(struct ctf_reader *s, const bt_message *m, uint32_t cpu,
			struct sched_event *ev)
{
	const bt_field *context =
		bt_event_borrow_common_context_field_const(bt_message_event_borrow_event_const(m));
	int64_t tid = s->running[cpu], flags = 0, count = 0;

	if (!s->env.has_tid && (ev->kind == SCHED_SWITCH || ev->kind == SCHED_FORK ||
				ev->kind == SCHED_EXEC || ev->kind == SCHED_EXIT))
		tid = ev->task.pid;
	if (s->env.has_tid)
		ctf_field_int(context, "tid", &tid);
	if (s->env.own && context) {
		ctf_field_int(context, "common_flags", &flags);
		ctf_field_int(context, "common_preempt_count", &count);
	}
	ev->pid = (int32_t)tid;
	ev->flags = (uint8_t)flags;
	ev->preempt_count = (uint8_t)count;
	if (ev->kind == SCHED_SWITCH)
		s->running[cpu] = ev->other.pid;
}

/* 1: *ret is an item; 0: nothing to tell of this message. */
static int take(struct ctf_reader *s, struct stream *st, struct trace_item *ret, struct error *e)
{
	struct entry en = st->queue[st->head++];

	bt_message_put_ref(s->held);
	s->held = en.message;
	switch (bt_message_get_type(en.message)) {
	case BT_MESSAGE_TYPE_EVENT:
		decode(s, &en, ret);
		if (ret->type == ITEM_EVENT)
			add_context(s, en.message, en.cpu, &ret->event);
		return 1;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		return begin_packet(s, st, &en, ret, e);
	default:
		note_loss(s, st, en.message);
		return 0;
	}
}

static int ctf_reader_next(struct trace_source *base, struct trace_item *ret, struct error *e)
{
	struct ctf_reader *s = self(base);
	struct stream *st = NULL;
	int r = 0;

	while (!s->failed && r == 0) {
		r = pick(s, &st, &s->error);
		if (r >= 0 && !st)
			return 0;
		if (r >= 0)
			r = take(s, st, ret, &s->error);
		if (r < 0)
			s->failed = r;
	}
	return s->failed ? error_set(e, s->failed, "%s", s->error.text) : r;
}

static int ctf_reader_rewind(struct trace_source *base, struct error *e)
{
	struct ctf_reader *s = self(base);

	close_graph(s);
	s->base.info.skipped = 0;
	s->failed = start(s, &s->error);
	return s->failed ? error_set(e, s->failed, "%s", s->error.text) : 0;
}

static const struct trace_source_ops ctf_reader_ops = {
	.next = ctf_reader_next,
	.rewind = ctf_reader_rewind,
	.free = ctf_reader_free,
};

char *ctf_reader_folder(const char *dir)
{
	char *path = NULL;
	struct stat st;

	if (asprintf(&path, "%s/metadata", dir) < 0)
		return NULL;
	if (!stat(path, &st)) {
		free(path);
		return strdup(dir);
	}
	free(path);
	if (asprintf(&path, "%s/kernel/metadata", dir) < 0)
		return NULL;
	if (stat(path, &st)) {
		free(path);
		return strdup(dir);
	}
	*strrchr(path, '/') = 0;
	return path;
}

static void cleanup_source(struct ctf_reader **s)
{
	if (*s)
		ctf_reader_free(&(*s)->base);
}

int ctf_reader_open(struct trace_source **ret, const char *dir, void (*alive)(void),
		    struct error *e)
{
	__attribute__((cleanup(cleanup_source))) struct ctf_reader *s = calloc(1, sizeof(*s));
	int r;

	if (!s || info_init(&s->base.info) < 0 || !(s->dir = strdup(dir)))
		return error_set(e, ENOMEM, "cannot read CTF trace %s: out of memory", dir);
	s->base.ops = &ctf_reader_ops;
	s->alive = alive;
	r = start(s, e);
	if (r < 0)
		return r;
	*ret = &take_ptr(s)->base;
	return 0;
}
