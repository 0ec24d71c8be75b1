/* SPDX-License-Identifier: MIT */
/* fact_frontier: see fact_frontier.h. */
#include "facts/fact_frontier.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "facts/fact_set.h"
#include "wire/varint.h"

#define VERSION 1
#define IS_ENDED 1
#define HAS_OFF 2
#define SPAN_MAX (24U * 60) /* minutes of one block */
#define NS_PER_S 1000000000ULL

void fact_frontier_done(struct fact_frontier *f)
{
	free(f->streams);
	free(f->minutes);
	memset(f, 0, sizeof(*f));
}

/* --- its lists --- */

static int find_stream(struct fact_frontier *f, uint32_t stream, struct fact_frontier_stream **ret)
{
	size_t room = f->room_streams ? f->room_streams * 2 : 16, i = f->n_streams;
	struct fact_frontier_stream *list;

	while (i && f->streams[i - 1].stream > stream)
		i--;
	if (i && f->streams[i - 1].stream == stream) {
		*ret = &f->streams[i - 1];
		return 0;
	}
	if (f->n_streams == FACT_STREAMS_MAX)
		return -E2BIG;
	if (f->n_streams == f->room_streams) {
		list = realloc(f->streams, room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		f->streams = list;
		f->room_streams = room;
	}
	memmove(f->streams + i + 1, f->streams + i, (f->n_streams - i) * sizeof(*f->streams));
	f->n_streams++;
	f->streams[i] = (struct fact_frontier_stream){ .stream = stream };
	*ret = &f->streams[i];
	return 0;
}

int fact_frontier_want(struct fact_frontier *f, uint64_t minute_s)
{
	size_t room = f->room_minutes ? f->room_minutes * 2 : 16, i = f->n_minutes;
	uint64_t *list;

	while (i && f->minutes[i - 1] > minute_s)
		i--;
	if (i && f->minutes[i - 1] == minute_s)
		return 0;
	if (f->n_minutes == FACT_MINUTES_MAX)
		return -E2BIG;
	if (f->n_minutes == f->room_minutes) {
		list = realloc(f->minutes, room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		f->minutes = list;
		f->room_minutes = room;
	}
	memmove(f->minutes + i + 1, f->minutes + i, (f->n_minutes - i) * sizeof(*list));
	f->minutes[i] = minute_s;
	f->n_minutes++;
	return 0;
}

void fact_frontier_settle(struct fact_frontier *f, uint64_t minute_s)
{
	size_t i;

	for (i = 0; i < f->n_minutes && f->minutes[i] != minute_s; i++)
		;
	if (minute_s + FACT_MINUTE_S > f->done_to_s)
		f->done_to_s = minute_s + FACT_MINUTE_S;
	if (i == f->n_minutes)
		return;
	f->n_minutes--;
	memmove(f->minutes + i, f->minutes + i + 1, (f->n_minutes - i) * sizeof(*f->minutes));
}

/* --- what is new --- */

static uint64_t real_ns(const struct fact_frontier *f, const struct trace_clock *clock,
			uint64_t tick)
{
	/* Ticks are the device's to choose: what they add up to may be no time at all. */
	uint64_t ns = clock_ns(clock, tick) + (uint64_t)f->off_ns;

	return ns > INT64_MAX ? 0 : ns;
}

static int add_span(struct fact_frontier *f, const struct trace_clock *clock, uint64_t from_tick,
		    uint64_t to_tick)
{
	uint64_t minute = real_ns(f, clock, from_tick) / NS_PER_S / FACT_MINUTE_S;
	uint64_t last = real_ns(f, clock, to_tick) / NS_PER_S / FACT_MINUTE_S;
	int r = fact_frontier_want(f, last * FACT_MINUTE_S);

	/* No block is of so long a time; its ends are looked at, and that is enough. */
	if (last < minute || last - minute > SPAN_MAX)
		last = minute;
	for (; r >= 0 && minute <= last; minute++)
		r = fact_frontier_want(f, minute * FACT_MINUTE_S);
	return r;
}

int fact_frontier_want_ends(struct fact_frontier *f, const struct trace_clock *clock)
{
	size_t i;
	int r = 0;

	for (i = 0; i < f->n_streams && r >= 0; i++)
		r = add_span(f, clock, f->streams[i].tick, f->streams[i].tick);
	return r;
}

static int look_at(struct fact_frontier *f, struct block_reader *r, const struct trace_clock *clock,
		   uint32_t stream)
{
	struct fact_frontier_stream *s;
	uint64_t place = 0, tick = 0, at, from;
	struct block b;
	bool is_known = false; /* where the block begins */
	int rc = find_stream(f, stream, &s), got = 0;

	while (rc >= 0 && (got = r->ops->next(r, stream, &place, &b, &at)) == 1) {
		is_known = is_known || b.flags & BLOCK_KEY;
		from = b.flags & BLOCK_KEY ? b.first_tick : tick;
		tick = from + b.ticks;
		if (!is_known || b.sequence < s->sequence)
			continue;
		s->sequence = b.sequence + 1;
		s->tick = tick > s->tick ? tick : s->tick;
		if (b.events || b.flags & BLOCK_LOST)
			rc = add_span(f, clock, from, tick);
	}
	return rc < 0 ? rc : got;
}

uint64_t fact_frontier_from(const struct fact_frontier *f)
{
	uint64_t least = f->n_streams ? UINT64_MAX : 0;
	size_t i;

	for (i = 0; i < f->n_streams; i++)
		least = f->streams[i].tick < least ? f->streams[i].tick : least;
	return least;
}

int fact_frontier_look(struct fact_frontier *f, struct block_reader *r,
		       const struct trace_clock *clock)
{
	uint32_t from = STREAM_CPU(0), stream;
	int rc = 0;

	while (rc >= 0 && from < STREAM_FUNC_FIRST && r->ops->find(r, from, &stream)) {
		if (fact_frontier_follows(stream))
			rc = look_at(f, r, clock, stream);
		from = stream + 1;
	}
	return rc;
}

bool fact_frontier_span(const struct fact_frontier *f, const struct trace_clock *clock,
			uint64_t *ret_least_ns, uint64_t *ret_most_ns)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < f->n_streams; i++)
		most = f->streams[i].tick > most ? f->streams[i].tick : most;
	*ret_least_ns = real_ns(f, clock, fact_frontier_from(f));
	*ret_most_ns = real_ns(f, clock, most);
	return f->n_streams > 0;
}

