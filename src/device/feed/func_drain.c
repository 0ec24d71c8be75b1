/* SPDX-License-Identifier: MIT */
/* func_drain: see func_drain.h. */
#include "device/feed/func_drain.h"

#include <errno.h>
#include <string.h>

#include "wire/func_encode.h"
#include "wire/func_hook_decode.h"

#define PIECE (64U << 10) /* of a chunk, read at once */

_Static_assert(FUNC_DRAIN_BLOCK >= 2 * (FUNC_BEGIN_ROOM + FUNC_EVENT_ROOM), "room for events");
_Static_assert(PIECE >= FUNC_HOOK_BEGIN_ROOM + FUNC_HOOK_ROOM, "room for a segment's start");

struct func_drain {
	struct func_run *run; /* borrowed */
	uint64_t spent;	      /* bytes, in this turn */

	/* the job at hand */
	const struct func_drain_job *job;
	uint64_t told;	/* events of the stream before the next, told or in the open block */
	uint32_t given; /* chunks before this one were given back */
	uint32_t at;	/* the chunk that is read */

	/* the chunk */
	struct byte_reader bytes;
	uint32_t copied; /* of it */
	uint64_t skip;	 /* events that were told already */

	/* the block */
	bool is_ready; /* the encoder knows what is open */
	bool is_open;
	uint32_t events;
	uint64_t first_tick, until;
	uint64_t lost[LOSS_CAUSES];

	struct func_hook_decoder decoder;
	struct func_encoder encoder;
	uint8_t piece[PIECE];
	uint8_t block[BLOCK_HEADER_MAX + FUNC_DRAIN_BLOCK];
};

int func_drain_new(struct func_drain **ret, struct func_run *run, struct error *e)
{
	struct func_drain *d = calloc(1, sizeof(*d));

	if (!d)
		return error_set(e, ENOMEM, "cannot trace programs: out of memory");
	d->run = run;
	*ret = d;
	return 0;
}

void func_drain_free(struct func_drain *d)
{
	free(d);
}

size_t func_drain_memory(void)
{
	return sizeof(struct func_drain);
}

void func_drain_begin(struct func_drain *d)
{
	d->spent = 0;
}

bool func_drain_is_spent(const struct func_drain *d)
{
	return d->spent >= FUNC_DRAIN_BUDGET;
}

uint64_t func_drain_told(const struct func_drain *d, const struct func_drain_thread *t)
{
	struct func_run_place place;

	func_run_get_place(d->run, t->row, FUNC_LANE_CALLS, &place);
	return t->base + place.count;
}

/* All of it was read before. */
static bool is_read(const struct func_drain_thread *t, const struct func_traced_chunk *c)
{
	return t->has_read &&
	       (c->sequence < t->sequence || (c->sequence == t->sequence && c->used <= t->used));
}

uint64_t func_drain_pending(const struct func_drain_job *j, bool *ret_due)
{
	const struct func_drain_thread *t = j->thread;
	uint64_t pending = 0;
	uint32_t i;

	*ret_due = false;
	for (i = 0; i < j->n; i++) {
		const struct func_traced_chunk *c = &j->chunks[i];
		bool is_news = !is_read(t, c);

		/* With FUNC_FLIGHT they stay FULL. */
		if (c->state == FUNC_CHUNK_FULL && (is_news || j->traced->policy != FUNC_FLIGHT))
			*ret_due = true;
		if (is_news)
			pending +=
				c->used - (t->has_read && c->sequence == t->sequence ? t->used : 0);
	}
	return pending;
}

/* --- blocks --- */

/* What blocks in the spool tell of goes back to the program. */
static void give_back(struct func_drain *d)
{
	const struct func_drain_job *j = d->job;

	for (; d->given < d->at; d->given++)
		if (j->chunks[d->given].state == FUNC_CHUNK_FULL)
			func_traced_give_back(j->traced, &j->chunks[d->given]);
}

static int put_block(struct func_drain *d, uint32_t payload_len)
{
	struct func_run_block b = { .row = d->job->thread->row,
				    .lane = FUNC_LANE_CALLS,
				    .payload = d->block + BLOCK_HEADER_MAX,
				    .until = d->until };
	int r;

	b.block.events = d->events;
	b.block.first_tick = d->first_tick;
	b.block.payload_len = payload_len;
	memcpy(b.block.lost, d->lost, sizeof(b.block.lost));
	r = func_run_put(d->run, &b);
	d->is_open = d->is_ready = false;
	d->events = 0;
	memset(d->lost, 0, sizeof(d->lost));
	if (r >= 0)
		give_back(d);
	return r;
}

/* The block that is open is complete. */
static int flush(struct func_drain *d)
{
	return d->is_open ? put_block(d, func_encoder_end(&d->encoder)) : 0;
}

static void open_block(struct func_drain *d, uint64_t tick)
{
	func_encoder_begin(&d->encoder, d->block + BLOCK_HEADER_MAX, FUNC_DRAIN_BLOCK, tick);
	d->is_open = d->is_ready = true;
	d->first_tick = d->until = tick;
}

