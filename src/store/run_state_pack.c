/* SPDX-License-Identifier: MIT */
/*
 * run_state_pack: a run's state as bytes (docs/format/store.md, section 4): in the RUN records of
 * the log, in its indexes, and in memory for runs that are at rest.
 */
#include <errno.h>

#include "store/array.h"
#include "store/run_state.h"
#include "wire/varint.h"

enum state_flag {
	STATE_ENDED = 1,
	STATE_CLOSED = 2,
	STATE_TICK = 4,
	STATE_CLOCK = 8,
	STATE_GUESTS = 16,
	STATE_DOUBT = 32,
	STATE_HIT = 64,
};

enum stream_flag {
	STREAM_STARTED = 1,
	STREAM_GAP = 2,
	STREAM_DOUBT = 4,
	STREAM_SINCE = 8, /* when the gap began is there; states of older releases lack it */
};

static uint8_t *put_stream(uint8_t *p, const struct stream_state *t, uint32_t last)
{
	uint32_t causes = 0, i;

	for (i = 0; i < LOSS_CAUSES; i++)
		causes |= (uint32_t)(t->lost[i] ? 1U << i : 0);
	p = varint_put(p, t->stream - last);
	p = varint_put(p, (t->started ? STREAM_STARTED : 0U) |
				  (t->gap ? STREAM_GAP | STREAM_SINCE : 0U) |
				  (t->doubt ? STREAM_DOUBT : 0U));
	p = varint_put(p, t->next_sequence);
	p = varint_put(p, t->seen);
	p = varint_put(p, t->pending);
	p = varint_put(p, t->until);
	p = varint_put(p, t->blocks);
	p = varint_put(p, t->events);
	p = varint_put(p, t->bytes);
	p = varint_put(p, causes);
	for (i = 0; i < LOSS_CAUSES; i++)
		if (t->lost[i])
			p = varint_put(p, t->lost[i]);
	p = varint_put(p, t->unknown);
	return t->gap ? varint_put(p, t->since) : p;
}

size_t run_state_encode(const struct run_state *s, uint8_t *out)
{
	uint8_t *p = out;
	uint32_t last = 0;
	size_t i;

	p = varint_put(p, (s->ended ? STATE_ENDED : 0U) | (s->closed ? STATE_CLOSED : 0U) |
				  (s->has_tick ? STATE_TICK : 0U) |
				  (s->has_clock ? STATE_CLOCK : 0U) |
				  (s->has_guests ? STATE_GUESTS : 0U) |
				  (s->doubt ? STATE_DOUBT : 0U) | (s->hit ? STATE_HIT : 0U));
	p = varint_put(p, s->unknown);
	p = varint_put(p, s->first_ns);
	p = varint_put(p, s->last_ns - s->first_ns);
	if (s->has_tick) {
		p = varint_put(p, s->first_tick);
		p = varint_put(p, s->last_tick);
	}
	if (s->has_clock) {
		p = varint_put(p, s->clock.device_ns);
		p = varint_put_signed(p, s->clock.off_ns);
		p = varint_put(p, s->clock.err_ns);
	}
	p = varint_put(p, s->n);
	for (i = 0; i < s->n; i++) {
		p = put_stream(p, &s->streams[i], last);
		last = s->streams[i].stream;
	}
	return (size_t)(p - out);
}

static int get_stream(struct byte_reader *r, struct run_state *s, uint32_t last)
{
	struct stream_state t = { 0 };
	uint64_t stream, flags, causes, unknown;
	bool counted = true;
	uint32_t i;
	int ret;

	stream = last + reader_varint(r);
	flags = reader_varint(r);
	t.next_sequence = reader_varint(r);
	t.seen = reader_varint(r);
	t.pending = reader_varint(r);
	t.until = reader_varint(r);
	t.blocks = reader_varint(r);
	t.events = reader_varint(r);
	t.bytes = reader_varint(r);
	causes = reader_varint(r);
	for (i = 0; i < LOSS_CAUSES; i++)
		if (causes >> i & 1) {
			t.lost[i] = reader_varint(r);
			counted &= t.lost[i] != LOSS_UNKNOWN; /* the bits say so, no sum does */
		}
	unknown = reader_varint(r);
	t.since = flags & STREAM_SINCE ? reader_varint(r) : t.until;
	if (r->bad || !run_state_is_stream(stream) || (s->n && stream <= last) || !counted ||
	    causes >> LOSS_CAUSES || unknown >> LOSS_CAUSES)
		return -EBADMSG;
	t.stream = (uint32_t)stream;
	t.started = flags & STREAM_STARTED;
	t.gap = flags & STREAM_GAP;
	t.doubt = flags & STREAM_DOUBT;
	t.unknown = (uint8_t)unknown;
	ret = array_grow(&s->streams, s->n, &s->room, sizeof(*s->streams), RUN_STATE_STREAMS_MAX);
	if (ret == 0)
		s->streams[s->n++] = t;
	return ret;
}

/* The totals are the sums over the streams, so they are not among the bytes. */
static void count_totals(struct run_state *s)
{
	struct run_totals *t = &s->totals;
	size_t i, k;

	t->streams = (uint32_t)s->n;
	t->unknown = s->unknown;
	for (i = 0; i < s->n; i++) {
		t->blocks += s->streams[i].blocks;
		t->events += s->streams[i].events;
		t->bytes += s->streams[i].bytes;
		t->unknown |= s->streams[i].unknown;
		t->gaps += s->streams[i].gap;
		for (k = 0; k < LOSS_CAUSES; k++)
			if (s->streams[i].lost[k] > LOSS_UNKNOWN - 1 - t->lost[k])
				t->unknown |= (uint8_t)(1U << k);
			else
				t->lost[k] += s->streams[i].lost[k];
	}
}

static int decode(struct run_state *s, struct byte_reader *r)
{
	uint64_t flags = reader_varint(r), unknown = reader_varint(r), n, i;
	int ret = 0;

	s->ended = flags & STATE_ENDED;
	s->closed = flags & STATE_CLOSED;
	s->has_tick = flags & STATE_TICK;
	s->has_clock = flags & STATE_CLOCK;
	s->has_guests = flags & STATE_GUESTS;
	s->doubt = flags & STATE_DOUBT;
	s->hit = flags & STATE_HIT;
	s->unknown = (uint8_t)unknown;
	s->first_ns = reader_varint(r);
	s->last_ns = s->first_ns + reader_varint(r);
	if (s->has_tick) {
		s->first_tick = reader_varint(r);
		s->last_tick = reader_varint(r);
	}
	if (s->has_clock) {
		s->clock.device_ns = reader_varint(r);
		s->clock.off_ns = reader_signed(r);
		s->clock.err_ns = reader_varint(r);
	}
	n = reader_varint(r);
	if (r->bad || n > RUN_STATE_STREAMS_MAX || unknown >> LOSS_CAUSES)
		return -EBADMSG;
	for (i = 0; i < n && ret == 0; i++)
		ret = get_stream(r, s, s->n ? s->streams[s->n - 1].stream : 0);
	return ret;
}

int run_state_decode(struct run_state *ret, const uint8_t *in, size_t len)
{
	struct run_state s;
	struct byte_reader r;
	int error;

	run_state_init(&s);
	reader_init(&r, in, len);
	error = decode(&s, &r);
	if (error < 0) {
		run_state_done(&s);
		return error;
	}
	count_totals(&s);
	*ret = s;
	return 0;
}
