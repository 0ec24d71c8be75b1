/* SPDX-License-Identifier: MIT */
/*
 * run_source: a run of a store, or a range of it, as a source: the streams of all CPUs merged by
 * time, as ksk_source does it for a file.
 */
#ifndef KISEKI_TRACE_RUN_SOURCE_H
#define KISEKI_TRACE_RUN_SOURCE_H

#include "store/store_reader.h"
#include "trace/run_description.h"
#include "trace/source.h"

/* Gives the items from from_tick on; it ends with the first event after to_tick. The clock's
 * relation to real time is the store's best, if it has one. */
int source_run_open(struct trace_source **ret, struct store *s, uint32_t run,
		    const struct store_range *range, struct error *e);
/* The same; where its description is borrowed, that must outlive it, and it cannot be followed. */
int source_run_open_told(struct trace_source **ret, const struct run_part *p, struct error *e);

/* After the end: looks for what was committed since. 1: there may be more, 0: nothing new. Order
 * between CPUs then holds only as far as all of them had sent. */
int source_run_follow(struct trace_source *s, struct error *e);

/* For those who need what was before: each CPU goes to the segment that holds its tick of the list,
 * which has info.cpus rows, and gives all of it; the range does not hold for its beginning. */
void source_run_seek_segments(struct trace_source *s, const uint64_t *ticks);

/* The next item of one CPU, whoever comes first, also behind the range's end; NULL if it has none.
 * Borrowed until anything else is asked of the source. */
const struct trace_item *source_run_peek(struct trace_source *s, uint32_t cpu);

/* Where its blocks come from, for those who read headers. */
struct block_reader *source_run_reader(const struct trace_source *s);

/* How many blocks were read from the disk so far. */
uint64_t source_run_blocks_read(const struct trace_source *s);

#endif
