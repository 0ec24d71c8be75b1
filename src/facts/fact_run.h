/* SPDX-License-Identifier: MIT */
/*
 * fact_run: what workers remember of a run between its turns: how far it was looked at, its clock, and its description.
 *
 * The description goes on for as long as the run does. So it is kept from minute to minute: only what is new of it is read, and
 * what is of no use for later minutes is forgotten. A minute from before that, as of blocks that come late, has it read anew. What
 * all runs together keep has a ceiling; a run whose description went has it read anew, too. Nothing depends on it but time.
 */
#ifndef KISEKI_FACTS_FACT_RUN_H
#define KISEKI_FACTS_FACT_RUN_H

#include "facts/fact_frontier.h"
#include "store/store.h"
#include "trace/run_description.h"

/* Bytes that the descriptions of all runs have together, between turns. */
#define FACT_TOLD_BYTES_MAX (256ULL << 20)
/* A run that sends is worked on every minute; the description of one that was not for so long goes. */
#define FACT_TOLD_IDLE_NS (300ULL * 1000000000)

struct fact_run {
	uint32_t number; /* in the store */
	struct message_id id, device;
	bool is_loaded; /* from the facts */
	struct fact_frontier frontier;
	bool has_clock;
	struct trace_clock clock;
	struct run_description *told; /* NULL: not kept */
	size_t told_bytes;
	uint64_t told_ns;	/* CLOCK_MONOTONIC: when it was used last */
	uint32_t doubts;	/* turns since blocks of it were missing */
	uint64_t failed_blocks; /* it was not understood when it had so many; 0: it was */
	bool is_told;		/* and that was said */
};

void fact_run_done(struct fact_run *r);

/* Brings its description up to what the store has, for minutes from this one on; has_clock must be. < 0: there is none, and whoever
 * needs it reads it himself, and learns why. */
int fact_run_tell(struct fact_run *r, struct store *s, uint64_t minute_s);

/* Of all runs: the descriptions that nobody uses go, and those that were used longest ago, until they have no more than so many
 * bytes. */
void fact_runs_shed(struct fact_run *runs, size_t n, uint64_t most_bytes);

#endif
