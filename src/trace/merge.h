/* SPDX-License-Identifier: MIT */
/*
 * merge: the streams of all CPUs out of a block_reader, as one row of items in order of time.
 *
 * A binary heap of CPUs by the tick of their next item, then by number; where the trace knows that
 * events of one tick happened in another order (it came from text), that order is followed as long
 * as it fits.
 */
#ifndef KISEKI_TRACE_MERGE_H
#define KISEKI_TRACE_MERGE_H

#include "store/block_reader.h"
#include "trace/info_meta.h"
#include "trace/source.h"
#include "trace/stream_cursor.h"

struct merge {
	struct block_reader *reader;
	struct trace_info *info;
	const struct trace_orders *orders;
	size_t order_row, order_at;	/* where in orders the merge is */
	struct stream_cursor **cursors; /* by CPU; NULL where it has no stream */
	uint32_t n_cursors;
	uint32_t *heap; /* CPUs that have items left */
	uint32_t n_heap;
	uint32_t given; /* CPU whose item was given last and must be popped, or UINT32_MAX */
	bool merging;	/* the heap is built */
	int error;	/* that a stream failed with */
	uint64_t place; /* furthest in the reader, for progress */
};

/* All three must outlive it. info->cpus becomes as large as the streams need, for without metadata
 * (cut away, torn) they still say how many CPUs there are. 0 or -ENOMEM. */
int merge_init(struct merge *m, struct block_reader *reader, struct trace_info *info,
	       const struct trace_orders *orders);
void merge_done(struct merge *m);

int merge_next(struct merge *m, struct trace_item *ret, struct error *e); /* as sources do */

/* To the first item at or after this tick; 0 is the start. */
void merge_seek(struct merge *m, uint64_t tick);

/* Each CPU to the segment that holds its tick of the list. Nothing is skipped: what the segments have
 * from before these ticks comes, too. */
void merge_seek_segments(struct merge *m, const uint64_t *ticks);

/* The next item of one CPU, whoever comes first; NULL if it has none. Borrowed until the next call
 * of anything here. */
const struct trace_item *merge_peek(struct merge *m, uint32_t cpu);

/* The reader has more than before: goes on after the end. 0 or -ENOMEM. */
int merge_refresh(struct merge *m);

/* What each CPU's stream held as far as it was read, or NULL. */
const struct stream_totals *merge_totals(const struct merge *m, uint32_t cpu);

#endif
