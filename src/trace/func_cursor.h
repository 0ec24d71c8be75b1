/* SPDX-License-Identifier: MIT */
/*
 * func_cursor: one function stream's items out of blocks of the codecs `func` and `rtc`, in order, with
 * its losses where they belong (stream_ledger.h has the rules).
 */
#ifndef KISEKI_TRACE_FUNC_CURSOR_H
#define KISEKI_TRACE_FUNC_CURSOR_H

#include "trace/func_stream.h"
#include "trace/stream_ledger.h"

struct func_cursor;

/* What a stream held, as far as it has been read. */
struct func_totals {
	uint64_t blocks, segments, events, bytes;
	uint64_t first_tick, last_tick;
	struct loss_tally lost; /* in all */
};

/* The reader must outlive it. NULL: out of memory. */
struct func_cursor *func_cursor_new(struct block_reader *r, uint32_t stream, uint32_t thread);
void func_cursor_free(struct func_cursor *c);
void func_cursor_rewind(struct func_cursor *c);

/* 1, 0 at the end, or < 0. */
int func_cursor_next(struct func_cursor *c, struct func_item *ret);

/* The tick of its first block, which is that of its first event; 0 if it has none. */
uint64_t func_cursor_first_tick(struct func_cursor *c);

uint64_t func_cursor_place(const struct func_cursor *c);
const struct func_totals *func_cursor_totals(const struct func_cursor *c);

#endif