/* Another block, with the calls that are open now. */
static int split(struct func_drain *d, uint64_t tick)
{
	struct func_stack open = d->encoder.model.stack;
	int r = flush(d);

	if (r < 0)
		return r;
	func_encoder_init(&d->encoder, &open);
	open_block(d, tick);
	return 0;
}

static int put_event(struct func_drain *d, const struct func_event *ev)
{
	int r = 0;

	if (!d->is_open)
		open_block(d, ev->tick);
	else if (d->events >= FUNC_DRAIN_EVENTS)
		r = split(d, ev->tick);
	if (r >= 0 && func_encode(&d->encoder, ev) == WIRE_FULL) {
		r = split(d, ev->tick);
		if (r >= 0)
			func_encode(&d->encoder, ev); /* an empty block has room for it */
	}
	if (r < 0)
		return r;
	d->events++;
	d->told++;
	d->until = ev->tick > d->until ? ev->tick : d->until;
	return 0;
}

/* --- chunks --- */

/* Behind what is left of the bytes. 1: there are more now; 0: that was all; -ESTALE. */
static int read_piece(struct func_drain *d, const struct func_traced_chunk *c)
{
	uint32_t left = (uint32_t)reader_left(&d->bytes), len = c->used - d->copied;
	int r;

	if (!len)
		return 0;
	if (left)
		memmove(d->piece, d->bytes.at, left);
	len = len < PIECE - left ? len : PIECE - left;
	r = func_traced_read(d->job->traced, c, d->copied, d->piece + left, len);
	if (r < 0)
		return r;
	d->copied += len;
	d->spent += len;
	reader_init(&d->bytes, d->piece, left + len);
	return len > 0;
}

/* The encoder would find the same calls open as the chunk says. */
static bool is_same_stack(const struct func_stack *a, const struct func_stack *b)
{
	uint32_t i;

	if (a->depth != b->depth || a->floor != b->floor)
		return false;
	for (i = a->floor; i != a->depth; i++)
		if (func_stack_get(a, i)->address != func_stack_get(b, i)->address)
			return false;
	return true;
}

/*
 * Heads are not read at one moment: a chunk may have been begun, filled and followed by another one
 * while the agent looked elsewhere. So what no count of the hook explains is believed to be missing
 * when it still is in the next turn. A program that takes chunks back would have taken this one by then.
 */
static bool is_doubtful(const struct func_drain *d, const struct func_traced_chunk *c)
{
	struct func_drain_thread *t = d->job->thread;

	if (c->before <= d->told || c->before - d->told <= c->lost || d->job->is_last ||
	    d->job->traced->policy == FUNC_FLIGHT || (t->has_doubt && t->doubt == c->sequence))
		return false;
	t->has_doubt = true;
	t->doubt = c->sequence;
	return true;
}

/* What is missing before the chunk: what the hook lost, and the rest of it. */
static void count_gap(struct func_drain *d, const struct func_traced_chunk *c)
{
	const struct func_drain_job *j = d->job;
	uint64_t gap = c->before - d->told, known = c->lost < gap ? c->lost : gap;
	enum loss_cause cause = LOSS_DAMAGE;

	if (j->traced->policy == FUNC_FLIGHT)
		cause = LOSS_RING;
	else if (j->thread->is_adopted)
		cause = LOSS_SPOOL;
	d->lost[LOSS_BUFFER] += known;
	d->lost[cause] += gap - known;
	d->told = c->before;
}

/* 1: its events can be read; 0: there are none; negative: not put, or stale. */
static int begin_chunk(struct func_drain *d, const struct func_traced_chunk *c)
{
	int r;

	d->copied = 0;
	reader_init(&d->bytes, d->piece, 0);
	if (!c->used)
		return 0;
	r = read_piece(d, c);
	if (r < 0)
		return r;
	if (func_hook_decode_begin(&d->decoder, &d->bytes, c->tick) != WIRE_OK) {
		d->job->thread->is_broken = true;
		return 0;
	}
	d->job->thread->is_broken = false; /* it says how much there was before */
	if (c->before > d->told ||
	    (d->is_open && !is_same_stack(&d->encoder.model.stack, &d->decoder.model.stack))) {
		r = flush(d);
		if (r < 0)
			return r;
	}
	if (c->before > d->told)
		count_gap(d, c);
	d->skip = d->told - c->before;
	d->is_ready = d->is_open;
	return 1;
}

/* The next event, over the end of a piece if need be. 1, 0: there is none, negative: stale. */
static int next_event(struct func_drain *d, const struct func_traced_chunk *c,
		      struct func_event *ret)
{
	enum wire_status status = func_hook_decode(&d->decoder, &d->bytes, ret);
	int r;

	while (status == WIRE_MORE) {
		r = read_piece(d, c);
		if (r <= 0) {
			d->job->thread->is_broken |= reader_left(&d->bytes) != 0;
			return r;
		}
		status = func_hook_decode(&d->decoder, &d->bytes, ret);
	}
	if (status != WIRE_OK)
		d->job->thread->is_broken = true;
	return status == WIRE_OK;
}

