/* SPDX-License-Identifier: MIT */
/* run_state: see run_state.h. */
#include "store/run_state.h"

#include <errno.h>
#include <string.h>

#include "store/array.h"
#include "store/ksk.h"
#include "wire/meta.h"
#include "wire/sample_meta_decode.h"

#define DRIFT_PART 20000U /* 50 ppm */

void run_state_init(struct run_state *s)
{
	memset(s, 0, sizeof(*s));
}

void run_state_done(struct run_state *s)
{
	free(s->streams);
	run_state_init(s);
}

int run_state_dup(struct run_state *to, const struct run_state *from)
{
	*to = *from;
	to->streams = NULL;
	to->room = from->n;
	if (!from->n)
		return 0;
	to->streams = malloc(from->n * sizeof(*to->streams));
	if (!to->streams) {
		run_state_init(to);
		return -ENOMEM;
	}
	memcpy(to->streams, from->streams, from->n * sizeof(*to->streams));
	return 0;
}

static size_t place_of(const struct run_state *s, uint32_t stream)
{
	size_t lo = 0, hi = s->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->streams[mid].stream < stream)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct stream_state *run_state_stream(const struct run_state *s, uint32_t stream)
{
	size_t at = place_of(s, stream);

	return at < s->n && s->streams[at].stream == stream ? &s->streams[at] : NULL;
}

static int get_stream(struct run_state *s, uint32_t stream, struct stream_state **ret)
{
	size_t at = place_of(s, stream);
	int r;

	if (at == s->n || s->streams[at].stream != stream) {
		r = array_grow(&s->streams, s->n, &s->room, sizeof(*s->streams),
			       RUN_STATE_STREAMS_MAX);
		if (r < 0)
			return r;
		memmove(s->streams + at + 1, s->streams + at, (s->n - at) * sizeof(*s->streams));
		s->streams[at] = (struct stream_state){ .stream = stream };
		s->n++;
		s->totals.streams = (uint32_t)s->n;
	}
	*ret = &s->streams[at];
	return 0;
}

/* A sum that would become the mark of the unknown is unknown. */
static bool add_count(uint64_t *sum, uint64_t count)
{
	if (count > LOSS_UNKNOWN - 1 - *sum)
		return false;
	*sum += count;
	return true;
}

static void add_loss(struct run_state *s, struct stream_state *t, const struct store_loss *row,
		     const struct run_losses *losses)
{
	if (!add_count(&t->lost[row->cause], row->count))
		t->unknown |= (uint8_t)(1U << row->cause);
	if (!add_count(&s->totals.lost[row->cause], row->count))
		s->totals.unknown |= (uint8_t)(1U << row->cause);
	if (losses)
		losses->add(losses->context, row);
}

static void set_gap(struct run_state *s, struct stream_state *t, bool gap)
{
	if (gap && !t->gap) {
		s->totals.gaps++;
		t->since = t->until;
	}
	if (!gap && t->gap)
		s->totals.gaps--;
	t->gap = gap;
}

/* --- blocks --- */

/* Counts that no stream can reach are lies, and would wrap. */
static bool is_countable(const struct stream_state *t, const struct block *b)
{
	uint64_t sum = t ? t->seen : 0;
	uint32_t i;

	if (!add_count(&sum, t ? t->pending : 0) || !add_count(&sum, b->events))
		return false;
	for (i = 0; i < LOSS_CAUSES; i++)
		if (b->lost[i] != LOSS_UNKNOWN && !add_count(&sum, b->lost[i]))
			return false;
	return !(b->flags & BLOCK_KEY) || b->before < LOSS_UNKNOWN - b->events;
}

static int check_key(const struct stream_state *t, const struct block *b, struct error *e)
{
	uint64_t told = block_told(b), has = t ? t->seen + t->pending : 0;

	if (b->before < told || b->before - told < has)
		return error_set(e, EPROTO,
				 "stream %u, block %llu: %llu events before it, but %llu are known",
				 b->stream, (unsigned long long)b->sequence,
				 (unsigned long long)b->before, (unsigned long long)(has + told));
	return STORE_TAKEN;
}

