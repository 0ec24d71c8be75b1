/* SPDX-License-Identifier: MIT */
/*
 * lane_ledger: reads what a lane of the driver has put into its buffer, and holds every event and
 * every count against what the lane was given.
 *
 * It is a collector of one stream in a few lines: docs/format/wire.md, 3.6. Blocks that come again are
 * left out, a gap must be followed by a KEY block, and what is missing in between follows from `before`.
 */
#ifndef KISEKI_TESTS_LANE_LEDGER_H
#define KISEKI_TESTS_LANE_LEDGER_H

#include "device/driver/core/lane.h"
#include "wire/bsf_decode.h"
#include "wire/sched_decode.h"

struct lane_ledger {
	struct lane_settings settings;
	uint32_t cpu;
	uint64_t scale; /* nanoseconds of a tick, for bsf */
	/* The event that the lane was given as number `index`; asked for in rising order. */
	const struct sched_event *(*get)(void *context, uint64_t index);
	void *context;

	const char *wrong; /* the first rule that was broken, NULL if none was */
	uint64_t wrong_sequence;
	uint64_t next_sequence;
	uint64_t seen;	  /* events found and known to be lost */
	uint64_t found;	  /* the same as the lane was given them */
	uint64_t told;	  /* counted in headers */
	uint64_t missing; /* what KEY blocks say beyond that */
	uint64_t until;
	uint64_t blocks, keys, empty, gaps, bytes;
	uint64_t ends; /* of losses, held against the events that were lost */
	uint64_t segment_bytes, segment_bytes_most;
	bool is_broken;

	uint64_t asked;	 /* bsf: events looked at */
	uint64_t passed; /* of them without a record */
	uint64_t held;	 /* of them with one */
	struct bsf_record record;
	struct bsf_context bsf;
	struct bsf_log log;
	struct bsf_entry entries[BSF_BLOCK_RECORDS_MAX];
	struct sched_decoder sched;
};

/* About 500 KiB: not for the stack. */
void lane_ledger_init(struct lane_ledger *l, const struct lane *lane);

/* The entry is pinned, and is sealed here. */
void lane_ledger_take(struct lane_ledger *l, struct ring_entry *e);

/* After the last block: what the lane says of its end, all in all. `given`: how many events it was. */
void lane_ledger_end(struct lane_ledger *l, const struct lane *lane, uint64_t given);

#endif
