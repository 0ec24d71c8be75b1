/* SPDX-License-Identifier: MIT */
/*
 * sink_ksk: see sink_ksk.h.
 *
 * One encoder and one open block per CPU. Losses close the block of their CPU and go into the
 * header of its next one; those at the very end get an empty block. What is known only at the end
 * (the task table of a text file, the order of events with equal stamps) goes into a second set of
 * metadata behind the events. That set repeats the first: a clock is too much to lose to one torn
 * sector, and the first is what a cut file has.
 */
#include "convert/sink_ksk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/ksk_writer.h"
#include "trace/func_pack.h"
#include "trace/info_meta.h"
#include "wire/bsf_encode.h"
#include "wire/bsf_event.h"
#include "wire/sched_encode.h"

#define DEFAULT_BLOCK_BYTES (32U * 1024)
#define DEFAULT_SEGMENT_BYTES (64U * 1024)
#define BLOCK_ROOM (64U * 1024)
#define META_ROOM (64U * 1024)

struct stream {
	uint32_t cpu;
	bool open;
	bool key;	 /* the open block starts a segment */
	bool in_segment; /* a segment has begun: the next block can lean on it */
	uint64_t sequence;
	uint64_t total; /* events so far, encoded or counted as lost */
	uint64_t until; /* the header's time: where the last block ended */
	uint64_t first_tick;
	uint64_t max_tick; /* in the open block */
	uint32_t events;
	uint32_t segment_used;
	uint32_t bsf_used;
	uint64_t lost[LOSS_CAUSES];
	uint64_t lost_until; /* as far as those who told losses know */
	struct bsf_context bsf_context;
	struct bsf_encoder bsf;
	uint8_t buffer[BLOCK_HEADER_MAX + BLOCK_ROOM];
	struct sched_encoder sched;
};

struct ksk_sink {
	struct trace_sink sink;
	struct sink_ksk_options options;
	struct ksk_writer *writer;
	const struct trace_info *info;
	struct trace_clock clock; /* of the file */
	struct stream **streams;  /* by CPU, made when first needed */
	uint64_t meta_sequence;
	uint64_t dropped;
	uint64_t flush_ticks;
	/* the events of the current tick, to notice an order other than by CPU */
	uint64_t same_tick;
	uint32_t same_cpus[TRACE_ORDER_CPUS_MAX];
	uint32_t n_same;
	bool same_disordered;
	struct trace_orders orders;
};

static int put_block(struct ksk_sink *k, struct block *b, uint8_t *payload, struct error *e)
{
	uint32_t len;
	uint8_t *start = block_encode(b, payload, &len);

	return ksk_writer_put(k->writer, b, start, len, e);
}

static int put_meta(struct ksk_sink *k, uint8_t *payload, size_t len, struct error *e)
{
	struct block b = { .codec = CODEC_META,
			   .flags = BLOCK_KEY,
			   .stream = STREAM_META,
			   .sequence = k->meta_sequence++,
			   .payload_len = (uint32_t)len };

	return put_block(k, &b, payload, e);
}

/* The file's own description: with bsf, stamps are microseconds given in nanoseconds. */
static int put_info(struct ksk_sink *k, struct error *e)
{
	_cleanup_free_ uint8_t *buffer = malloc(BLOCK_HEADER_MAX + META_ROOM);
	struct trace_info copy = *k->info; /* borrowed strings: never freed */
	size_t len;

	if (!buffer)
		return error_set(e, ENOMEM, "out of memory");
	copy.clock = k->clock;
	len = info_encode(&copy, buffer + BLOCK_HEADER_MAX, META_ROOM);
	return put_meta(k, buffer + BLOCK_HEADER_MAX, len, e);
}

static int put_late_info(struct ksk_sink *k, struct error *e)
{
	_cleanup_free_ uint8_t *buffer = malloc(BLOCK_HEADER_MAX + META_ROOM);
	uint8_t *payload;
	size_t from = 0, len;
	int r;

	if (!buffer)
		return error_set(e, ENOMEM, "out of memory");
	payload = buffer + BLOCK_HEADER_MAX;
	r = put_info(k, e);
	while (r == 0 && (len = info_encode_tasks(k->info, &from, payload, META_ROOM)))
		r = put_meta(k, payload, len, e);
	from = 0;
	while (r == 0 && (len = info_encode_orders(&k->orders, &from, payload, META_ROOM)))
		r = put_meta(k, payload, len, e);
	return r;
}