int run_state_check(const struct run_state *s, const struct block *b, struct error *e)
{
	const struct stream_state *t = run_state_stream(s, b->stream);

	if (!run_state_is_stream(b->stream))
		return error_set(e, EPROTO, "stream %u: it is of no CPU and no thread", b->stream);
	if (!t && s->n >= RUN_STATE_STREAMS_MAX)
		return error_set(e, EPROTO, "stream %u: the run has %u others", b->stream,
				 RUN_STATE_STREAMS_MAX);
	if (t && b->sequence < t->next_sequence)
		return STORE_DUPLICATE;
	if (s->ended)
		return error_set(e, EPROTO, "stream %u, block %llu: the run has ended", b->stream,
				 (unsigned long long)b->sequence);
	if (b->codec == CODEC_INDEX || b->sequence == UINT64_MAX || !is_countable(t, b))
		return error_set(e, EPROTO, "stream %u: a block that no device makes", b->stream);
	return b->flags & BLOCK_KEY ? check_key(t, b, e) : STORE_TAKEN;
}

/* The stream goes on, or its END says what it had; the last one ends the run's doubt. */
static void settle_doubt(struct run_state *s, struct stream_state *t)
{
	size_t i;

	if (!s->doubt || t->stream == STREAM_META)
		return;
	t->doubt = false;
	for (i = 0; i < s->n; i++)
		if (s->streams[i].doubt)
			return;
	s->doubt = false;
}

/* Why blocks before this one are missing. */
static uint8_t gap_cause(const struct run_state *s, const struct stream_state *t)
{
	return t->doubt || (s->hit && !t->started) ? LOSS_DAMAGE : LOSS_SPOOL;
}

/* Where what is missing before a block began: behind the last block that could be decoded. */
static uint64_t loss_begin(const struct stream_state *t)
{
	return t->gap ? t->since : t->until;
}

/* ... and where it ended: at the first event of the block. A header has its tick with KEY alone. A block without
 * events ends where the loss ended (wire.md, 3.5). Of a block that has events and is no KEY, as older devices
 * sent them, only its end is known, which is behind its first event. */
static uint64_t loss_end(const struct stream_state *t, const struct block *b)
{
	uint64_t until = ksk_until(t->until, b);

	if (!(b->flags & BLOCK_KEY) || !b->events)
		return until;
	return b->first_tick > t->until ? b->first_tick : t->until;
}

/* The losses that its header tells, and those that its `before` shows. */
static void take_losses(struct run_state *s, struct stream_state *t, const struct block *b,
			const struct run_losses *losses)
{
	struct store_loss row = { .stream = b->stream,
				  .from_tick = loss_begin(t),
				  .to_tick = loss_end(t, b) };
	uint64_t told = block_told(b);
	bool key = b->flags & BLOCK_KEY;
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++) {
		row.cause = (uint8_t)i;
		row.count = b->lost[i];
		if (row.count)
			add_loss(s, t, &row, losses);
	}
	if (key && b->before - told > t->seen) {
		row.cause = gap_cause(s, t);
		row.count = b->before - told - t->seen;
		add_loss(s, t, &row, losses);
	}
}

static void take_ticks(struct run_state *s, struct stream_state *t, const struct block *b)
{
	uint64_t from = b->flags & BLOCK_KEY ? b->first_tick : t->until;

	t->until = ksk_until(t->until, b);
	/* Threads have a clock of their own. */
	if (!b->events || b->codec == CODEC_META || stream_is_func(b->stream))
		return;
	if (!s->has_tick || from < s->first_tick)
		s->first_tick = from;
	if (!s->has_tick || t->until > s->last_tick)
		s->last_tick = t->until;
	s->has_tick = true;
}

/* Of all that a run says of itself, what kind of a profile it is; readers have the rest. */
static void take_description(struct run_state *s, const struct block *b)
{
	struct sample_sampling sampling;
	struct meta_reader r;

	if (b->codec != CODEC_META || !b->payload)
		return;
	meta_reader_init(&r, b->payload, b->payload_len);
	while (meta_reader_next(&r) == WIRE_OK)
		if (r.type == META_SAMPLING && sample_meta_get_sampling(&r.item, &sampling))
			s->has_guests |= sample_sampling_has_guests(&sampling);
}

