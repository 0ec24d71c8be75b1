/* SPDX-License-Identifier: MIT */
/*
 * block_reader: the blocks of a trace, stream by stream, wherever they rest.
 *
 * A .ksk file is one (ksk_file.h), a run in a store another (store_reader.h). Who decodes needs no
 * more than this: the next block of a stream behind a place, the place of the segment that holds a
 * tick, and what is known about the stream's beginning and end. Places are the reader's own numbers
 * and rise within a stream.
 */
#ifndef KISEKI_STORE_BLOCK_READER_H
#define KISEKI_STORE_BLOCK_READER_H

#include <stddef.h>

#include "base/error.h"
#include "wire/block.h"

struct block_reader;

/* What a reader knows about a stream as a whole. */
struct block_stream {
	bool counted;	     /* the next three are known */
	uint64_t start, end; /* block.before where the trace starts and ends */
	uint64_t end_sequence;
	bool ends;	     /* … and no block comes behind that sequence */
	bool goes_on;	     /* what follows is not given here: nothing is missing at the end */
	uint8_t gap_cause;   /* enum loss_cause: why blocks are missing that are not torn, */
	uint8_t start_cause; /* and what is missing before the first KEY block */
};

/* Where a stream starts. */
struct block_start {
	uint64_t place;	   /* 0: it must be searched */
	uint64_t sequence; /* of the block there */
	uint64_t before;   /* events before it that are no loss */
};

struct block_reader_ops {
	/* The block of this stream at or after *place; *place moves behind it, *ret_at is where it
	 * was. 1, 0 at the end, or < 0. The payload is borrowed until the next call for the same
	 * stream; NULL where only the header is there and nothing vouches for it. */
	int (*next)(struct block_reader *r, uint32_t stream, uint64_t *place, struct block *ret,
		    uint64_t *ret_at);
	/* Where the segment starts that holds the tick; 0 for the first. */
	uint64_t (*seek)(struct block_reader *r, uint32_t stream, uint64_t tick);
	void (*start)(struct block_reader *r, uint32_t stream, struct block_start *ret);
	/* False if the trace has no such stream. */
	bool (*stream)(struct block_reader *r, uint32_t stream, struct block_stream *ret);
	/* The highest stream number of a CPU. */
	uint32_t (*streams)(struct block_reader *r);
	/* The lowest stream number that is not below this one; false if there is none. */
	bool (*find)(struct block_reader *r, uint32_t from, uint32_t *ret);
	/* Whether bytes from one place on and before the other may have held blocks of any
	 * stream. */
	bool (*torn)(struct block_reader *r, uint64_t from, uint64_t to);
	void (*note)(struct block_reader *r, uint64_t place, uint64_t len, const char *what);
	uint64_t (*size)(struct block_reader *r); /* of all, in the unit of places, for progress */
	void (*free)(struct block_reader *r);
};

/* Embedded as the first member of every reader. */
struct block_reader {
	const struct block_reader_ops *ops;
};

#endif