static struct stream *get_stream(struct ksk_sink *k, uint32_t cpu, struct error *e)
{
	struct stream *s;

	if (cpu >= k->info->cpus || cpu >= TRACE_CPUS_MAX) {
		error_set(e, EBADMSG, "an event of CPU %u in a trace of %u CPUs", cpu,
			  k->info->cpus);
		return NULL;
	}
	s = k->streams[cpu];
	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s) {
		error_set(e, ENOMEM, "out of memory");
		return NULL;
	}
	s->cpu = cpu;
	bsf_context_init(&s->bsf_context, &k->info->dialect, cpu);
	k->streams[cpu] = s;
	return s;
}

static bool is_key_next(const struct ksk_sink *k, const struct stream *s)
{
	return !s->in_segment || s->segment_used >= k->options.segment_bytes ||
	       k->options.codec == CODEC_BSF;
}

static void open_block(struct ksk_sink *k, struct stream *s, uint64_t tick)
{
	uint8_t *payload = s->buffer + BLOCK_HEADER_MAX;

	s->key = is_key_next(k, s);
	if (s->key) {
		s->segment_used = 0;
		s->until = s->until > tick ? s->until : tick;
		if (k->options.codec == CODEC_SCHED)
			sched_encoder_init(&s->sched, s->cpu);
	}
	if (k->options.codec == CODEC_SCHED)
		sched_encoder_begin(&s->sched, payload, BLOCK_ROOM, tick);
	else
		bsf_encoder_init(&s->bsf);
	s->bsf_used = 0;
	s->events = 0;
	s->first_tick = tick;
	s->max_tick = tick;
	s->in_segment = true;
	s->open = true;
}

static int close_block(struct ksk_sink *k, struct stream *s, struct error *e)
{
	struct block b = { .codec = (uint8_t)k->options.codec,
			   .flags = s->key ? BLOCK_KEY : 0,
			   .stream = STREAM_CPU(s->cpu),
			   .events = s->events };
	uint64_t until = s->until > s->max_tick ? s->until : s->max_tick;

	if (!s->open)
		return 0;
	b.sequence = s->sequence++;
	b.payload_len =
		k->options.codec == CODEC_SCHED ? sched_encoder_end(&s->sched) : s->bsf_used;
	b.first_tick = s->first_tick;
	b.ticks = s->key ? (until > s->first_tick ? until - s->first_tick : 0) : until - s->until;
	memcpy(b.lost, s->lost, sizeof(b.lost));
	memset(s->lost, 0, sizeof(s->lost));
	b.before = s->total + block_told(&b);
	s->until = until;
	s->total = b.before + s->events;
	s->segment_used += b.payload_len;
	s->open = false;
	return put_block(k, &b, s->buffer + BLOCK_HEADER_MAX, e);
}

static bool has_lost(const struct stream *s)
{
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		if (s->lost[i])
			return true;
	return false;
}

/* A block without events, which tells what is lost until then (wire.md, 3.5). */
static int tell_losses(struct ksk_sink *k, struct stream *s, uint64_t until, struct error *e)
{
	open_block(k, s, s->until);
	s->max_tick = until;
	return close_block(k, s, e);
}

/* Begins the block of an event. The header of a KEY block says when a loss before it ended. */
static int begin_block(struct ksk_sink *k, struct stream *s, uint64_t tick, struct error *e)
{
	int r = has_lost(s) && !is_key_next(k, s) ? tell_losses(k, s, tick, e) : 0;

	if (r == 0)
		open_block(k, s, tick);
	return r;
}

static enum wire_status encode_bsf(struct stream *s, const struct bsf_record *rec)
{
	size_t len;

	len = bsf_encode(&s->bsf, s->buffer + BLOCK_HEADER_MAX + s->bsf_used,
			 BLOCK_ROOM - s->bsf_used, rec);
	s->bsf_used += (uint32_t)len;
	return len ? WIRE_OK : WIRE_FULL;
}

static bool block_is_due(const struct ksk_sink *k, const struct stream *s, uint64_t tick)
{
	uint32_t used = k->options.codec == CODEC_SCHED ? s->sched.rc.pos : s->bsf_used;

	if (!s->open)
		return false;
	return used >= k->options.block_bytes || s->events >= BLOCK_EVENTS_MAX - 1 ||
	       (k->flush_ticks && tick > s->first_tick && tick - s->first_tick >= k->flush_ticks);
}

