/* SPDX-License-Identifier: MIT */
/* agent_ledger: see agent_ledger.h. */
#include "tools/agent_ledger.h"

#include <stdlib.h>
#include <string.h>

int ledger_init(struct ledger *l, bool is_numbered)
{
	uint32_t i;

	memset(l, 0, sizeof(*l));
	l->is_numbered = is_numbered;
	l->streams = calloc(LEDGER_STREAMS, sizeof(*l->streams));
	for (i = 0; l->streams && i < LEDGER_STREAMS; i++)
		l->streams[i].broken = true;
	return l->streams ? 0 : -1;
}

void ledger_done(struct ledger *l)
{
	free(l->streams);
	l->streams = NULL;
}

static void object(struct ledger *l, const char *what, const struct block *b, uint64_t number)
{
	if (l->wrong)
		return;
	l->wrong = what;
	l->wrong_at[0] = b->stream;
	l->wrong_at[1] = b->sequence;
	l->wrong_at[2] = number;
}

static void decode(struct ledger *l, struct ledger_stream *s, const struct block *b)
{
	struct sched_event ev;
	uint64_t last = 0;
	uint32_t i;

	if (b->flags & BLOCK_KEY)
		sched_decoder_init(&s->decoder, b->stream - 1);
	sched_decoder_begin(&s->decoder, b->payload, b->payload_len, b->first_tick);
	for (i = 0; i < b->events; i++) {
		if (sched_decode(&s->decoder, &ev) != WIRE_OK) {
			object(l, "a block does not decode", b, i);
			return;
		}
		if (l->is_numbered && ev.value != (int32_t)(uint32_t)(s->seen + i))
			object(l, "an event is not where the counts say", b, s->seen + i);
		if (!i && (b->flags & BLOCK_KEY) && ev.tick != b->first_tick)
			object(l, "first_tick is not that of the first event", b, ev.tick);
		if (l->on_event)
			l->on_event(&ev);
		last = ev.tick > last ? ev.tick : last;
	}
	if (sched_decoder_end(&s->decoder) != WIRE_OK)
		object(l, "a block has more than its events", b, 0);
	if (last > s->until)
		object(l, "an event lies behind the block's end", b, last);
}

static void take_key(struct ledger *l, struct ledger_stream *s, const struct block *b)
{
	if (b->before < s->seen)
		object(l, "before is less than what was counted", b, b->before);
	if (b->before > s->seen) {
		s->missing += b->before - s->seen;
		if (!s->has_gap)
			object(l, "before is more than was counted, and no block is missing", b,
			       b->before);
	}
	if (!b->events && !s->has_gap && b->first_tick != s->until)
		object(l, "first_tick of an empty block is not the end before it", b,
		       b->first_tick);
	s->seen = b->before;
	s->broken = s->has_gap = false;
	s->keys++;
	s->payload_since_key = 0;
	s->until = b->first_tick;
}

void ledger_take_block(struct ledger *l, const uint8_t *bytes, uint32_t len)
{
	struct ledger_stream *s;
	struct block b;
	uint32_t i;

	if (block_decode(bytes, len, &b) != WIRE_OK || b.len != len || b.stream >= LEDGER_STREAMS) {
		memset(&b, 0, sizeof(b));
		object(l, "not a block", &b, 0);
		return;
	}
	s = &l->streams[b.stream];
	if (b.sequence < s->next_sequence)
		return;
	if (b.sequence > s->next_sequence)
		s->broken = s->has_gap = true;
	s->next_sequence = b.sequence + 1;
	s->blocks++;
	s->empty += !b.events;
	if (b.stream == STREAM_META)
		return;
	for (i = 0; i < LOSS_CAUSES; i++) {
		s->unknown += b.lost[i] == LOSS_UNKNOWN;
		s->lost[i] += b.lost[i] == LOSS_UNKNOWN ? 0 : b.lost[i];
	}
	s->seen += block_told(&b);
	if (b.flags & BLOCK_KEY)
		take_key(l, s, &b);
	s->until += b.ticks;
	s->payload_since_key += b.payload_len;
	if (s->broken)
		return;
	decode(l, s, &b);
	s->seen += b.events;
	s->found += b.events;
}

void ledger_take_end(struct ledger *l, const uint8_t *bytes, uint32_t len)
{
	struct message_end m;
	struct message_stream_end row;
	struct block at = { .codec = 0 };

	l->has_ended = true;
	if (end_decode(&m, bytes, len) != WIRE_OK)
		object(l, "not an end", &at, 0);
	while (end_next(&m, &row)) {
		struct ledger_stream *s = &l->streams[row.stream];

		at.stream = row.stream;
		at.sequence = row.next_sequence;
		if (row.stream >= LEDGER_STREAMS || row.next_sequence < s->next_sequence ||
		    row.events < s->seen) {
			object(l, "an end is below what came", &at, row.events);
			continue;
		}
		s->missing += row.events - s->seen;
		if (row.events > s->seen && !s->has_gap && row.next_sequence == s->next_sequence)
			object(l, "an end is above what came", &at, row.events);
		s->seen = row.events;
	}
}

uint64_t ledger_lost(const struct ledger_stream *s)
{
	uint64_t sum = s->missing;
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		sum += s->lost[i];
	return sum;
}