static int encode_chunk(struct func_drain *d, const struct func_traced_chunk *c)
{
	struct func_event ev;
	int r = begin_chunk(d, c);

	while (r > 0) {
		if (!d->is_ready && !d->skip) {
			func_encoder_init(&d->encoder, &d->decoder.model.stack);
			d->is_ready = true;
		}
		r = next_event(d, c, &ev);
		if (r <= 0)
			break;
		if (d->skip)
			d->skip--;
		else
			r = put_event(d, &ev) < 0 ? -ENOSPC : 1;
	}
	return r;
}

/* The chunk as it is, if all of it decodes. 1: it was put; 0: it has to be done the other way. */
static int put_as_is(struct func_drain *d, const struct func_traced_chunk *c)
{
	struct func_event ev;
	uint8_t *payload = d->block + BLOCK_HEADER_MAX;
	int r = flush(d);

	if (r >= 0)
		r = begin_chunk(d, c);
	if (r <= 0)
		return r;
	payload[0] = FUNC_STAGE_HOOK;
	memcpy(payload + 1, d->piece, c->used);
	d->first_tick = d->until = c->tick;
	while (func_hook_decode(&d->decoder, &d->bytes, &ev) == WIRE_OK) {
		d->until = ev.tick > d->until ? ev.tick : d->until;
		d->events++;
	}
	if (reader_left(&d->bytes) || !d->events) {
		d->events = 0;
		return 0;
	}
	d->told += d->events;
	r = put_block(d, c->used + 1);
	return r < 0 ? r : 1;
}

static bool can_go_as_is(const struct func_drain *d, const struct func_traced_chunk *c)
{
	return d->job->is_behind && c->state == FUNC_CHUNK_FULL && d->told <= c->before &&
	       c->used < FUNC_DRAIN_BLOCK && c->used <= PIECE;
}

static int drain_chunk(struct func_drain *d, const struct func_traced_chunk *c)
{
	struct func_drain_thread *t = d->job->thread;
	int r = 0;

	if (is_read(t, c))
		return 0;
	if (c->is_bad) {
		t->is_broken = true;
		return 0;
	}
	if (is_doubtful(d, c))
		return -ESTALE;
	if (can_go_as_is(d, c))
		r = put_as_is(d, c);
	if (r == 0)
		r = encode_chunk(d, c);
	return r < 0 ? r : 0;
}

static void begin_job(struct func_drain *d, const struct func_drain_job *j)
{
	d->job = j;
	d->told = func_drain_told(d, j->thread);
	d->given = d->at = 0;
	d->is_open = d->is_ready = false;
	d->events = 0;
	memset(d->lost, 0, sizeof(d->lost));
}

/* A block of no events, for losses that no event follows. */
static int put_lost(struct func_drain *d)
{
	struct func_run_place place;

	func_run_get_place(d->run, d->job->thread->row, FUNC_LANE_CALLS, &place);
	d->first_tick = d->until = place.until;
	return put_block(d, 0);
}

static bool has_lost(const struct func_drain *d)
{
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		if (d->lost[i])
			return true;
	return false;
}

/* Everything up to here is told. */
static void note_read(struct func_drain_thread *t, const struct func_traced_chunk *c)
{
	if (is_read(t, c))
		return;
	t->has_read = true;
	t->sequence = c->sequence;
	t->used = c->used;
}

int func_drain_put(struct func_drain *d, const struct func_drain_job *j)
{
	int r = 0, put;

	begin_job(d, j);
	for (; d->at < j->n && r >= 0; d->at++) {
		if (d->at && func_drain_is_spent(d))
			break;
		r = drain_chunk(d, &j->chunks[d->at]);
		if (r < 0)
			break;
	}
	if (r < 0 && r != -ESTALE)
		return r;
	put = flush(d);
	if (put >= 0 && has_lost(d)) /* and no event behind it yet */
		put = put_lost(d);
	if (put < 0)
		return put;
	give_back(d);
	if (d->at)
		note_read(j->thread, &j->chunks[d->at - 1]);
	return r == -ESTALE || (r == 0 && d->at < j->n) ? 1 : r;
}

/* --- what is missing at the end --- */

int func_drain_put_end(struct func_drain *d, const struct func_drain_job *j, uint64_t events,
		       uint64_t lost)
{
	uint64_t gap, known;

	begin_job(d, j);
	if (events + lost <= d->told)
		return 0;
	gap = events + lost - d->told;
	known = lost < gap ? lost : gap;
	d->lost[LOSS_BUFFER] = known;
	d->lost[LOSS_DAMAGE] = gap - known;
	j->thread->is_broken = false;
	return put_lost(d);
}

int func_drain_put_unknown(struct func_drain *d, const struct func_drain_job *j)
{
	begin_job(d, j);
	d->lost[LOSS_DAMAGE] = LOSS_UNKNOWN;
	j->thread->is_broken = false;
	return put_lost(d);
}
