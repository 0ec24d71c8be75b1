/* SPDX-License-Identifier: MIT */
/*
 * sample_cursor: see sample_cursor.h.
 *
 * Losses found in front of a record wait, with that record, until they are taken one by one: its chain lies in the
 * decoder, which does not move meanwhile.
 */
#include "trace/sample_cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/sample_decode.h"

struct sample_cursor {
	struct block_reader *reader;
	uint32_t cpu;
	struct stream_ledger ledger;
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

struct sample_cursor *sample_cursor_new(struct block_reader *r, uint32_t cpu)
{
	struct sample_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->reader = r;
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
	c->foreign = false;
	memset(&c->totals, 0, sizeof(c->totals));
}

static void give_up(struct sample_cursor *c)
{
	stream_ledger_give_up(&c->ledger, c->left);
	c->left = 0;
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

	for (i = 0; i < LOSS_CAUSES; i++) {
		loss_tally_add(&c->totals.lost, i, c->ledger.tally.lost[i]);
		if (c->ledger.tally.some[i])
			loss_tally_add(&c->totals.lost, i, LOSS_UNKNOWN);
	}
	c->n_losses = loss_tally_take(&c->ledger.tally, c->last_tick, to_tick, c->losses);
	c->next_loss = 0;
}

static void decode(struct sample_cursor *c)
{
	struct sample_totals *t = &c->totals;

	if (sample_decode(c->decoder, &c->event) != WIRE_OK) {
		give_up(c);
		return;
	}
	c->left--;
	c->has_event = true;
	if (!t->events++)
		t->first_tick = c->event.tick;
	if (c->event.tick > t->last_tick)
		t->last_tick = c->event.tick;
	take_losses(c, c->event.tick);
	c->last_tick = c->event.tick;
}

/* What is ready: losses first, then the record behind them. */
static bool pop(struct sample_cursor *c, struct sample_item *ret)
{
	ret->cpu = c->cpu;
	if (c->next_loss < c->n_losses) {
		ret->type = ITEM_LOSS;
		ret->loss = c->losses[c->next_loss++];
		return true;
	}
	if (!c->has_event)
		return false;
	ret->type = ITEM_EVENT;
	ret->event = c->event;
	c->has_event = false;
	return true;
}

int sample_cursor_next(struct sample_cursor *c, struct sample_item *ret)
{
	struct block b;
	uint64_t at;
	bool ended;
	int r;

	while (!pop(c, ret)) {
		if (c->left) {
			decode(c);
			continue;
		}
		r = stream_ledger_next(&c->ledger, UINT64_MAX, &b, &at);
		if (r == 1)
			r = take_block(c, &b, at);
		else if (r == 0) {
			/* Of a run that goes on the end is not accounted for, but what was told is. */
			ended = stream_ledger_finish(&c->ledger);
			take_losses(c, c->last_tick);
			if (!ended && !c->n_losses)
				return 0;
		}
		if (r < 0)
			return r;
	}
	return 1;
}

uint64_t sample_cursor_place(const struct sample_cursor *c)
{
	return c->ledger.place;
}

const struct sample_totals *sample_cursor_totals(const struct sample_cursor *c)
{
	return &c->totals;
}
