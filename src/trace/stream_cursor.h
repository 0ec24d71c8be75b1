/* SPDX-License-Identifier: MIT */
/*
 * stream_cursor: one CPU's items out of blocks, in order, with its losses where they belong.
 *
 * It decodes a batch of events at a time. What it cannot decode (a torn block, and the rest of that
 * segment) it counts from the headers that remain: a key block says how many events of the stream
 * came before it, so the count is exact as soon as the next segment starts.
 */
#ifndef KISEKI_TRACE_STREAM_CURSOR_H
#define KISEKI_TRACE_STREAM_CURSOR_H

#include "base/cleanup.h"
#include "store/block_reader.h"
#include "trace/source.h"

struct stream_cursor;

/* What a stream held, as far as it has been read. */
struct stream_totals {
	uint64_t blocks, segments, events, bytes;
	uint64_t first_tick, last_tick;
	uint64_t lost[LOSS_CAUSES];	/* as far as counted; */
	bool lost_unknown[LOSS_CAUSES]; /* and more, that nobody counted */
	uint8_t codec;
};

/* reader and info must outlive it. 0 or -ENOMEM. */
int stream_cursor_new(struct stream_cursor **ret, struct block_reader *r, uint32_t cpu,
		      const struct trace_info *info);
void stream_cursor_free(struct stream_cursor *c);
DEFINE_CLEANUP(stream_cursor, stream_cursor_free)

/* To the segment that holds this tick; 0 is the start. Events before the tick may still come. */
void stream_cursor_seek(struct stream_cursor *c, uint64_t tick);

/* The next item, borrowed until stream_cursor_pop(); NULL at the end or if it failed. */
const struct trace_item *stream_cursor_peek(struct stream_cursor *c);
int stream_cursor_error(const struct stream_cursor *c); /* 0 or -ENOMEM */
void stream_cursor_pop(struct stream_cursor *c);

/* The reader has more than before: after the end, peek may have a next item. */
void stream_cursor_refresh(struct stream_cursor *c);

/* All that must be known to go on where a segment starts. */
struct stream_mark {
	uint64_t place;
	uint64_t next_sequence;
	uint64_t seen;		    /* events given or told as lost */
	uint64_t pending;	    /* events since then in blocks that could not be decoded */
	uint64_t last_tick;	    /* of the last event given */
	uint64_t lost[LOSS_CAUSES]; /* not yet told */
	bool lost_some[LOSS_CAUSES];
	bool gap; /* blocks are missing of which no header is left */
};

/* Ends before the block at this place, or before what is to come, as if nothing followed: no end is
 * accounted for. May be said again with a later place. */
void stream_cursor_hold(struct stream_cursor *c, uint64_t place);

/* When peek has nothing more and the next block starts a segment; and from there on, in a cursor of
 * the same stream. */
void stream_cursor_get_mark(const struct stream_cursor *c, struct stream_mark *ret);
void stream_cursor_set_mark(struct stream_cursor *c, const struct stream_mark *m);

uint64_t stream_cursor_place(const struct stream_cursor *c);
const struct stream_totals *stream_cursor_totals(const struct stream_cursor *c);

/* When the item is due: a loss right after the last event before it. */
static inline uint64_t item_tick(const struct trace_item *i)
{
	return i->type == ITEM_EVENT ? i->event.tick : i->loss.from_tick;
}

#endif
