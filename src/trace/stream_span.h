/* SPDX-License-Identifier: MIT */
/*
 * stream_span: when the events of a stream begin and end, by its blocks' headers: nothing is decoded, and of a long stream only
 * its first and its last segment are looked at.
 */
#ifndef KISEKI_TRACE_STREAM_SPAN_H
#define KISEKI_TRACE_STREAM_SPAN_H

#include "store/block_reader.h"

/* The tick of its first event; 0: it has none that decodes. */
uint64_t stream_span_first(struct block_reader *r, uint32_t stream);

/* Where it ends: its last segment leads there. 0: it has no block. */
uint64_t stream_span_last(struct block_reader *r, uint32_t stream);

#endif