static void take_time(struct run_state *s, uint64_t now_ns)
{
	if (!s->first_ns)
		s->first_ns = now_ns;
	if (now_ns > s->last_ns)
		s->last_ns = now_ns;
}

int run_state_take(struct run_state *s, const struct block *b, uint64_t now_ns,
		   const struct run_losses *losses)
{
	struct stream_state *t;
	int r = get_stream(s, b->stream, &t);

	if (r < 0)
		return r;
	take_losses(s, t, b, losses);
	if (b->flags & BLOCK_KEY) {
		t->seen = b->before;
		t->pending = 0;
		set_gap(s, t, false);
	} else {
		t->seen += block_told(b);
		if (!t->started || b->sequence != t->next_sequence)
			set_gap(s, t, true);
	}
	if (!t->gap)
		settle_doubt(s, t);
	if (t->gap) {
		t->pending += b->events;
	} else {
		t->seen += b->events;
		t->events += b->events;
		s->totals.events += b->events;
	}
	take_ticks(s, t, b);
	take_description(s, b);
	take_time(s, now_ns);
	t->started = true;
	t->next_sequence = b->sequence + 1;
	t->blocks++;
	t->bytes += b->len;
	s->totals.blocks++;
	s->totals.bytes += b->len;
	return 0;
}

/* --- the end --- */

/* A message names no streams but those that a run can have. */
int run_state_check_end(const struct run_state *s, const struct message_end *m, struct error *e)
{
	struct message_end rows = *m;
	struct message_stream_end row;
	size_t n = s->n;

	if (s->ended)
		return STORE_DUPLICATE;
	while (end_next(&rows, &row)) {
		const struct stream_state *t = run_state_stream(s, row.stream);

		if (!t && ++n > RUN_STATE_STREAMS_MAX)
			return error_set(e, EPROTO,
					 "the run's end: stream %u: the run has %u others",
					 row.stream, RUN_STATE_STREAMS_MAX);
		if (t &&
		    (row.next_sequence < t->next_sequence || row.events < t->seen + t->pending))
			return error_set(e, EPROTO,
					 "the run's end: stream %u ends with %llu events in %llu "
					 "blocks, but has more already",
					 row.stream, (unsigned long long)row.events,
					 (unsigned long long)row.next_sequence);
	}
	return STORE_TAKEN;
}

/* How far the run goes, as far as its streams with the same clock tell: threads have one of their own. */
static uint64_t last_until(const struct run_state *s, const struct stream_state *of)
{
	uint64_t last = of->until;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (stream_is_func(s->streams[i].stream) == stream_is_func(of->stream) &&
		    s->streams[i].until > last)
			last = s->streams[i].until;
	return last;
}

int run_state_end(struct run_state *s, const struct message_end *m, uint64_t now_ns,
		  const struct run_losses *losses)
{
	struct message_end rows = *m;
	struct message_stream_end row;
	struct stream_state *t;
	size_t i;
	int r;

	while (end_next(&rows, &row)) { /* what can fail comes first */
		r = get_stream(s, row.stream, &t);
		if (r < 0)
			return r;
	}
	rows = *m;
	while (end_next(&rows, &row)) {
		struct store_loss loss = { .stream = row.stream, .cause = LOSS_SPOOL };

		get_stream(s, row.stream, &t);
		loss.from_tick = loss_begin(t);
		loss.to_tick = last_until(s, t);
		if (row.events < t->seen || row.next_sequence < t->next_sequence)
			continue; /* a second row for the same stream */
		loss.cause = gap_cause(s, t);
		loss.count = row.events - t->seen;
		if (loss.count)
			add_loss(s, t, &loss, losses);
		t->seen = row.events;
		t->pending = 0;
		t->next_sequence = row.next_sequence;
		set_gap(s, t, false);
	}
	for (i = 0; i < s->n; i++)
		s->streams[i].doubt = false;
	s->doubt = false;
	take_time(s, now_ns);
	s->ended = true;
	return 0;
}

