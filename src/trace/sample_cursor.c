/* SPDX-License-Identifier: MIT */
/*
 * sample_cursor: see sample_cursor.h.
 *
 * Losses found in front of a record are put one by one, and the record behind them waits meanwhile: its chain lies in the decoder,
 * which does not move.
 */
#include "trace/sample_cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/sample_decode.h"

struct sample_cursor {
	struct block_reader *reader;
	pthread_mutex_t *lock; /* of the reader */
	uint32_t cpu;
	struct stream_ledger ledger;
	bool is_told;	     /* there may be something in its tally */
	bool foreign;	     /* the segment is of another codec */
	uint64_t first_tick; /* of its key block */
	uint32_t left;	     /* records of the block yet to decode */
	uint64_t last_tick;  /* of the last record given */

	struct trace_loss losses[LOSS_TALLY_ROWS];
	size_t n_losses, next_loss;
	struct sample_event event; /* behind the losses */
	bool has_event;

	struct sample_totals totals;
	struct sample_decoder *decoder; /* from the first record to the last */
};

struct sample_cursor *sample_cursor_new(struct block_reader *r, pthread_mutex_t *lock, uint32_t cpu)
{
	struct sample_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->reader = r;
	c->lock = lock;
	c->cpu = cpu;
	sample_cursor_rewind(c);
	return c;
}

void sample_cursor_free(struct sample_cursor *c)
{
	if (!c)
		return;
	free(c->decoder);
	free(c);
}

void sample_cursor_rewind(struct sample_cursor *c)
{
	stream_ledger_init(&c->ledger, c->reader, STREAM_SAMPLE(c->cpu), 0);
	c->left = 0;
	c->last_tick = 0;
	c->n_losses = c->next_loss = 0;
	c->has_event = false;
	c->is_told = true;
	c->foreign = false;
	memset(&c->totals, 0, sizeof(c->totals));
}

static void give_up(struct sample_cursor *c)
{
	stream_ledger_give_up(&c->ledger, c->left);
	c->left = 0;
	c->is_told = true;
}

static int take_block(struct sample_cursor *c, const struct block *b, uint64_t at)
{
	bool sound = stream_ledger_take(&c->ledger, b, at);

	c->totals.blocks = c->ledger.blocks;
	c->totals.segments = c->ledger.segments;
	c->totals.bytes = c->ledger.bytes;
	if (!sound)
		return 0;
	if (!c->decoder)
		c->decoder = malloc(sizeof(*c->decoder));
	if (!c->decoder)
		return -ENOMEM;
	if (b->flags & BLOCK_KEY) {
		c->first_tick = b->first_tick;
		c->foreign = b->codec != CODEC_SAMPLE;
		sample_decoder_init(c->decoder);
	}
	c->left = b->events;
	if (!c->left)
		return 0;
	/* It cannot lean on what another codec learned. */
	if (c->foreign || b->codec != CODEC_SAMPLE ||
	    sample_decoder_begin(c->decoder, b->payload, b->payload_len, c->first_tick) != WIRE_OK)
		give_up(c);
	return 0;
}

/* What was found missing lies between the last record given and this tick. */
static void take_losses(struct sample_cursor *c, uint64_t to_tick)
{
	uint32_t i;

	c->is_told = false;
	for (i = 0; i < LOSS_CAUSES; i++) {
		loss_tally_add(&c->totals.lost, i, c->ledger.tally.lost[i]);
		if (c->ledger.tally.some[i])
			loss_tally_add(&c->totals.lost, i, LOSS_UNKNOWN);
	}
	c->n_losses = loss_tally_take(&c->ledger.tally, c->last_tick, to_tick, c->losses);
	c->next_loss = 0;
}

static void put_loss(struct sample_cursor *c, struct sample_batch *b)
{
	struct sample_item *item = &b->items[b->n++];

	item->type = ITEM_LOSS;
	item->cpu = c->cpu;
	item->loss = c->losses[c->next_loss++];
}

/* The batch has a chain of its own: the decoder's goes with the next record. */
static void put_event(struct sample_cursor *c, struct sample_batch *b)
{
	struct sample_item *item = &b->items[b->n++];
	struct sample_event *ev = &item->event;
	size_t n = (size_t)ev->n_kernel + ev->n_user;

	item->type = ITEM_EVENT;
	item->cpu = c->cpu;
	memcpy(b->addresses + b->n_addresses, ev->chain, n * sizeof(*ev->chain));
	ev->chain = b->addresses + b->n_addresses;
	b->n_addresses += n;
}

/* Into the batch, or, if there are losses in front of it, to where it waits until these are told. */
static void decode(struct sample_cursor *c, struct sample_batch *b)
{
	struct sample_event *ev = &b->items[b->n].event;
	struct sample_totals *t = &c->totals;

	if (sample_decode(c->decoder, ev) != WIRE_OK) {
		give_up(c);
		return;
	}
	c->left--;
	if (!t->events++)
		t->first_tick = ev->tick;
	if (ev->tick > t->last_tick)
		t->last_tick = ev->tick;
	if (c->is_told)
		take_losses(c, ev->tick);
	c->last_tick = ev->tick;
	c->has_event = c->n_losses;
	if (c->has_event)
		c->event = *ev;
	else
		put_event(c, b);
}

/* The next block, or, 0, the end. */
static int advance(struct sample_cursor *c)
{
	struct block b;
	uint64_t at;
	bool ended;
	int r = stream_ledger_next(&c->ledger, UINT64_MAX, &b, &at);

	c->is_told = true;
	if (r == 1) {
		r = take_block(c, &b, at);
		return r < 0 ? r : 1;
	}
	if (r < 0)
		return r;
	/* Of a run that goes on the end is not accounted for, but what was told is. */
	ended = stream_ledger_finish(&c->ledger);
	take_losses(c, c->ledger.until);
	return ended || c->n_losses;
}

void sample_cursor_fill(struct sample_cursor *c, struct sample_batch *b)
{
	b->n = b->n_addresses = 0;
	b->result = 1;
	while (b->result == 1 && sample_batch_has_room(b)) {
		if (c->next_loss < c->n_losses) {
			put_loss(c, b);
		} else if (c->has_event) {
			b->items[b->n].event = c->event;
			c->has_event = false;
			c->n_losses = c->next_loss = 0;
			put_event(c, b);
		} else if (c->left) {
			c->n_losses = c->next_loss = 0;
			decode(c, b);
		} else {
			pthread_mutex_lock(c->lock);
			b->result = advance(c);
			pthread_mutex_unlock(c->lock);
		}
	}
	b->place = c->ledger.place;
}

const struct sample_totals *sample_cursor_totals(const struct sample_cursor *c)
{
	return &c->totals;
}
