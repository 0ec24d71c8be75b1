/* SPDX-License-Identifier: MIT */
/*
 * recorder: see recorder.h; the description is made in recorder_meta.c.
 *
 * A lane is one CPU: its encoder, the block that is being filled, and the checkpoint as it would be
 * published next. While a block is open, losses cannot come in: they end it, because a header tells
 * what is missing before its first event. So the counts that a block tells are those that were
 * pending when it was begun, and they stay pending until the block is in the spool. Only the header of a
 * KEY block has the tick of its first event: before another, a block without events tells the losses, and
 * ends at that tick (wire.md, 3.5).
 *
 * The position in `at` runs ahead of what is published. It is published alone only when no block is
 * open: else the events in it would be behind the position and nowhere.
 */
#include "device/agent/recorder.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "device/agent/recorder_meta.h"
#include "wire/sched_encode.h"

#define LOST_FOUND 1U /* for lost_ms: no tick has begun since */
#define PAYLOAD_ROOM (CONFIG_BLOCK_MOST + SCHED_EVENT_ROOM + SCHED_FILENAME_MAX + 64U)

struct lane {
	struct checkpoint at;
	bool is_open;
	bool is_key;		    /* of the open block; else: must the next one be? */
	bool has_moved;		    /* `at` has something that is not published */
	uint64_t first_tick, until; /* of the open block */
	uint64_t since_ms;	    /* when the block was begun, or a loss found */
	uint64_t lost_ms; /* a moment behind a loss that is pending; 0: nobody looked yet */
	uint32_t segment_bytes;
	struct sched_encoder encoder;
	uint8_t room[BLOCK_HEADER_MAX + PAYLOAD_ROOM];
};

struct recorder {
	struct spool *spool;
	struct device_source *source; /* NULL: no run */
	uint32_t run;
	uint32_t cpus;
	uint32_t flush_ms, block_bytes, segment_bytes;
	uint32_t resolution_shift;
	uint64_t now_ms; /* of the last tick */
	uint64_t blocks, bytes;
	struct recorder_meta meta;
	uint8_t *end; /* room for an END */
	struct lane *lanes;
};

static uint8_t *payload_of(struct lane *l)
{
	return l->room + BLOCK_HEADER_MAX;
}

static bool has_known(const struct checkpoint *at)
{
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		if (at->pending[i])
			return true;
	return false;
}

/* What is behind it is published: the source may forget what is before. */
static void release(struct recorder *r, uint32_t cpu)
{
	r->lanes[cpu].has_moved = false;
	r->source->ops->release(r->source, cpu, r->lanes[cpu].at.position);
}

static void save(struct recorder *r, uint32_t cpu)
{
	spool_save(r->spool, cpu, &r->lanes[cpu].at);
	release(r, cpu);
}

/* Completes the header by the rules of wire.md, 3.3 and 3.4, and puts the block. `after` has what
 * remains pending. */
static int put_block(struct recorder *r, uint32_t cpu, struct block *b, struct checkpoint *after)
{
	struct lane *l = &r->lanes[cpu];
	uint64_t told = block_told(b), all = told + b->events;
	struct spool_entry entry = { .kind = FRAME_BLOCK, .run = r->run };
	int e;

	b->codec = CODEC_SCHED;
	b->stream = STREAM_CPU(cpu);
	b->sequence = l->at.next_sequence;
	b->before = l->at.count + told;
	b->ticks = after->until - (b->flags & BLOCK_KEY ? b->first_tick : l->at.until);
	after->next_sequence = b->sequence + 1;
	after->count = b->before + b->events;
	entry.bytes = block_encode(b, payload_of(l), &entry.len);
	entry.stream = b->stream;
	entry.sequence = b->sequence;
	entry.key = b->flags & BLOCK_KEY;
	entry.events = all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
	e = spool_put(r->spool, &entry, cpu, after);
	if (e < 0)
		return e;
	l->at = *after;
	l->segment_bytes = (entry.key ? 0 : l->segment_bytes) + b->payload_len;
	l->is_key = l->segment_bytes >= r->segment_bytes;
	r->blocks++;
	r->bytes += entry.len;
	release(r, cpu);
	return 0;
}

