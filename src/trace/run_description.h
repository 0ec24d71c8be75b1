/* SPDX-License-Identifier: MIT */
/*
 * run_description: what a run says about itself, and of the machine that it is of: all that its stream 0 has.
 *
 * A run goes on for weeks and describes itself all the time: processes come and go. Who works it out minute by minute keeps its
 * description, reads what is new of it, and forgets what is of no use any more (sample_spaces.h); sources borrow it
 * (struct run_part). Whoever reads a run once has one of its own.
 */
#ifndef KISEKI_TRACE_RUN_DESCRIPTION_H
#define KISEKI_TRACE_RUN_DESCRIPTION_H

#include "base/cleanup.h"
#include "store/store_reader.h"
#include "trace/info_meta.h"
#include "trace/sample_guests.h"
#include "trace/sample_pace.h"
#include "trace/sample_spaces.h"

struct run_description {
	struct trace_info info; /* its clock is that of the ticks */
	struct trace_orders orders;
	struct sample_sampling sampling;
	struct sample_pace pace;
	struct sample_spaces *spaces;
	struct sample_guests *guests; /* what virtual machines said of themselves */
	uint64_t sequence;	      /* of the block that is wanted next */
	bool has_gap;		      /* blocks before that are missing, or have not come yet */
	uint64_t forgotten;	      /* moments before this tick are not to be asked for */
};

int run_description_new(struct run_description **ret); /* -ENOMEM */
void run_description_free(struct run_description *d);
DEFINE_CLEANUP(run_description, run_description_free)

/* Adds what the payload of one block says. -EBADMSG for what no encoder wrote. */
int run_description_decode(struct run_description *d, const uint8_t *in, size_t len);

/* What of it may be forgotten, also while it is read: what no moment from `tick` on needs. */
struct run_horizon {
	uint64_t tick;	     /* 0: nothing is forgotten */
	uint64_t end_ticks;  /* for how long before it those who ended are known */
	uint64_t late_ticks; /* by which rows may be older than others before them */
};

/* Adds all blocks that the reader has of it, from its beginning, or from `sequence` on if it was opened so (store_range.from_meta).
 * < 0: it is of no use any more; -ESTALE: it needs what was forgotten, and is to be read anew, without horizon; then forget. */
int run_description_read(struct run_description *d, struct block_reader *r,
			 const struct run_horizon *to, struct error *e);
int run_description_forget(struct run_description *d, const struct run_horizon *to); /* -ENOMEM */

size_t run_description_bytes(const struct run_description *d); /* of memory, about */

/* A part of a run; its description is borrowed, and must have been read up to the last block of the part. */
struct run_part {
	struct store *store;
	uint32_t run;
	struct store_range range;
	const struct run_description *told; /* NULL: it is read from the store */
};

#endif
