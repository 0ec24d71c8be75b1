/* SPDX-License-Identifier: MIT */
/*
 * summary_carry: what must be known of a stream to go on behind the segments that are summarised
 * (docs/format/summary.md, section 4): the place in the stream, who has the CPU, the bucket that is
 * being filled, and the open chunks.
 *
 * As bytes it is some kilobytes, and rests in the database; one struct is enough to work on any
 * number of streams, one after the other.
 */
#ifndef KISEKI_COLLECTOR_SUMMARY_CARRY_H
#define KISEKI_COLLECTOR_SUMMARY_CARRY_H

#include "analysis/ladder.h"
#include "analysis/slices.h"
#include "base/cleanup.h"
#include "trace/stream_cursor.h"

struct summary_carry {
	uint64_t start;	   /* sequence of the stream's first block in the store, + 1 */
	uint64_t known_ns; /* what was before is no longer there */
	struct stream_mark mark;
	struct slices slices;
	struct ladder *ladder;
	struct chunk_writer open; /* to encode the open bucket */
	struct chunk_reader reader;
};

/* Complete chunks go to put. The buckets of `slices` go into the ladder unless somebody else takes
 * them. About 700 KB. 0 or -ENOMEM. */
int summary_carry_new(struct summary_carry **ret, ladder_fn put, void *context);
void summary_carry_free(struct summary_carry *c);
DEFINE_CLEANUP(summary_carry, summary_carry_free)

/* At the start of a stream. info must outlive it. */
void summary_carry_reset(struct summary_carry *c, const struct trace_info *info);

/* *ret is to be freed. 0 or -ENOMEM. */
int summary_carry_encode(struct summary_carry *c, uint8_t **ret, size_t *ret_len);
/* After a reset. 0, -ENOMEM, or -EBADMSG. */
int summary_carry_decode(struct summary_carry *c, const uint8_t *data, size_t len);

#endif
