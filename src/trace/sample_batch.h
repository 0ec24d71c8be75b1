/* SPDX-License-Identifier: MIT */
/*
 * sample_batch: some items of one CPU, decoded in one go.
 *
 * What a decoder has learned of a CPU is some hundred kilobytes. Whoever goes from CPU to CPU with each record finds little of it in the
 * processor's cache; with each batch it finds most. And a batch can be handed from thread to thread.
 */
#ifndef KISEKI_TRACE_SAMPLE_BATCH_H
#define KISEKI_TRACE_SAMPLE_BATCH_H

#include "trace/sample_source.h"

#define SAMPLE_BATCH_ITEMS 64U
#define SAMPLE_BATCH_ADDRESSES 1024U /* of chains; a batch ends early if its chains need more */

struct sample_batch {
	struct sample_batch *next; /* whoever has it may chain it */
	size_t n, n_addresses;
	int result;	/* 1, or what comes behind its items: 0 is the end, < 0 an error */
	uint64_t place; /* in the reader, behind what it was made of */
	struct sample_item items[SAMPLE_BATCH_ITEMS];
	uint64_t addresses[SAMPLE_BATCH_ADDRESSES];
};

/* For another record, whatever its chain. */
static inline bool sample_batch_has_room(const struct sample_batch *b)
{
	return b->n < SAMPLE_BATCH_ITEMS &&
	       b->n_addresses + SAMPLE_CHAIN_MAX <= SAMPLE_BATCH_ADDRESSES;
}

#endif
