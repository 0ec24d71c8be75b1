/* SPDX-License-Identifier: MIT */
/*
 * stream_ledger: which blocks of a stream can be decoded, and how many events the others cost
 * (docs/format/wire.md, section 3.6).
 *
 * It goes through the blocks of one stream out of a block_reader, whatever their codec. What cannot
 * be decoded (a torn block, and the rest of that segment) it counts from the headers that remain: a
 * key block says how many events of the stream came before it, so the count is exact as soon as the
 * next segment starts. Whoever decodes owns one for each stream and takes the tally before its next
 * event.
 */
#ifndef KISEKI_TRACE_STREAM_LEDGER_H
#define KISEKI_TRACE_STREAM_LEDGER_H

#include "store/block_reader.h"
#include "trace/loss_tally.h"

struct stream_ledger {
	struct block_reader *reader;
	uint32_t stream;
	struct block_stream about;
	uint64_t place; /* where the next block is searched */
	bool broken;	/* nothing decodes until the next key block */
	bool gap;	/* blocks are missing of which no header is left */
	bool jumped;	/* the next block starts a segment somewhere in the stream */
	bool finished;	/* the end is accounted for */
	uint64_t next_sequence;
	uint64_t last_at;  /* where the last block was, */
	uint64_t sound_at; /* and the last one that could be decoded */
	uint64_t seen;	   /* events given or told as lost, as block.before counts them */
	uint64_t pending;  /* events since then in blocks that could not be decoded */
	uint64_t until;	   /* the end of the last block: what was lost last was lost before it */
	uint64_t blocks, segments, bytes;
	uint8_t codec; /* of the last block */
	struct loss_tally tally;
};

/* To the segment that holds this tick; 0 is the start. The reader must outlive it. */
void stream_ledger_init(struct stream_ledger *l, struct block_reader *r, uint32_t stream,
			uint64_t tick);

/* The reader has more than before. */
void stream_ledger_refresh(struct stream_ledger *l);

/* The next block: 1, 0 at the end, or < 0. The index tells a stream's last block, so that nobody
 * searches the rest of the file for more. Blocks from `hold` on are left for later. */
int stream_ledger_next(struct stream_ledger *l, uint64_t hold, struct block *ret, uint64_t *ret_at);

/* Accounts for a block; whether its events can be had, if it has any. */
bool stream_ledger_take(struct stream_ledger *l, const struct block *b, uint64_t at);

/* The last `left` events of the block cannot be decoded although its checksum is right: a wrong
 * encoder. */
void stream_ledger_give_up(struct stream_ledger *l, uint64_t left);

/* The stream ends: what was broken stays so. False if there is nothing to account for: it was done,
 * or the stream goes on elsewhere. */
bool stream_ledger_finish(struct stream_ledger *l);

#endif
