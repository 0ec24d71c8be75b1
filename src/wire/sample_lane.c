/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sample_lane: see sample_lane.h; the counts are those of docs/format/wire.md, section 3.3.
 */
#include "wire/sample_lane.h"

static uint8_t *payload_of(struct sample_lane *l)
{
	return l->room + BLOCK_HEADER_MAX;
}

static bool has_known(const struct sample_lane *l)
{
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		if (l->pending[i])
			return true;
	return false;
}

static int put_block(struct sample_lane *l, struct block *b, uint64_t until, bool must)
{
	uint64_t told = block_told(b);
	int r;

	b->codec = CODEC_SAMPLE;
	b->stream = l->stream;
	b->sequence = l->next_sequence;
	b->before = l->count + told;
	b->ticks = until - (b->flags & BLOCK_KEY ? b->first_tick : l->until);
	r = l->out->put(l->out, b, payload_of(l), must);
	if (r < 0)
		return r;
	l->next_sequence++;
	l->count = b->before + b->events;
	l->until = until;
	l->segment_bytes = (b->flags & BLOCK_KEY ? 0 : l->segment_bytes) + b->payload_len;
	l->is_key = l->segment_bytes >= SAMPLE_LANE_SEGMENT;
	return 0;
}

/* A block without records, only to tell, until then: known numbers, or those that nobody knows. A key block makes the model
 * new, so the next one must be one again. */
static int put_losses(struct sample_lane *l, bool known, uint64_t until)
{
	bool is_key = l->is_key;
	struct block b = { .flags = is_key ? BLOCK_KEY : 0, .first_tick = l->until };
	uint32_t i;
	int r;

	for (i = 0; i < LOSS_CAUSES; i++) {
		if (known)
			b.lost[i] = l->pending[i];
		else if (l->unknown & 1U << i)
			b.lost[i] = LOSS_UNKNOWN;
	}
	if (is_key) {
		sample_encoder_init(&l->encoder);
		sample_encoder_begin(&l->encoder, payload_of(l), SAMPLE_LANE_ROOM, l->until);
		b.payload_len = sample_encoder_end(&l->encoder);
	}
	r = put_block(l, &b, until > l->until ? until : l->until, true);
	if (r < 0)
		return r;
	l->is_key |= is_key;
	if (known)
		memset(l->pending, 0, sizeof(l->pending));
	else
		l->unknown = 0;
	return 0;
}

static void lose(struct sample_lane *l, enum loss_cause cause, uint64_t count)
{
	if (count == LOSS_UNKNOWN) {
		l->unknown |= 1U << cause;
		return;
	}
	l->pending[cause] += count;
	l->lost[cause] += count;
}

static int end_block(struct sample_lane *l)
{
	struct block b = { .flags = l->is_key ? BLOCK_KEY : 0, .first_tick = l->first_tick };
	uint32_t i;
	int r;

	if (!l->is_open)
		return 0;
	l->is_open = false;
	b.events = l->encoder.events;
	b.payload_len = sample_encoder_end(&l->encoder);
	for (i = 0; i < LOSS_CAUSES; i++)
		b.lost[i] = l->unknown & 1U << i ? LOSS_UNKNOWN : l->pending[i];
	r = put_block(l, &b, l->block_until, false);
	if (!r) {
		memset(l->pending, 0, sizeof(l->pending));
		l->unknown = 0;
		return 0;
	}
	/* The decoder will never see what the encoder has learned here. */
	lose(l, l->out->cause, b.events);
	l->is_key = true;
	return r;
}

/* One header cannot tell of the same cause that so many are missing and some more; then two do. 0, or < 0. */
static int tell_losses(struct sample_lane *l, uint64_t until)
{
	int r = has_known(l) ? put_losses(l, true, until) : 0;

	return r == 0 && l->unknown ? put_losses(l, false, until) : r;
}

/* The header of a KEY block says when a loss ended. Before another, blocks without records do. */
static bool begin_block(struct sample_lane *l, uint64_t tick, uint64_t now_ms)
{
	if ((!l->is_key || (l->unknown && has_known(l))) && tell_losses(l, tick) < 0)
		return false;
	if (l->is_key)
		sample_encoder_init(&l->encoder);
	sample_encoder_begin(&l->encoder, payload_of(l), SAMPLE_LANE_ROOM, tick);
	l->first_tick = tick;
	l->block_until = tick;
	l->since_ms = now_ms;
	l->is_open = true;
	return true;
}

void sample_lane_init(struct sample_lane *l, struct block_out *out, uint32_t cpu)
{
	memset(l, 0, sizeof(*l));
	l->out = out;
	l->stream = STREAM_SAMPLE(cpu);
	l->is_key = true;
}

void sample_lane_put(struct sample_lane *l, struct sample_event *ev, uint64_t now_ms)
{
	uint64_t least = l->is_open ? l->block_until : l->until;
	enum wire_status status = WIRE_FULL;
	int tries;

	if (ev->tick < least)
		ev->tick = least;
	for (tries = 0; tries < 2 && status == WIRE_FULL; tries++) {
		if (!l->is_open && !begin_block(l, ev->tick, now_ms))
			break;
		status = sample_encode(&l->encoder, ev);
		if (status == WIRE_FULL)
			end_block(l);
	}
	if (status != WIRE_OK) {
		end_block(l);
		lose(l, l->out->cause, 1);
		return;
	}
	l->block_until = ev->tick;
	if (l->encoder.rc.pos >= SAMPLE_LANE_BLOCK || l->encoder.events == BLOCK_EVENTS_MAX)
		end_block(l);
}

void sample_lane_lose(struct sample_lane *l, enum loss_cause cause, uint64_t count)
{
	if (!count)
		return;
	end_block(l);
	lose(l, cause, count);
}

void sample_lane_flush(struct sample_lane *l, uint64_t now_ms)
{
	if (l->is_open && now_ms - l->since_ms >= SAMPLE_LANE_FLUSH_MS)
		end_block(l);
}

int sample_lane_stop(struct sample_lane *l, uint64_t tick)
{
	int r = end_block(l), failed = tell_losses(l, tick);

	return r < 0 ? r : failed;
}