/* A block without events, only to tell, until `tick`. */
static int put_losses(struct recorder *r, uint32_t cpu, bool known, uint64_t tick)
{
	struct lane *l = &r->lanes[cpu];
	struct checkpoint after = l->at;
	struct block b = { .flags = l->is_key ? BLOCK_KEY : 0, .first_tick = l->at.until };
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++) {
		if (known)
			b.lost[i] = l->at.pending[i];
		else if (l->at.unknown & 1U << i)
			b.lost[i] = LOSS_UNKNOWN;
	}
	if (known)
		memset(after.pending, 0, sizeof(after.pending));
	else
		after.unknown = 0;
	if (tick > after.until)
		after.until = tick;
	if (l->is_key) {
		sched_encoder_init(&l->encoder, cpu);
		sched_encoder_begin(&l->encoder, payload_of(l), PAYLOAD_ROOM, l->at.until);
		b.payload_len = sched_encoder_end(&l->encoder);
	}
	return put_block(r, cpu, &b, &after);
}

/* All that is pending. A count is never given up for an unknown number: that is another block. */
static int tell_losses(struct recorder *r, uint32_t cpu, uint64_t tick)
{
	struct lane *l = &r->lanes[cpu];
	int e = 0;

	if (has_known(&l->at))
		e = put_losses(r, cpu, true, tick);
	if (!e && l->at.unknown)
		e = put_losses(r, cpu, false, tick);
	return e;
}

/* The tick of a moment of the agent's clock, which is that of the events. */
static uint64_t tick_of(const struct recorder *r, uint64_t ms)
{
	return (ms * 1000000U) >> r->resolution_shift;
}

static void end_block(struct recorder *r, uint32_t cpu)
{
	struct lane *l = &r->lanes[cpu];
	struct checkpoint after = l->at;
	struct block b = { .flags = l->is_key ? BLOCK_KEY : 0, .first_tick = l->first_tick };
	uint32_t i;

	if (!l->is_open)
		return;
	l->is_open = false;
	b.events = l->encoder.events;
	b.payload_len = sched_encoder_end(&l->encoder);
	for (i = 0; i < LOSS_CAUSES; i++)
		b.lost[i] = l->at.unknown & 1U << i ? LOSS_UNKNOWN : l->at.pending[i];
	memset(after.pending, 0, sizeof(after.pending));
	after.unknown = 0;
	after.until = l->until;
	if (!put_block(r, cpu, &b, &after))
		return;
	/* The decoder will never see what the encoder has learned here. */
	l->at.pending[LOSS_SPOOL] += b.events;
	l->at.lost[LOSS_SPOOL] += b.events;
	l->is_key = true;
	save(r, cpu);
}

/* False: there is no room for another block. */
static bool begin_block(struct recorder *r, uint32_t cpu, uint64_t tick)
{
	struct lane *l = &r->lanes[cpu];

	if (!spool_has_room(r->spool, r->block_bytes + SCHED_EVENT_ROOM + 3 * BLOCK_HEADER_MAX))
		return false;
	if ((!l->is_key || (l->at.unknown && has_known(&l->at))) && tell_losses(r, cpu, tick))
		return false;
	if (l->is_key)
		sched_encoder_init(&l->encoder, cpu);
	sched_encoder_begin(&l->encoder, payload_of(l), PAYLOAD_ROOM, tick);
	l->first_tick = tick;
	l->until = l->at.until;
	l->since_ms = r->now_ms;
	l->lost_ms = 0;
	l->is_open = true;
	return true;
}

void recorder_take(struct recorder *r, uint32_t cpu, const struct sched_event *ev,
		   uint64_t position)
{
	struct lane *l = &r->lanes[cpu];
	/* What that tells is published with the position before this event, which is nowhere yet. */
	bool has_block = l->is_open || begin_block(r, cpu, ev->tick);

	l->at.position = position;
	l->has_moved = true;
	if (!has_block) {
		l->at.pending[LOSS_SPOOL]++;
		l->at.lost[LOSS_SPOOL]++;
		l->lost_ms = 0;
		return;
	}
	/* There is room: a block ends long before its memory does. */
	sched_encode(&l->encoder, ev);
	if (ev->tick > l->until)
		l->until = ev->tick;
	if (l->encoder.rc.pos >= r->block_bytes || l->encoder.events == BLOCK_EVENTS_MAX)
		end_block(r, cpu);
}

void recorder_pass(struct recorder *r, uint32_t cpu, uint64_t position)
{
	r->lanes[cpu].at.position = position;
	r->lanes[cpu].has_moved = true;
}

void recorder_lose(struct recorder *r, uint32_t cpu, enum loss_cause cause, uint64_t count,
		   uint64_t ring_total)
{
	struct lane *l = &r->lanes[cpu];

	if (count)
		end_block(r, cpu);
	if (!has_known(&l->at) && !l->at.unknown)
		l->since_ms = r->now_ms;
	l->at.ring_total = ring_total;
	l->has_moved = true;
	l->lost_ms = 0;
	if (count != LOSS_UNKNOWN) {
		l->at.pending[cause] += count;
		l->at.lost[cause] += count;
		return;
	}
	/* Nothing else remembers it: a count could be taken from the kernel again. */
	l->at.unknown |= 1U << cause;
	if (!l->is_open)
		save(r, cpu);
}

