/* SPDX-License-Identifier: MIT */
/* stream_cursor: see stream_cursor.h. */
#include "trace/stream_cursor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/bsf_decode.h"
#include "wire/bsf_event.h"
#include "wire/sched_decode.h"

#define BATCH 256
#define LOSSES_MAX (2 * LOSS_CAUSES) /* between two events: of each cause, known and unknown */

/* The paper's codec decodes whole blocks, from the tail: they wait here. */
struct bsf_reader {
	struct bsf_context context;
	struct bsf_log log;
	size_t at;
	struct bsf_entry entries[BSF_BLOCK_RECORDS_MAX];
};

/* What decoding takes: 200 KiB that a stream of which nothing decodes does not need. */
struct stream_work {
	struct sched_decoder sched;
	struct trace_item batch[LOSSES_MAX + BATCH];
};

struct stream_cursor {
	struct block_reader *reader;
	struct block_stream about;
	const struct trace_info *info;
	uint32_t cpu;
	uint64_t place;
	bool held; /* it ends before `hold` */
	uint64_t hold;
	int error;

	bool broken;   /* nothing decodes until the next key block */
	bool gap;      /* blocks are missing of which no header is left */
	bool jumped;   /* the next block starts a segment somewhere in the stream */
	bool finished; /* the end is accounted for */
	uint64_t next_sequence;
	uint64_t last_at;   /* where the last block was, */
	uint64_t sound_at;  /* and the last one that could be decoded */
	uint64_t seen;	    /* events given or told as lost, as block.before counts them */
	uint64_t pending;   /* events since then in blocks that could not be decoded */
	uint64_t last_tick; /* of the last event given */

	uint8_t codec;		     /* of the current segment */
	bool fresh;		     /* nothing of it is decoded */
	uint64_t first_tick;	     /* of its key block */
	uint32_t left;		     /* its events yet to decode */
	uint64_t lost[LOSS_CAUSES];  /* to be told before the next event, */
	bool lost_some[LOSS_CAUSES]; /* and more, that nobody counted */

	const struct trace_item *items; /* losses, or work->batch */
	size_t at, n;
	struct trace_item losses[LOSSES_MAX];
	struct stream_totals totals;
	struct stream_work *work;
	struct bsf_reader *bsf;
};

int stream_cursor_new(struct stream_cursor **ret, struct block_reader *r, uint32_t cpu,
		      const struct trace_info *info)
{
	struct stream_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->reader = r;
	c->info = info;
	c->cpu = cpu;
	stream_cursor_seek(c, 0);
	*ret = c;
	return 0;
}

void stream_cursor_free(struct stream_cursor *c)
{
	if (!c)
		return;
	free(c->work);
	free(c->bsf);
	free(c);
}

void stream_cursor_seek(struct stream_cursor *c, uint64_t tick)
{
	struct block_start start = { 0 };

	c->reader->ops->stream(c->reader, STREAM_CPU(c->cpu), &c->about);
	c->error = 0;
	c->broken = true;
	c->gap = c->finished = false;
	c->pending = c->last_tick = c->last_at = c->sound_at = 0;
	c->left = 0;
	c->at = c->n = 0;
	memset(c->lost, 0, sizeof(c->lost));
	memset(c->lost_some, 0, sizeof(c->lost_some));
	memset(&c->totals, 0, sizeof(c->totals));
	c->place = c->reader->ops->seek(c->reader, STREAM_CPU(c->cpu), tick);
	c->jumped = c->place;
	if (!c->jumped) {
		c->reader->ops->start(c->reader, STREAM_CPU(c->cpu), &start);
		c->place = start.place;
	}
	c->next_sequence = start.sequence;
	c->seen = start.before;
}

void stream_cursor_refresh(struct stream_cursor *c)
{
	c->reader->ops->stream(c->reader, STREAM_CPU(c->cpu), &c->about);
}

/* A count beside an unknown one is still worth having. */
static void add_lost(struct stream_cursor *c, uint32_t cause, uint64_t count)
{
	if (count > LOSS_UNKNOWN - 1 - c->lost[cause])
		c->lost_some[cause] = true;
	else
		c->lost[cause] += count;
}

/* Why blocks before the one at this place are missing. */
static uint32_t gap_cause(const struct stream_cursor *c, uint64_t at)
{
	if (c->about.gap_cause != LOSS_DAMAGE && c->reader->ops->torn(c->reader, c->sound_at, at))
		return LOSS_DAMAGE;
	return c->totals.segments ? c->about.gap_cause : c->about.start_cause;
}

/* A key block ends what was broken, and knows how much that was. */
static void account_key(struct stream_cursor *c, const struct block *b, uint64_t at)
{
	if (!c->jumped && (int64_t)(b->before - c->seen) > 0)
		add_lost(c, gap_cause(c, at), b->before - c->seen);
	c->seen = b->before;
	c->pending = 0;
	c->broken = c->gap = c->jumped = false;
	c->totals.segments++;
}