/* --- as bytes --- */

int fact_frontier_encode(const struct fact_frontier *f, uint8_t **ret, size_t *ret_len)
{
	size_t room = (7 + 3 * f->n_streams + f->n_minutes) * VARINT_MAX, i;
	uint8_t *data = malloc(room), *out = data;
	uint64_t before = 0;

	if (!data)
		return -ENOMEM;
	*out++ = VERSION;
	*out++ = (uint8_t)((f->is_ended ? IS_ENDED : 0) | (f->has_off ? HAS_OFF : 0));
	out = varint_put(out, f->bytes);
	out = varint_put_signed(out, f->off_ns);
	out = varint_put(out, f->done_to_s);
	out = varint_put(out, f->n_streams);
	for (i = 0; i < f->n_streams; i++) {
		out = varint_put(out, f->streams[i].stream);
		out = varint_put(out, f->streams[i].sequence);
		out = varint_put(out, f->streams[i].tick);
	}
	out = varint_put(out, f->n_minutes);
	for (i = 0; i < f->n_minutes; i++) {
		out = varint_put(out, f->minutes[i] / FACT_MINUTE_S - before);
		before = f->minutes[i] / FACT_MINUTE_S;
	}
	*ret = data;
	*ret_len = (size_t)(out - data);
	return 0;
}

static void decode_head(struct fact_frontier *f, struct byte_reader *in)
{
	const uint8_t *flags = reader_bytes(in, 1);

	in->bad = in->bad || *flags & ~(IS_ENDED | HAS_OFF);
	f->is_ended = flags && *flags & IS_ENDED;
	f->has_off = flags && *flags & HAS_OFF;
	f->bytes = reader_varint(in);
	f->off_ns = reader_signed(in);
	f->done_to_s = reader_varint(in);
}

static int decode_streams(struct fact_frontier *f, struct byte_reader *in)
{
	uint64_t n = reader_varint(in), stream;
	struct fact_frontier_stream *s;
	int r;

	while (n-- && !in->bad) {
		stream = reader_varint(in);
		if (stream > UINT32_MAX)
			return -EBADMSG;
		r = find_stream(f, (uint32_t)stream, &s);
		if (r < 0)
			return r == -E2BIG ? -EBADMSG : r;
		s->sequence = reader_varint(in);
		s->tick = reader_varint(in);
	}
	return in->bad ? -EBADMSG : 0;
}

static int decode_minutes(struct fact_frontier *f, struct byte_reader *in)
{
	uint64_t n = reader_varint(in), minute = 0;
	int r;

	while (n-- && !in->bad) {
		minute += reader_varint(in);
		if (minute > UINT64_MAX / FACT_MINUTE_S)
			return -EBADMSG;
		r = fact_frontier_want(f, minute * FACT_MINUTE_S);
		if (r < 0)
			return r == -E2BIG ? -EBADMSG : r;
	}
	return in->bad || reader_left(in) ? -EBADMSG : 0;
}

int fact_frontier_decode(struct fact_frontier *f, const uint8_t *data, size_t len)
{
	struct byte_reader in;
	int r = -EBADMSG;

	fact_frontier_done(f);
	reader_init(&in, data, len);
	if (len && *in.at++ == VERSION) {
		decode_head(f, &in);
		r = in.bad ? -EBADMSG : decode_streams(f, &in);
	}
	if (r >= 0)
		r = decode_minutes(f, &in);
	if (r < 0)
		fact_frontier_done(f);
	return r;
}
