/* SPDX-License-Identifier: MIT */
/* stream_cursor: see stream_cursor.h. */
#include "trace/stream_cursor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/stream_ledger.h"
#include "wire/bsf_decode.h"
#include "wire/bsf_event.h"
#include "wire/sched_decode.h"

#define BATCH 256
#define LOSSES_MAX LOSS_TALLY_ROWS

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
	const struct trace_info *info;
	uint32_t cpu;
	struct stream_ledger ledger;
	bool held; /* it ends before `hold` */
	uint64_t hold;
	int error;
	uint64_t last_tick; /* of the last event given */

	uint8_t codec;	     /* of the current segment */
	bool fresh;	     /* nothing of it is decoded */
	uint64_t first_tick; /* of its key block */
	uint32_t left;	     /* its events yet to decode */

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
	stream_ledger_init(&c->ledger, c->reader, STREAM_CPU(c->cpu), tick);
	c->error = 0;
	c->last_tick = 0;
	c->left = 0;
	c->at = c->n = 0;
	memset(&c->totals, 0, sizeof(c->totals));
}

void stream_cursor_refresh(struct stream_cursor *c)
{
	stream_ledger_refresh(&c->ledger);
}

/* Starts a block: its losses, and whether it has events that can be had. */
static bool take_block(struct stream_cursor *c, const struct block *b, uint64_t at)
{
	bool sound = stream_ledger_take(&c->ledger, b, at);

	c->totals.blocks = c->ledger.blocks;
	c->totals.segments = c->ledger.segments;
	c->totals.bytes = c->ledger.bytes;
	c->totals.codec = c->ledger.codec;
	if (!sound)
		return false;
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
	stream_ledger_give_up(&c->ledger, c->left);
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
	struct trace_loss rows[LOSSES_MAX];
	size_t n = loss_tally_take(&c->ledger.tally, c->last_tick, to, rows), i;

	for (i = 0; i < n; i++)
		put_loss(c, &out[i], rows[i]);
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

/* The stream ends: what was broken stays so. */
static void finish(struct stream_cursor *c)
{
	c->at = c->n = 0;
	if (!stream_ledger_finish(&c->ledger))
		return;
	free(c->work); /* a machine has many CPUs */
	c->work = NULL;
	c->items = c->losses;
	c->n = put_losses(c, c->losses, c->ledger.until);
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
		r = stream_ledger_next(&c->ledger, c->held ? c->hold : UINT64_MAX, &b, &at);
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
	ret->place = c->ledger.place;
	ret->next_sequence = c->ledger.next_sequence;
	ret->seen = c->ledger.seen;
	ret->pending = c->ledger.pending;
	ret->last_tick = c->last_tick;
	ret->gap = c->ledger.gap;
	memcpy(ret->lost, c->ledger.tally.lost, sizeof(ret->lost));
	memcpy(ret->lost_some, c->ledger.tally.some, sizeof(ret->lost_some));
}

void stream_cursor_set_mark(struct stream_cursor *c, const struct stream_mark *m)
{
	stream_cursor_seek(c, 0);
	c->ledger.jumped = false;
	c->ledger.place = m->place;
	c->ledger.next_sequence = m->next_sequence;
	c->ledger.seen = m->seen;
	c->ledger.pending = m->pending;
	c->last_tick = c->ledger.until = m->last_tick;
	c->ledger.gap = m->gap;
	memcpy(c->ledger.tally.lost, m->lost, sizeof(m->lost));
	memcpy(c->ledger.tally.some, m->lost_some, sizeof(m->lost_some));
}

uint64_t stream_cursor_place(const struct stream_cursor *c)
{
	return c->ledger.place;
}

const struct stream_totals *stream_cursor_totals(const struct stream_cursor *c)
{
	return &c->totals;
}
