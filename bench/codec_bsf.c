/* SPDX-License-Identifier: MIT */
/* codec_bsf: see codec_bsf.h. */
#include "codec_bsf.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "wire/bsf_decode.h"
#include "wire/bsf_encode.h"
#include "wire/bsf_event.h"

struct stream {
	struct blocks *out;
	const struct trace_clock *clock;
	struct bsf_context context;
	struct bsf_encoder encoder;
	uint8_t *payload; /* of the open block, NULL: none is */
	uint32_t used;
	struct block block;
	uint64_t total;
	uint64_t last_tick;
};

size_t codec_bsf_encoder_size(void)
{
	return sizeof(struct bsf_context) + sizeof(struct bsf_encoder);
}

static int open_block(struct stream *s, uint64_t tick)
{
	s->payload = blocks_next(s->out);
	s->used = 0;
	s->block.first_tick = tick;
	s->block.events = 0;
	s->last_tick = tick;
	bsf_encoder_init(&s->encoder);
	return s->payload ? 0 : -ENOSPC;
}

static void close_block(struct stream *s)
{
	s->block.before = s->total;
	s->block.ticks = s->last_tick - s->block.first_tick;
	s->block.payload_len = s->used;
	blocks_push(s->out, &s->block, s->context.cpu);
	s->total += s->block.events;
	s->block.sequence++;
	s->payload = NULL;
}

static int put_event(struct stream *s, const struct sched_event *ev)
{
	uint64_t ns = clock_event_ns(s->clock, ev);
	struct bsf_record record;
	size_t len;

	if (!bsf_from_event(&s->context, ev, ns, &record))
		return 0;
	if (!s->payload && open_block(s, ns) < 0)
		return -ENOSPC;
	len = bsf_encode(&s->encoder, s->payload + s->used, BLOCKS_PAYLOAD_ROOM - s->used, &record);
	if (!len)
		return -EINVAL;
	s->used += (uint32_t)len;
	s->block.events++;
	if (ns > s->last_tick)
		s->last_tick = ns;
	if (s->used >= CODEC_BSF_BLOCK_BYTES)
		close_block(s);
	return 0;
}

int codec_bsf_encode(struct blocks *out, const struct events *ev)
{
	uint32_t cpu;
	size_t i;
	int r;

	blocks_clear(out);
	for (cpu = 0; cpu < ev->info.cpus; cpu++) {
		struct stream s = { .out = out,
				    .clock = &ev->info.clock,
				    .block = { .codec = CODEC_BSF,
					       .flags = BLOCK_KEY,
					       .stream = STREAM_CPU(cpu) } };

		bsf_context_init(&s.context, &ev->info.dialect, cpu);
		for (i = 0; i < ev->cpu[cpu].n; i++) {
			r = put_event(&s, &ev->cpu[cpu].event[i]);
			if (r < 0)
				return r;
		}
		if (s.payload)
			close_block(&s);
	}
	return 0;
}

static int decode_block(struct bsf_log *log, const struct block_place *place,
			const struct bsf_context *context)
{
	struct sched_event event;
	const char *comm;
	struct block b;
	size_t i;

	if (block_decode(place->start, place->len, &b) != WIRE_OK ||
	    bsf_decode(log, b.payload, b.payload_len) != WIRE_OK || log->count != b.events)
		return -EBADMSG;
	for (i = 0; i < log->count; i++) {
		bsf_to_event(context, &log->first[i].rec, &event);
		comm = bsf_next_comm(log->first, log->count, i);
		if (comm)
			memcpy(event.other.comm, comm, SCHED_COMM_LEN);
	}
	return 0;
}

int codec_bsf_decode(const struct blocks *in, const struct events *ev)
{
	_cleanup_free_ struct bsf_entry *entries = calloc(BSF_BLOCK_RECORDS_MAX, sizeof(*entries));
	struct bsf_context context;
	struct bsf_log log;
	uint32_t i;
	int r;

	if (!entries)
		return -ENOMEM;
	for (i = 0; i < in->n; i++) {
		bsf_context_init(&context, &ev->info.dialect, in->place[i].cpu);
		bsf_log_init(&log, entries, BSF_BLOCK_RECORDS_MAX);
		r = decode_block(&log, &in->place[i], &context);
		if (r < 0)
			return r;
	}
	return 0;
}