/* Starts a block: its losses, and whether it has events that can be had. */
static bool take_block(struct stream_cursor *c, const struct block *b, uint64_t at)
{
	uint32_t i;

	if (!c->jumped && b->sequence < c->next_sequence) {
		/* Its events were given, or told as lost when blocks behind it came first. */
		c->reader->ops->note(c->reader, at, b->len,
				     "a block that came again or out of order");
		return false;
	}
	c->totals.blocks++;
	c->totals.bytes += b->len;
	c->totals.codec = b->codec;
	if (!c->jumped && b->sequence != c->next_sequence)
		c->broken = c->gap = true;
	c->next_sequence = b->sequence + 1;
	for (i = 0; i < LOSS_CAUSES; i++)
		add_lost(c, i, b->lost[i]);
	c->seen += block_told(b);
	if (b->flags & BLOCK_KEY)
		account_key(c, b, at);
	c->last_at = at;
	if (!b->payload || c->broken) {
		c->broken = true;
		c->pending += b->events;
		return false;
	}
	c->sound_at = at;
	c->seen += b->events;
	c->left = b->events;
	if (b->flags & BLOCK_KEY) {
		c->codec = b->codec;
		c->first_tick = b->first_tick;
		c->fresh = true;
	}
	return b->events;
}

/* The rest of the block cannot be decoded although its checksum is right: a wrong encoder. */
static void give_up(struct stream_cursor *c)
{
	c->broken = true;
	c->seen -= c->left;
	c->pending += c->left;
	c->left = 0;
}

/* -ENOMEM, or 0. */
static int begin_payload(struct stream_cursor *c, const struct block *b)
{
	struct bsf_reader *bsf;

	if (!c->work)
		c->work = malloc(sizeof(*c->work));
	if (!c->bsf && b->codec == CODEC_BSF)
		c->bsf = malloc(sizeof(*c->bsf));
	if (!c->work || (!c->bsf && b->codec == CODEC_BSF))
		return -ENOMEM;
	if (b->codec != c->codec) { /* it cannot lean on what another codec learned */
		give_up(c);
		return 0;
	}
	if (b->codec == CODEC_SCHED) {
		if (c->fresh)
			sched_decoder_init(&c->work->sched, c->cpu);
		sched_decoder_begin(&c->work->sched, b->payload, b->payload_len, c->first_tick);
		c->fresh = false;
		return 0;
	}
	if (b->codec != CODEC_BSF) {
		give_up(c);
		return 0;
	}
	bsf = c->bsf;
	bsf_context_init(&bsf->context, &c->info->dialect, c->cpu);
	bsf_log_init(&bsf->log, bsf->entries, BSF_BLOCK_RECORDS_MAX);
	bsf->at = 0;
	if (bsf_decode(&bsf->log, b->payload, b->payload_len) != WIRE_OK ||
	    bsf->log.count != b->events)
		give_up(c);
	return 0;
}

/* The name that a record cannot hold: from the records around it, else from the trace's tasks. */
static void name_other(struct stream_cursor *c, struct sched_event *ev)
{
	struct sched_task *t = ev->kind == SCHED_SWITCH ? &ev->other : &ev->task;
	const char *comm = bsf_next_comm(c->bsf->log.first, c->bsf->log.count, c->bsf->at);
	const struct trace_task *known;
	char idle[SCHED_COMM_LEN + 1];

	if (!comm && t->pid == 0) {
		/* Every CPU has its own, and nobody keeps a list of them. */
		snprintf(idle, sizeof(idle), "swapper/%u", c->cpu);
		comm = idle;
	} else if (!comm) {
		known = info_get_task(c->info, t->pid);
		comm = known ? known->comm : NULL;
	}
	if (comm)
		sched_comm_set(t->comm, comm, SCHED_COMM_LEN);
}

static bool decode_event(struct stream_cursor *c, struct sched_event *ret)
{
	if (c->codec == CODEC_SCHED)
		return sched_decode(&c->work->sched, ret) == WIRE_OK;
	bsf_to_event(&c->bsf->context, &c->bsf->log.first[c->bsf->at].rec, ret);
	name_other(c, ret);
	c->bsf->at++;
	return true;
}

static void put_loss(struct stream_cursor *c, struct trace_item *out, struct trace_loss loss)
{
	uint64_t *total = &c->totals.lost[loss.cause];

	out->type = ITEM_LOSS;
	out->cpu = c->cpu;
	out->loss = loss;
	if (loss.count > LOSS_UNKNOWN - 1 - *total)
		c->totals.lost_unknown[loss.cause] = true;
	else
		*total += loss.count;
}

/* Losses come before the events that follow them; `to` is the tick of the first of those. */
static size_t put_losses(struct stream_cursor *c, struct trace_item *out, uint64_t to)
{
	struct trace_loss loss = { .from_tick = c->last_tick,
				   .to_tick = to > c->last_tick ? to : c->last_tick };
	size_t n = 0;

	for (loss.cause = 0; loss.cause < LOSS_CAUSES; loss.cause++) {
		loss.count = c->lost[loss.cause];
		if (loss.count)
			put_loss(c, &out[n++], loss);
		loss.count = LOSS_UNKNOWN;
		if (c->lost_some[loss.cause])
			put_loss(c, &out[n++], loss);
	}
	memset(c->lost, 0, sizeof(c->lost));
	memset(c->lost_some, 0, sizeof(c->lost_some));
	return n;
}