/* With bsf the file's ticks are nanoseconds, whole microseconds of them. */
static uint64_t file_tick(const struct ksk_sink *k, const struct sched_event *ev)
{
	uint64_t ns;

	if (k->options.codec == CODEC_SCHED)
		return ev->tick;
	ns = clock_event_ns(&k->info->clock, ev) + 500;
	return ns - ns % 1000;
}

/* The record of an event. A waker that has not been switched to on this CPU yet has its name from
 * the item, where that has it. */
static bool make_record(const struct ksk_sink *k, struct stream *s, const struct trace_item *item,
			struct bsf_record *ret)
{
	const struct sched_event *ev = &item->event;

	if (!bsf_from_event(&s->bsf_context, ev, clock_event_ns(&k->info->clock, ev), ret))
		return false;
	if (k->info->has_comm && item->comm_known && !memcmp(ret->comm, "<...>", 6))
		memcpy(ret->comm, item->comm, BSF_COMM_LEN);
	return true;
}

/* 1: it is in the block; 0: the codec cannot hold it. */
static int put_event(struct ksk_sink *k, const struct trace_item *item, struct error *e)
{
	const struct sched_event *ev = &item->event;
	struct stream *s = get_stream(k, item->cpu, e);
	uint64_t tick = file_tick(k, ev);
	struct bsf_record rec;
	enum wire_status status;
	int r, tries;

	if (!s)
		return -EBADMSG;
	if (k->options.codec == CODEC_BSF && !make_record(k, s, item, &rec)) {
		k->dropped++;
		return 0;
	}
	if (block_is_due(k, s, tick)) {
		r = close_block(k, s, e);
		if (r < 0)
			return r;
	}
	for (tries = 0; tries < 2; tries++) {
		r = s->open ? 0 : begin_block(k, s, tick, e);
		if (r < 0)
			return r;
		status = k->options.codec == CODEC_SCHED ? sched_encode(&s->sched, ev)
							 : encode_bsf(s, &rec);
		if (status == WIRE_OK) {
			s->events++;
			if (tick > s->max_tick)
				s->max_tick = tick;
			return 1;
		}
		r = close_block(k, s, e);
		if (r < 0)
			return r;
	}
	return error_set(e, EMSGSIZE, "an event does not fit into a block");
}

static int put_loss(struct ksk_sink *k, uint32_t cpu, const struct trace_loss *loss,
		    struct error *e)
{
	struct stream *s = get_stream(k, cpu, e);
	uint64_t *sum;
	int r;

	if (!s)
		return -EBADMSG;
	if (loss->cause >= LOSS_CAUSES || !loss->count)
		return 0;
	sum = &s->lost[loss->cause];
	s->lost_until = k->options.codec == CODEC_SCHED ? loss->to_tick
							: clock_ns(&k->info->clock, loss->to_tick);
	r = close_block(k, s, e);
	/* A header has one count of a cause: an unknown one beside it needs a block of its own. */
	if (r == 0 && *sum && *sum != loss->count &&
	    (*sum == LOSS_UNKNOWN || loss->count > LOSS_UNKNOWN - 1 - *sum))
		r = tell_losses(k, s, s->lost_until, e);
	if (r == 0 && *sum != LOSS_UNKNOWN)
		*sum += loss->count;
	return r;
}

/* Writes the order of the events of one tick down if it is not that of the CPUs. */
static int end_of_tick(struct ksk_sink *k)
{
	int r = 0;

	if (k->same_disordered && k->n_same)
		r = orders_add(&k->orders, k->same_tick, k->same_cpus, k->n_same);
	k->n_same = 0;
	return r;
}

static int follow_order(struct ksk_sink *k, uint32_t cpu, uint64_t tick)
{
	int r = 0;

	if (tick != k->same_tick) {
		r = end_of_tick(k);
		k->same_disordered = false;
	} else if (k->n_same == TRACE_ORDER_CPUS_MAX) {
		/* Whether they are in order can no longer be decided at the tick's end. */
		k->same_disordered = true;
		r = end_of_tick(k);
	} else if (k->n_same && cpu < k->same_cpus[k->n_same - 1]) {
		k->same_disordered = true;
	}
	k->same_tick = tick;
	k->same_cpus[k->n_same++] = cpu;
	return r;
}