uint64_t recorder_ring_total(const struct recorder *r, uint32_t cpu)
{
	return r->lanes[cpu].at.ring_total;
}

void recorder_flush(struct recorder *r, uint32_t cpu)
{
	end_block(r, cpu);
	if (r->lanes[cpu].has_moved)
		save(r, cpu);
}

/* A timer is never exact; an eighth early is on time. */
static bool is_due(const struct recorder *r, uint64_t since_ms, uint32_t wait_ms)
{
	return r->now_ms - since_ms >= wait_ms - wait_ms / 8;
}

/* They are told when nothing follows for a while. They were lost before the tick that found them had ended, so
 * before the next one began; and of events before that moment none comes any more, since it drains the CPU. */
static void tick_losses(struct recorder *r, uint32_t cpu)
{
	struct lane *l = &r->lanes[cpu];

	if (!l->lost_ms)
		l->lost_ms = LOST_FOUND;
	else if (l->lost_ms == LOST_FOUND)
		l->lost_ms = r->now_ms;
	if (l->lost_ms == LOST_FOUND || !is_due(r, l->since_ms, 2 * r->flush_ms) ||
	    !spool_has_room(r->spool, r->block_bytes))
		return;
	if (!tell_losses(r, cpu, tick_of(r, l->lost_ms)))
		l->lost_ms = 0;
}

static void tick_lane(struct recorder *r, uint32_t cpu)
{
	struct lane *l = &r->lanes[cpu];
	uint32_t times = l->encoder.rc.pos < RECORDER_FEW ? 2 : 1;

	if (l->is_open) {
		if (is_due(r, l->since_ms, times * r->flush_ms))
			end_block(r, cpu);
		return;
	}
	if (has_known(&l->at) || l->at.unknown)
		tick_losses(r, cpu);
	if (l->has_moved)
		save(r, cpu);
}

void recorder_tick(struct recorder *r, uint64_t now_ms)
{
	uint32_t cpu;

	r->now_ms = now_ms;
	for (cpu = 0; r->source && cpu < r->cpus; cpu++)
		tick_lane(r, cpu);
}

int recorder_new(struct recorder **ret, const struct recorder_options *o, struct error *e)
{
	CLEANUP(recorder) struct recorder *r = calloc(1, sizeof(*r));

	if (!r || !o->cpus || o->cpus > MESSAGE_STREAMS_MAX - 1)
		return error_set(e, r ? EINVAL : ENOMEM, "cannot make a recorder for %u CPUs",
				 o->cpus);
	r->spool = o->spool;
	r->cpus = o->cpus;
	r->end = malloc((o->cpus + 2) * SPOOL_END_ROW);
	r->lanes = calloc(o->cpus, sizeof(*r->lanes));
	if (!r->end || !r->lanes)
		return error_set(e, ENOMEM, "cannot make a recorder for %u CPUs: %m", o->cpus);
	recorder_meta_init(&r->meta, o);
	*ret = take_ptr(r);
	return 0;
}

void recorder_free(struct recorder *r)
{
	if (!r)
		return;
	free(r->lanes);
	free(r->end);
	free(r);
}

/* A flight recorder drops whole segments: were they as large as its memory, nothing would be left. */
static uint32_t choose_segment(const struct recorder *r, const struct message_config *c)
{
	uint64_t share = spool_size(r->spool) / (4 * (uint64_t)r->cpus);

	if (c->policy != POLICY_FLIGHT || share > RECORDER_SEGMENT)
		return RECORDER_SEGMENT;
	return share < CONFIG_BLOCK_LEAST ? CONFIG_BLOCK_LEAST : (uint32_t)share;
}