/* Decodes up to a batch; it ends after an exec, whose file name lies in the decoder. */
static void decode_batch(struct stream_cursor *c)
{
	struct trace_item *events = c->work->batch + LOSSES_MAX;
	size_t n = 0, losses;
	bool more = true;

	while (c->left && n < BATCH && more) {
		events[n].type = ITEM_EVENT;
		events[n].cpu = c->cpu;
		if (!decode_event(c, &events[n].event)) {
			give_up(c);
			break;
		}
		c->left--;
		more = events[n].event.kind != SCHED_EXEC;
		n++;
	}
	if (!n)
		return;
	if (!c->totals.events)
		c->totals.first_tick = events[0].event.tick;
	losses = put_losses(c, c->losses, events[0].event.tick);
	memcpy(events - losses, c->losses, losses * sizeof(*events));
	c->items = c->work->batch;
	c->at = LOSSES_MAX - losses;
	c->n = LOSSES_MAX + n;
	c->totals.events += n;
	c->last_tick = events[n - 1].event.tick;
	if (c->last_tick > c->totals.last_tick)
		c->totals.last_tick = c->last_tick;
}

/* The stream ends: what was broken stays so. Without totals nobody knows what it had at its end:
 * damage behind its last block may have been its blocks. A cut is not of that kind: it ends the
 * file for all streams. */
static void finish(struct stream_cursor *c)
{
	c->at = c->n = 0;
	if (c->finished || c->about.goes_on)
		return;
	c->finished = true;
	if (c->about.counted) {
		if ((int64_t)(c->about.end - c->seen) > 0)
			add_lost(c, gap_cause(c, UINT64_MAX), c->about.end - c->seen);
	} else {
		add_lost(c, LOSS_DAMAGE, c->pending);
		if (c->gap || c->reader->ops->torn(c->reader, c->last_at + 1, UINT64_MAX))
			add_lost(c, LOSS_DAMAGE, LOSS_UNKNOWN);
	}
	free(c->work); /* a machine has many CPUs */
	c->work = NULL;
	c->items = c->losses;
	c->n = put_losses(c, c->losses, c->last_tick);
}

/* The index tells a stream's last block, so that nobody searches the rest of the file for more. */
static int next_block(struct stream_cursor *c, struct block *ret, uint64_t *ret_at)
{
	uint64_t place = c->place;
	int r;

	if (c->about.ends && !c->jumped && c->next_sequence == c->about.end_sequence)
		return 0;
	r = c->reader->ops->next(c->reader, STREAM_CPU(c->cpu), &place, ret, ret_at);
	if (r == 1 && c->held && *ret_at >= c->hold)
		return 0;
	c->place = place;
	return r;
}

/* -ENOMEM, or 0. */
static int fill(struct stream_cursor *c)
{
	struct block b;
	uint64_t at;
	int r;

	c->at = c->n = 0;
	while (c->n == 0) {
		if (c->left) {
			decode_batch(c);
			continue;
		}
		r = next_block(c, &b, &at);
		if (r < 0)
			return r;
		if (r == 0) {
			if (!c->held)
				finish(c);
			return 0;
		}
		if (take_block(c, &b, at)) {
			r = begin_payload(c, &b);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

const struct trace_item *stream_cursor_peek(struct stream_cursor *c)
{
	if (c->at == c->n && !c->error)
		c->error = fill(c);
	return c->at < c->n ? &c->items[c->at] : NULL;
}

int stream_cursor_error(const struct stream_cursor *c)
{
	return c->error;
}

void stream_cursor_pop(struct stream_cursor *c)
{
	c->at++;
}

void stream_cursor_hold(struct stream_cursor *c, uint64_t place)
{
	c->held = true;
	c->hold = place;
}

void stream_cursor_get_mark(const struct stream_cursor *c, struct stream_mark *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->place = c->place;
	ret->next_sequence = c->next_sequence;
	ret->seen = c->seen;
	ret->pending = c->pending;
	ret->last_tick = c->last_tick;
	ret->gap = c->gap;
	memcpy(ret->lost, c->lost, sizeof(c->lost));
	memcpy(ret->lost_some, c->lost_some, sizeof(c->lost_some));
}

void stream_cursor_set_mark(struct stream_cursor *c, const struct stream_mark *m)
{
	stream_cursor_seek(c, 0);
	c->jumped = false;
	c->place = m->place;
	c->next_sequence = m->next_sequence;
	c->seen = m->seen;
	c->pending = m->pending;
	c->last_tick = m->last_tick;
	c->gap = m->gap;
	memcpy(c->lost, m->lost, sizeof(c->lost));
	memcpy(c->lost_some, m->lost_some, sizeof(c->lost_some));
}

uint64_t stream_cursor_place(const struct stream_cursor *c)
{
	return c->place;
}

const struct stream_totals *stream_cursor_totals(const struct stream_cursor *c)
{
	return &c->totals;
}
