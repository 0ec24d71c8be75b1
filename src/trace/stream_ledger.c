/* SPDX-License-Identifier: MIT */
/* stream_ledger: see stream_ledger.h. */
#include "trace/stream_ledger.h"

#include <string.h>

#include "store/ksk.h"

void stream_ledger_init(struct stream_ledger *l, struct block_reader *r, uint32_t stream,
			uint64_t tick)
{
	struct block_start start = { 0 };

	memset(l, 0, sizeof(*l));
	l->reader = r;
	l->stream = stream;
	l->broken = true;
	r->ops->stream(r, stream, &l->about);
	l->place = r->ops->seek(r, stream, tick);
	l->jumped = l->place;
	if (!l->jumped) {
		r->ops->start(r, stream, &start);
		l->place = start.place;
	}
	l->next_sequence = start.sequence;
	l->seen = start.before;
}

void stream_ledger_refresh(struct stream_ledger *l)
{
	l->reader->ops->stream(l->reader, l->stream, &l->about);
}

int stream_ledger_next(struct stream_ledger *l, uint64_t hold, struct block *ret, uint64_t *ret_at)
{
	uint64_t place = l->place;
	int r;

	if (l->about.ends && !l->jumped && l->next_sequence == l->about.end_sequence)
		return 0;
	r = l->reader->ops->next(l->reader, l->stream, &place, ret, ret_at);
	if (r == 1 && *ret_at >= hold)
		return 0;
	l->place = place;
	return r;
}

/* Why blocks before the one at this place are missing. */
static uint32_t gap_cause(const struct stream_ledger *l, uint64_t at)
{
	if (l->about.gap_cause != LOSS_DAMAGE && l->reader->ops->torn(l->reader, l->sound_at, at))
		return LOSS_DAMAGE;
	return l->segments ? l->about.gap_cause : l->about.start_cause;
}

/* A key block ends what was broken, and knows how much that was. */
static void account_key(struct stream_ledger *l, const struct block *b, uint64_t at)
{
	if (!l->jumped && (int64_t)(b->before - l->seen) > 0)
		loss_tally_add(&l->tally, gap_cause(l, at), b->before - l->seen);
	l->seen = b->before;
	l->pending = 0;
	l->broken = l->gap = l->jumped = false;
	l->segments++;
}

bool stream_ledger_take(struct stream_ledger *l, const struct block *b, uint64_t at)
{
	uint32_t i;

	if (!l->jumped && b->sequence < l->next_sequence) {
		/* Its events were given, or told as lost when blocks behind it came first. */
		l->reader->ops->note(l->reader, at, b->len,
				     "a block that came again or out of order");
		return false;
	}
	l->blocks++;
	l->bytes += b->len;
	l->codec = b->codec;
	if (!l->jumped && b->sequence != l->next_sequence)
		l->broken = l->gap = true;
	l->next_sequence = b->sequence + 1;
	l->until = ksk_until(l->until, b);
	for (i = 0; i < LOSS_CAUSES; i++)
		loss_tally_add(&l->tally, i, b->lost[i]);
	l->seen += block_told(b);
	if (b->flags & BLOCK_KEY)
		account_key(l, b, at);
	l->last_at = at;
	if (!b->payload || l->broken) {
		l->broken = true;
		l->pending += b->events;
		return false;
	}
	l->sound_at = at;
	l->seen += b->events;
	return true;
}

void stream_ledger_give_up(struct stream_ledger *l, uint64_t left)
{
	l->broken = true;
	l->seen -= left;
	l->pending += left;
}

/* Without totals nobody knows what a stream had at its end: damage behind its last block may have
 * been its blocks. A cut is not of that kind: it ends the file for all streams. */
bool stream_ledger_finish(struct stream_ledger *l)
{
	if (l->finished || l->about.goes_on || l->jumped)
		return false;
	l->finished = true;
	if (l->about.counted) {
		if ((int64_t)(l->about.end - l->seen) > 0)
			loss_tally_add(&l->tally, gap_cause(l, UINT64_MAX), l->about.end - l->seen);
		return true;
	}
	loss_tally_add(&l->tally, LOSS_DAMAGE, l->pending);
	if (l->gap || l->reader->ops->torn(l->reader, l->last_at + 1, UINT64_MAX))
		loss_tally_add(&l->tally, LOSS_DAMAGE, LOSS_UNKNOWN);
	return true;
}
