/* SPDX-License-Identifier: MIT */
/*
 * sample_cursor: one CPU's records of a profile out of blocks of the codec `sample`, in order, with its losses where
 * they belong (stream_ledger.h has the rules).
 */
#ifndef KISEKI_TRACE_SAMPLE_CURSOR_H
#define KISEKI_TRACE_SAMPLE_CURSOR_H

#include <pthread.h>

#include "trace/sample_batch.h"
#include "trace/stream_ledger.h"

struct sample_cursor;

/* What a stream held, as far as it has been read. */
struct sample_totals {
	uint64_t blocks, segments, events, bytes;
	uint64_t first_tick, last_tick;
	struct loss_tally lost; /* in all */
};

/* The reader must outlive it, and is used under the lock, which cursors in several threads have in common. NULL: out of memory. */
struct sample_cursor *sample_cursor_new(struct block_reader *r, pthread_mutex_t *lock,
					uint32_t cpu);
void sample_cursor_free(struct sample_cursor *c);
void sample_cursor_rewind(struct sample_cursor *c);

/* The next items; behind the end, or an error, none come. */
void sample_cursor_fill(struct sample_cursor *c, struct sample_batch *b);

const struct sample_totals *sample_cursor_totals(const struct sample_cursor *c);

#endif
