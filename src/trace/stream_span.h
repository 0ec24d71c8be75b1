/* SPDX-License-Identifier: MIT */
/*
 * stream_span: when the events of a stream begin and end, by its blocks' headers: nothing is decoded, and of a long stream only
 * its first and its last segment are looked at.
 */
#ifndef KISEKI_TRACE_STREAM_SPAN_H
#define KISEKI_TRACE_STREAM_SPAN_H

#include "store/block_reader.h"

/* The tick of its first event; 0: it has none that decodes. Returns 0, or < 0 if it cannot be read. */
int stream_span_first(struct block_reader *r, uint32_t stream, uint64_t *ret);

/* Where it ends: its last segment leads there. 0: it has no block. Returns likewise. */
int stream_span_last(struct block_reader *r, uint32_t stream, uint64_t *ret);

/* A span that grows by those of streams. */
struct stream_span {
	uint64_t from, to; /* from > to: there is nothing yet */
};
#define STREAM_SPAN_INIT                                                                           \
	{                                                                                          \
		UINT64_MAX, 0                                                                      \
	}
int stream_span_add(struct stream_span *s, struct block_reader *r, uint32_t stream);

#endif