void run_state_close(struct run_state *s, const struct run_losses *losses)
{
	struct store_loss row = { .stream = STREAM_META,
				  .cause = LOSS_RING,
				  .from_tick = s->last_tick,
				  .to_tick = s->last_tick,
				  .count = LOSS_UNKNOWN };

	if (s->closed || s->ended)
		return;
	s->closed = true;
	s->unknown |= 1U << LOSS_RING;
	s->totals.unknown |= 1U << LOSS_RING;
	if (losses)
		losses->add(losses->context, &row);
}

void run_state_damage(struct run_state *s)
{
	size_t i;

	if (s->ended)
		return;
	s->doubt = s->hit = true;
	for (i = 0; i < s->n; i++)
		s->streams[i].doubt = s->streams[i].stream != STREAM_META;
}

/* --- the clock --- */

bool run_state_is_better_clock(const struct run_state *s, const struct store_clock *c)
{
	uint64_t drift;

	if (!s->has_clock)
		return true;
	drift = c->device_ns > s->clock.device_ns ? (c->device_ns - s->clock.device_ns) / DRIFT_PART
						  : 0;
	return c->err_ns < s->clock.err_ns || c->err_ns - s->clock.err_ns < drift;
}

void run_state_set_clock(struct run_state *s, const struct store_clock *c)
{
	s->has_clock = true;
	s->clock = *c;
}

/* --- rows --- */

static void list_doubt(const struct run_state *s, const struct run_losses *losses)
{
	struct store_loss row = { .stream = STREAM_META,
				  .cause = LOSS_DAMAGE,
				  .from_tick = s->last_tick,
				  .to_tick = s->last_tick,
				  .count = LOSS_UNKNOWN };
	bool told = false;
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (!s->streams[i].doubt || s->streams[i].gap) /* a gap is told as one */
			continue;
		row.stream = s->streams[i].stream;
		row.from_tick = s->streams[i].until;
		row.to_tick = last_until(s, &s->streams[i]);
		losses->add(losses->context, &row);
		told = true;
	}
	row.stream = STREAM_META;
	row.from_tick = row.to_tick = s->last_tick;
	if (s->doubt && !told)
		losses->add(losses->context, &row);
}

void run_state_list_open(const struct run_state *s, const struct run_losses *losses)
{
	size_t i;

	list_doubt(s, losses);

	for (i = 0; i < s->n; i++) {
		const struct stream_state *t = &s->streams[i];
		const struct store_loss row = { .stream = t->stream,
						.cause = gap_cause(s, t),
						.from_tick = t->since,
						.to_tick = last_until(s, t),
						.count = LOSS_UNKNOWN };

		if (t->gap)
			losses->add(losses->context, &row);
	}
}

static void list_stream(const struct run_state *s, const struct stream_state *t,
			const struct run_losses *losses)
{
	struct store_loss row = { .stream = t->stream,
				  .from_tick = s->first_tick,
				  .to_tick = t->until };

	for (row.cause = 0; row.cause < LOSS_CAUSES; row.cause++) {
		row.count = t->lost[row.cause];
		if (row.count)
			losses->add(losses->context, &row);
		row.count = LOSS_UNKNOWN;
		if (t->unknown >> row.cause & 1)
			losses->add(losses->context, &row);
	}
	row.cause = LOSS_STORE;
	row.count = t->events;
	if (row.count)
		losses->add(losses->context, &row);
}

void run_state_list_sums(const struct run_state *s, const struct run_losses *losses)
{
	const struct store_loss whole = { .stream = STREAM_META,
					  .cause = LOSS_RING,
					  .from_tick = s->last_tick,
					  .to_tick = s->last_tick,
					  .count = LOSS_UNKNOWN };
	size_t i;

	for (i = 0; i < s->n; i++)
		list_stream(s, &s->streams[i], losses);
	if (s->unknown >> LOSS_RING & 1)
		losses->add(losses->context, &whole);
}
