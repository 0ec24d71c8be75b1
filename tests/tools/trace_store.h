/* SPDX-License-Identifier: MIT */
/*
 * trace_store: the blocks of a trace into a run of a store, as a device would have sent them: all
 * streams mixed, in the order in which they were made.
 */
#ifndef KISEKI_TESTS_TRACE_STORE_H
#define KISEKI_TESTS_TRACE_STORE_H

#include "store/ksk_file.h"
#include "store/store.h"
#include "tools/trace_random.h"

struct trace_blocks {
	uint8_t *data; /* of a .ksk */
	struct ksk_file *file;
	struct block *blocks;
	uint64_t *offsets;
	size_t n;
};

/* Encodes the trace, or takes that of a file. Exits if that fails: these are tests. */
void trace_blocks_init(struct trace_blocks *t, const struct trace_random *trace,
		       const struct sink_ksk_options *o);
void trace_blocks_open(struct trace_blocks *t, const char *path);
void trace_blocks_done(struct trace_blocks *t);

/* The number of a run of a device, both made of this seed. */
uint32_t trace_store_run(struct store *s, uint8_t seed);
/* Puts the blocks from `from` to before `to` and commits. */
void trace_store_put(struct store *s, uint32_t run, const struct trace_blocks *t, size_t from,
		     size_t to);
/* Puts the END behind all of them, and commits. */
void trace_store_end(struct store *s, uint32_t run, const struct trace_blocks *t);

#endif
