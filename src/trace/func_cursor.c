/* SPDX-License-Identifier: MIT */
/* func_cursor: see func_cursor.h. */
#include "trace/func_cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "wire/func_decode.h"
#include "wire/rtc_func_decode.h"

#define STATE_DEAD 0x30U /* bits of a task's state: it is gone */

struct func_cursor {
	struct block_reader *reader;
	uint32_t stream;
	struct stream_ledger ledger;
	struct func_stream out;
	uint8_t codec;	     /* of the current segment */
	bool fresh;	     /* nothing of it is decoded */
	uint64_t first_tick; /* of its key block */
	uint32_t left;	     /* events of the block yet to decode */
	struct func_totals totals;
	bool watching; /* by FUNC_OS_WATCH, and nothing has said that it is over */
	/* From the first event to the last: there are many threads. */
	struct func_decoder *decoder;
	struct rtc_func_decoder *rtc;
};

struct func_cursor *func_cursor_new(struct block_reader *r, uint32_t stream, uint32_t thread)
{
	struct func_cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->reader = r;
	c->stream = stream;
	c->out.thread = thread;
	func_cursor_rewind(c);
	return c;
}

void func_cursor_free(struct func_cursor *c)
{
	if (!c)
		return;
	free(c->decoder);
	free(c->rtc);
	free(c);
}

void func_cursor_rewind(struct func_cursor *c)
{
	uint32_t thread = c->out.thread;

	stream_ledger_init(&c->ledger, c->reader, c->stream, 0);
	func_stream_init(&c->out, thread, c->stream % 2 != STREAM_FUNC_FIRST % 2);
	c->left = 0;
	c->watching = false;
	memset(&c->totals, 0, sizeof(c->totals));
}

uint64_t func_cursor_first_tick(struct func_cursor *c)
{
	uint64_t place = c->ledger.place, at;
	struct block b;

	if (c->reader->ops->next(c->reader, c->stream, &place, &b, &at) != 1)
		return 0;
	return b.flags & BLOCK_KEY && b.events ? b.first_tick : 0;
}

static void give_up(struct func_cursor *c)
{
	stream_ledger_give_up(&c->ledger, c->left);
	c->left = 0;
}

static int begin_func(struct func_cursor *c, const struct block *b)
{
	if (!c->decoder)
		c->decoder = malloc(sizeof(*c->decoder));
	if (!c->decoder)
		return -ENOMEM;
	if (c->fresh)
		func_decoder_init(c->decoder);
	if (func_decoder_begin(c->decoder, b->payload, b->payload_len, c->first_tick) != WIRE_OK)
		give_up(c);
	return 0;
}

/* Each of its blocks stands for itself. */
static int begin_rtc(struct func_cursor *c, const struct block *b)
{
	if (!c->rtc)
		c->rtc = malloc(sizeof(*c->rtc));
	if (!c->rtc)
		return -ENOMEM;
	if (!c->fresh || rtc_func_decoder_init(c->rtc, b->payload, b->payload_len, c->first_tick,
					       b->events) != WIRE_OK)
		give_up(c);
	return 0;
}

/* -ENOMEM, or 0. */
static int begin_block(struct func_cursor *c, const struct block *b)
{
	int r = 0;

	if (b->flags & BLOCK_KEY) {
		c->codec = b->codec;
		c->first_tick = b->first_tick;
		c->fresh = true;
	}
	c->left = b->events;
	if (!c->left)
		return 0;
	/* It cannot lean on what another codec learned. */
	if (b->codec != c->codec || (c->codec != CODEC_FUNC && c->codec != CODEC_RTC))
		give_up(c);
	else
		r = c->codec == CODEC_RTC ? begin_rtc(c, b) : begin_func(c, b);
	c->fresh = false;
	return r;
}

static int take_block(struct func_cursor *c, const struct block *b, uint64_t at)
{
	bool sound = stream_ledger_take(&c->ledger, b, at);

	c->totals.blocks = c->ledger.blocks;
	c->totals.segments = c->ledger.segments;
	c->totals.bytes = c->ledger.bytes;
	return sound ? begin_block(c, b) : 0;
}

static void sum_losses(struct func_cursor *c)
{
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++) {
		loss_tally_add(&c->totals.lost, i, c->ledger.tally.lost[i]);
		if (c->ledger.tally.some[i])
			loss_tally_add(&c->totals.lost, i, LOSS_UNKNOWN);
	}
	c->out.tally = c->ledger.tally;
	memset(&c->ledger.tally, 0, sizeof(c->ledger.tally));
}

/* Whether more records of the thread are to be expected. */
static void see_watch(struct func_cursor *c, const struct func_event *ev)
{
	if (ev->kind != FUNC_OS)
		return;
	if (ev->os == FUNC_OS_WATCH)
		c->watching = ev->value != 0;
	else if (ev->os == FUNC_OS_SWITCH_OUT && ev->value & STATE_DEAD)
		c->watching = false;
}

static void decode(struct func_cursor *c)
{
	struct func_event ev;
	enum wire_status status =
		c->codec == CODEC_RTC ? rtc_func_decode(c->rtc, &ev) : func_decode(c->decoder, &ev);

	if (status != WIRE_OK) {
		give_up(c);
		return;
	}
	c->left--;
	if (!c->totals.events++)
		c->totals.first_tick = ev.tick;
	if (ev.tick > c->totals.last_tick)
		c->totals.last_tick = ev.tick;
	sum_losses(c);
	see_watch(c, &ev);
	func_stream_push(&c->out, &ev);
}

/* The run goes on, or its end was lost: what its thread does behind the last record is not known, though
 * there may be calls. */
static void stop_watching(struct func_cursor *c)
{
	const struct func_event ev = { .tick = c->out.last_tick,
				       .kind = FUNC_OS,
				       .os = FUNC_OS_WATCH };

	c->watching = false;
	func_stream_push(&c->out, &ev);
}

/* False: the stream has ended, and that was accounted for. */
static bool finish(struct func_cursor *c)
{
	free(take_ptr(c->decoder));
	free(take_ptr(c->rtc));
	if (c->watching && c->out.os_only) {
		stop_watching(c);
		return true;
	}
	if (!stream_ledger_finish(&c->ledger))
		return false;
	sum_losses(c);
	func_stream_end(&c->out);
	return true;
}

int func_cursor_next(struct func_cursor *c, struct func_item *ret)
{
	struct block b;
	uint64_t at;
	int r;

	while (!func_stream_pop(&c->out, ret)) {
		if (c->left) {
			decode(c);
			continue;
		}
		r = stream_ledger_next(&c->ledger, UINT64_MAX, &b, &at);
		if (r == 1)
			r = take_block(c, &b, at);
		else if (r == 0 && !finish(c))
			return 0;
		if (r < 0)
			return r;
	}
	return 1;
}

uint64_t func_cursor_place(const struct func_cursor *c)
{
	return c->ledger.place;
}

const struct func_totals *func_cursor_totals(const struct func_cursor *c)
{
	return &c->totals;
}