static int ksk_begin(struct trace_sink *sink, const struct trace_info *info, struct error *e)
{
	struct ksk_sink *k = (struct ksk_sink *)sink;

	k->info = info;
	k->clock = info->clock;
	if (k->options.codec == CODEC_BSF) {
		k->clock.mult = 1;
		k->clock.shift = 0;
		k->clock.base_ns = 0;
		k->clock.print_digits = 6;
	}
	if (k->options.flush_ns) {
		k->flush_ticks = clock_tick_at(&k->clock, k->clock.base_ns + k->options.flush_ns);
		k->flush_ticks += k->flush_ticks == 0;
	}
	k->streams = calloc((size_t)info->cpus + 1, sizeof(*k->streams));
	if (!k->streams)
		return error_set(e, ENOMEM, "out of memory");
	return put_info(k, e);
}

static int ksk_item(struct trace_sink *sink, const struct trace_item *item, struct error *e)
{
	struct ksk_sink *k = (struct ksk_sink *)sink;
	int r;

	if (item->type == ITEM_LOSS)
		return put_loss(k, item->cpu, &item->loss, e);
	r = put_event(k, item, e);
	if (r == 1 && k->info->cpus > 1 &&
	    follow_order(k, item->cpu, file_tick(k, &item->event)) < 0)
		r = error_set(e, ENOMEM, "cannot keep the order of events: out of memory");
	return r < 0 ? r : 0;
}

/* Losses after the last event of a CPU have no block to go into: an empty one is made. */
static int finish_stream(struct ksk_sink *k, struct stream *s, struct error *e)
{
	int r = close_block(k, s, e);

	return r == 0 && has_lost(s) ? tell_losses(k, s, s->lost_until, e) : r;
}

static int put_calls(struct ksk_sink *k, struct error *e)
{
	struct func_packing p = { .meta_sequence = k->meta_sequence };
	int r = func_pack(k->writer, k->options.calls, &p, e);

	k->meta_sequence = p.meta_sequence;
	return r;
}

static int ksk_end(struct trace_sink *sink, struct error *e)
{
	struct ksk_sink *k = (struct ksk_sink *)sink;
	uint32_t cpu;
	int r = 0;

	for (cpu = 0; cpu < k->info->cpus && r == 0; cpu++)
		if (k->streams[cpu])
			r = finish_stream(k, k->streams[cpu], e);
	if (r == 0 && end_of_tick(k) < 0)
		r = error_set(e, ENOMEM, "cannot keep the order of events: out of memory");
	if (r == 0 && k->options.calls)
		r = put_calls(k, e);
	if (r == 0)
		r = put_late_info(k, e);
	return r < 0 ? r : ksk_writer_commit(k->writer, e);
}

static void ksk_free(struct trace_sink *sink)
{
	struct ksk_sink *k = (struct ksk_sink *)sink;
	uint32_t cpu;

	for (cpu = 0; k->streams && cpu < k->info->cpus; cpu++)
		free(k->streams[cpu]);
	free(k->streams);
	orders_done(&k->orders);
	ksk_writer_free(k->writer);
	free(k);
}

static const struct trace_sink_ops ksk_ops = {
	.begin = ksk_begin,
	.item = ksk_item,
	.end = ksk_end,
	.free = ksk_free,
};

int sink_ksk_new(struct trace_sink **ret, const char *path, const struct sink_ksk_options *o,
		 struct error *e)
{
	struct ksk_sink *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return error_set(e, ENOMEM, "cannot write %s: out of memory", path);
	k->sink.ops = &ksk_ops;
	k->options.codec = CODEC_SCHED;
	if (o)
		k->options = *o;
	if (!k->options.block_bytes)
		k->options.block_bytes = DEFAULT_BLOCK_BYTES;
	if (!k->options.segment_bytes)
		k->options.segment_bytes = DEFAULT_SEGMENT_BYTES;
	r = ksk_writer_open(&k->writer, path, e);
	if (r < 0) {
		ksk_free(&k->sink);
		return r;
	}
	*ret = &k->sink;
	return 0;
}

uint64_t sink_ksk_dropped(const struct trace_sink *s)
{
	return ((const struct ksk_sink *)s)->dropped;
}
