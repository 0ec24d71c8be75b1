/* SPDX-License-Identifier: MIT */
/*
 * sample_cursor: one CPU's records of a profile out of blocks of the codec `sample`, in order, with its losses where
 * they belong (stream_ledger.h has the rules).
 */
#ifndef KISEKI_TRACE_SAMPLE_CURSOR_H
#define KISEKI_TRACE_SAMPLE_CURSOR_H

#include "trace/sample_source.h"
#include "trace/stream_ledger.h"

struct sample_cursor;

/* What a stream held, as far as it has been read. */
struct sample_totals {
	uint64_t blocks, segments, events, bytes;
	uint64_t first_tick, last_tick;
	struct loss_tally lost; /* in all */
};

/* The reader must outlive it. NULL: out of memory. */
struct sample_cursor *sample_cursor_new(struct block_reader *r, uint32_t cpu);
void sample_cursor_free(struct sample_cursor *c);
void sample_cursor_rewind(struct sample_cursor *c);

/* 1, 0 at the end, or < 0. A record's chain is borrowed until the next call. */
int sample_cursor_next(struct sample_cursor *c, struct sample_item *ret);

uint64_t sample_cursor_place(const struct sample_cursor *c);
const struct sample_totals *sample_cursor_totals(const struct sample_cursor *c);

#endif