static void take_run(struct recorder *r, const struct recorder_run *run, uint32_t number)
{
	const struct message_config *c = run->config;
	uint64_t most = spool_size(r->spool) / 8;
	uint32_t cpu;

	r->source = run->source;
	r->resolution_shift = run->resolution_shift;
	r->run = number;
	r->flush_ms = c->given & 1U << CONFIG_FLUSH ? c->flush_ms : RECORDER_FLUSH_MS;
	r->block_bytes = c->given & 1U << CONFIG_BLOCK_BYTES ? c->block_bytes : RECORDER_BLOCK;
	if (r->block_bytes > most)
		r->block_bytes = (uint32_t)most;
	r->segment_bytes = choose_segment(r, c);
	r->blocks = r->bytes = 0;
	r->now_ms = clock_mono_ms();
	for (cpu = 0; cpu < r->cpus; cpu++) {
		struct lane *l = &r->lanes[cpu];

		spool_get_checkpoint(r->spool, cpu, &l->at);
		l->is_open = l->has_moved = false;
		l->is_key = true;
		l->segment_bytes = 0;
		l->since_ms = r->now_ms;
		l->lost_ms = 0;
	}
}

int recorder_start(struct recorder *r, const struct recorder_run *run, struct error *e)
{
	struct spool_run begun = { .origin = run->origin, .config = *run->config };
	int res;

	r->source = NULL;
	res = run_meta_draw(&begun.id, e);
	if (!res)
		res = spool_start_run(r->spool, &begun, e);
	if (!res)
		res = recorder_meta_put(&r->meta, run, begun.number, e);
	if (res < 0)
		return res;
	spool_set_described(r->spool, SPOOL_EVENTS);
	take_run(r, run, begun.number);
	return 0;
}

int recorder_resume(struct recorder *r, const struct recorder_run *run, struct error *e)
{
	struct spool_run found;
	uint32_t cpu;
	int res;

	r->source = NULL;
	if (!spool_get_current(r->spool, SPOOL_EVENTS, &found))
		return error_set(e, ENOENT, "cannot go on with a run: the spool has none");
	if (!found.is_described) {
		res = recorder_meta_put(&r->meta, run, found.number, e);
		if (res < 0)
			return res;
		spool_set_described(r->spool, SPOOL_EVENTS);
	} else {
		/* If it finds no room, reports cannot tell this agent from other programs: not
		 * worth the run. */
		recorder_meta_put_agent(&r->meta, found.number);
	}
	take_run(r, run, found.number);
	for (cpu = 0; cpu < r->cpus; cpu++) {
		res = r->source->ops->resume(r->source, cpu, r->lanes[cpu].at.position, e);
		if (res < 0)
			return res;
	}
	return 0;
}

static int put_end(struct recorder *r)
{
	struct message_end m = { .n_rows = r->cpus + 1 };
	struct message_stream_end row = { .stream = STREAM_META };
	struct spool_entry entry = { .kind = FRAME_RUN_END, .run = r->run, .bytes = r->end };
	struct checkpoint meta;
	struct byte_writer w;
	uint32_t cpu;

	writer_init(&w, r->end, (r->cpus + 2) * (size_t)SPOOL_END_ROW);
	end_encode(&w, &m);
	spool_get_checkpoint(r->spool, SPOOL_META, &meta);
	row.next_sequence = meta.next_sequence;
	end_put(&w, &row);
	for (cpu = 0; cpu < r->cpus; cpu++) {
		row.stream = STREAM_CPU(cpu);
		row.next_sequence = r->lanes[cpu].at.next_sequence;
		row.events = r->lanes[cpu].at.count;
		end_put(&w, &row);
	}
	entry.len = (uint32_t)writer_len(&w);
	return spool_put(r->spool, &entry, SPOOL_META, NULL);
}

int recorder_stop(struct recorder *r, struct error *e)
{
	uint32_t cpu;
	int res = 0;

	if (!r->source)
		return 0;
	for (cpu = 0; cpu < r->cpus && !res; cpu++) {
		end_block(r, cpu);
		res = tell_losses(r, cpu, tick_of(r, clock_mono_ms() + 1));
	}
	if (!res)
		res = put_end(r);
	if (res < 0)
		return error_set(e, -res, "cannot end the run: the spool is full");
	r->source = NULL;
	return 0;
}

void recorder_get_status(const struct recorder *r, struct message_status *ret)
{
	uint32_t cpu, i;

	ret->events = 0;
	memset(ret->lost, 0, sizeof(ret->lost));
	for (cpu = 0; cpu < r->cpus; cpu++) {
		const struct lane *l = &r->lanes[cpu];

		ret->events += l->at.count + (l->is_open ? l->encoder.events : 0);
		for (i = 0; i < LOSS_CAUSES; i++) {
			ret->events += l->at.pending[i];
			ret->lost[i] += l->at.lost[i];
		}
	}
	ret->blocks = r->blocks;
	ret->bytes = r->bytes;
}

uint64_t recorder_get_fixed_bytes(const struct recorder *r)
{
	return sizeof(*r) + r->cpus * (sizeof(struct lane) + SPOOL_END_ROW);
}
