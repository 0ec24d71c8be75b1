/* SPDX-License-Identifier: MIT */
/* func_record_cursor: see func_record_cursor.h. */
#include "trace/func_record_cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/func_hook_decode.h"

/* What decoding takes: a thread that has not begun, or has ended, does not need it. */
struct func_record_work {
	struct func_hook_decoder decoder;
	uint8_t bytes[];
};

void func_record_cursor_init(struct func_record_cursor *c, const struct func_record *r,
			     uint32_t thread)
{
	memset(c, 0, sizeof(*c));
	c->record = r;
	c->out.thread = thread;
}

void func_record_cursor_done(struct func_record_cursor *c)
{
	free(c->work);
	c->work = NULL;
}

void func_record_cursor_rewind(struct func_record_cursor *c)
{
	uint32_t thread = c->out.thread;

	func_stream_init(&c->out, thread, false);
	memset(&c->bytes, 0, sizeof(c->bytes));
	c->at = c->first;
	c->next_sequence = c->seen = 0;
	c->broken = true;
	c->why = LOSS_DAMAGE;
	c->finished = false;
}

uint8_t func_record_gap_cause(const struct func_record *r)
{
	if (r->policy == FUNC_FLIGHT)
		return LOSS_RING;
	return r->drained ? LOSS_SPOOL : LOSS_DAMAGE;
}

uint64_t func_record_cursor_tick(const struct func_record_cursor *c)
{
	return c->at < c->end ? c->record->chunks[c->at].tick : c->out.last_tick;
}

static void break_off(struct func_record_cursor *c, uint8_t why)
{
	c->broken = true;
	c->why = why;
	memset(&c->bytes, 0, sizeof(c->bytes));
}

/* What is missing between what was seen and what a chunk or a slot counts: `told` of it by name. */
static void account(struct func_record_cursor *c, uint64_t count, uint64_t told)
{
	uint64_t missing = count - c->seen;

	if ((int64_t)missing > 0) {
		told = told < missing ? told : missing;
		loss_tally_add(&c->out.tally, LOSS_BUFFER, told);
		loss_tally_add(&c->out.tally, c->why, missing - told);
	}
	c->seen = count;
}

/* -ENOMEM, or what reading failed with. */
static int load_chunk(struct func_record_cursor *c, const struct func_record_chunk *k)
{
	int n;

	if (!c->work)
		c->work = malloc(sizeof(*c->work) + c->record->chunk_bytes);
	if (!c->work)
		return -ENOMEM;
	n = func_record_read(c->record, k, c->work->bytes);
	if (n == -ESTALE) {
		break_off(c, func_record_gap_cause(c->record));
		return 0;
	}
	if (n < 0)
		return n;
	reader_init(&c->bytes, c->work->bytes, (size_t)n);
	if (k->flags & FUNC_CHUNK_KEY) {
		func_hook_decoder_init(&c->work->decoder);
		if (func_hook_decode_begin(&c->work->decoder, &c->bytes, k->tick) != WIRE_OK)
			break_off(c, LOSS_DAMAGE);
	}
	return 0;
}

static int take_chunk(struct func_record_cursor *c)
{
	const struct func_record_chunk *k = &c->record->chunks[c->at++];

	if (k->sequence < c->next_sequence) /* it has another's number */
		return 0;
	if (k->sequence > c->next_sequence)
		break_off(c, func_record_gap_cause(c->record));
	c->next_sequence = k->sequence + 1;
	account(c, k->before, k->lost);
	if (k->flags & FUNC_CHUNK_KEY) {
		c->broken = false;
		c->why = LOSS_DAMAGE;
	}
	return c->broken ? 0 : load_chunk(c, k);
}

/* The chunk's bytes are used up: all of them, and all that there should be? */
static void end_chunk(struct func_record_cursor *c)
{
	const struct func_record_chunk *k = &c->record->chunks[c->at - 1];

	if (reader_left(&c->bytes) || k->torn)
		break_off(c, LOSS_DAMAGE);
	memset(&c->bytes, 0, sizeof(c->bytes));
}

static bool is_decoding(const struct func_record_cursor *c)
{
	return c->bytes.at != NULL;
}

static void decode(struct func_record_cursor *c)
{
	struct func_event ev;
	enum wire_status status = func_hook_decode(&c->work->decoder, &c->bytes, &ev);

	if (status == WIRE_OK) {
		c->seen++;
		func_stream_push(&c->out, &ev);
	} else if (status == WIRE_MORE) {
		end_chunk(c);
	} else {
		break_off(c, LOSS_DAMAGE);
	}
}

/* What the slot counts behind the last chunk; without a slot there is a chunk at least, and nobody knows how many
 * events it had that could not be decoded. */
static void finish(struct func_record_cursor *c)
{
	c->finished = true;
	if (c->slot)
		account(c, c->slot->events + c->slot->lost, c->slot->lost);
	else if (c->broken)
		loss_tally_add(&c->out.tally, c->why, LOSS_UNKNOWN);
	func_stream_end(&c->out);
	func_record_cursor_done(c);
}

int func_record_cursor_next(struct func_record_cursor *c, struct func_item *ret)
{
	int r = 0;

	while (!func_stream_pop(&c->out, ret)) {
		if (is_decoding(c))
			decode(c);
		else if (c->at < c->end)
			r = take_chunk(c);
		else if (!c->finished)
			finish(c);
		else
			return 0;
		if (r < 0)
			return r;
	}
	return 1;
}
