/* SPDX-License-Identifier: MIT */
/* codec_sched: see codec_sched.h. */
#include "codec_sched.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "wire/sched_decode.h"
#include "wire/sched_encode.h"

/* One CPU's stream while it is encoded. */
struct stream {
	struct blocks *out;
	struct sched_encoder *encoder;
	uint32_t cpu;
	bool key;
	uint32_t segment_used;
	uint32_t events; /* in the open block */
	uint64_t sequence;
	uint64_t total;
	uint64_t first_tick;
	uint64_t last_tick;
	uint64_t until;
	uint64_t lost[LOSS_CAUSES];
};

size_t codec_sched_encoder_size(void)
{
	return sizeof(struct sched_encoder);
}

size_t codec_sched_decoder_size(void)
{
	return sizeof(struct sched_decoder);
}

static int open_block(struct stream *s, uint64_t tick)
{
	uint8_t *payload = blocks_next(s->out);

	if (!payload)
		return -ENOSPC;
	s->key = !s->sequence || s->segment_used >= CODEC_SCHED_SEGMENT_BYTES;
	if (s->key) {
		sched_encoder_init(s->encoder, s->cpu);
		s->segment_used = 0;
		s->until = tick;
	}
	sched_encoder_begin(s->encoder, payload, BLOCKS_PAYLOAD_ROOM, tick);
	s->events = 0;
	s->first_tick = tick;
	s->last_tick = tick;
	return 0;
}

static void close_block(struct stream *s)
{
	struct block b = { .codec = CODEC_SCHED,
			   .flags = s->key ? BLOCK_KEY : 0,
			   .stream = STREAM_CPU(s->cpu),
			   .sequence = s->sequence++,
			   .first_tick = s->first_tick,
			   .before = s->total,
			   .events = s->events };

	b.payload_len = sched_encoder_end(s->encoder);
	b.ticks = s->last_tick > s->until ? s->last_tick - s->until : 0;
	memcpy(b.lost, s->lost, sizeof(b.lost));
	memset(s->lost, 0, sizeof(s->lost));
	s->until += b.ticks;
	s->total += s->events;
	s->segment_used += b.payload_len;
	s->events = 0;
	blocks_push(s->out, &b, s->cpu);
}

static int put_event(struct stream *s, const struct sched_event *ev)
{
	int r;

	if (!s->events) {
		r = open_block(s, ev->tick);
		if (r < 0)
			return r;
	}
	if (sched_encode(s->encoder, ev) == WIRE_FULL) {
		close_block(s);
		r = open_block(s, ev->tick);
		if (r < 0 || sched_encode(s->encoder, ev) != WIRE_OK)
			return -ENOSPC;
	}
	s->events++;
	if (ev->tick > s->last_tick)
		s->last_tick = ev->tick;
	if (s->encoder->rc.pos >= CODEC_SCHED_BLOCK_BYTES)
		close_block(s);
	return 0;
}

/* A loss closes the block; the next one's header tells it. */
static void put_loss(struct stream *s, const struct trace_loss *loss)
{
	if (s->events)
		close_block(s);
	s->lost[loss->cause] = loss->count;
}

static int encode_cpu(struct stream *s, const struct cpu_events *c, uint64_t flush_ticks)
{
	uint64_t flush_at = UINT64_MAX;
	size_t i, loss = 0;
	int r;

	for (i = 0; i < c->n; i++) {
		if (loss < c->n_losses && c->loss[loss].before == i)
			put_loss(s, &c->loss[loss++].loss);
		if (c->event[i].tick >= flush_at && s->events)
			close_block(s);
		if (!s->events && flush_ticks)
			flush_at = (c->event[i].tick / flush_ticks + 1) * flush_ticks;
		r = put_event(s, &c->event[i]);
		if (r < 0)
			return r;
	}
	if (s->events)
		close_block(s);
	return 0;
}

int codec_sched_encode(struct blocks *out, const struct events *ev, uint64_t flush_ticks)
{
	_cleanup_free_ struct sched_encoder *encoder = malloc(sizeof(*encoder));
	uint32_t cpu;
	int r = 0;

	if (!encoder)
		return -ENOMEM;
	blocks_clear(out);
	for (cpu = 0; cpu < ev->info.cpus && r == 0; cpu++) {
		struct stream s = { .out = out, .encoder = encoder, .cpu = cpu };

		r = encode_cpu(&s, &ev->cpu[cpu], flush_ticks);
	}
	return r;
}

static int decode_block(struct sched_decoder *d, const struct block_place *place,
			const struct sched_event *expect, uint32_t *ret_events)
{
	struct sched_event event;
	struct block b;
	uint32_t i;

	if (block_decode(place->start, place->len, &b) != WIRE_OK)
		return -EBADMSG;
	if (b.flags & BLOCK_KEY)
		sched_decoder_init(d, place->cpu);
	sched_decoder_begin(d, b.payload, b.payload_len, b.first_tick);
	for (i = 0; i < b.events; i++) {
		if (sched_decode(d, &event) != WIRE_OK)
			return -EBADMSG;
		if (expect && !sched_event_equal(&event, &expect[i]))
			return -EBADMSG;
	}
	*ret_events = b.events;
	return sched_decoder_end(d) == WIRE_OK ? 0 : -EBADMSG;
}

/* Blocks lie CPU after CPU, so one decoder is enough. */
int codec_sched_decode(const struct blocks *in, const struct events *expect)
{
	_cleanup_free_ struct sched_decoder *d = malloc(sizeof(*d));
	uint32_t i, cpu = UINT32_MAX, events;
	size_t at = 0;
	int r;

	if (!d)
		return -ENOMEM;
	for (i = 0; i < in->n; i++) {
		if (in->place[i].cpu != cpu)
			at = 0;
		cpu = in->place[i].cpu;
		r = decode_block(d, &in->place[i], expect ? expect->cpu[cpu].event + at : NULL,
				 &events);
		if (r < 0)
			return r;
		at += events;
	}
	return 0;
}
