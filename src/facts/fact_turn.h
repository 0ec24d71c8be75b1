/* SPDX-License-Identifier: MIT */
/*
 * fact_turn: one run's turn at the workers: what is new of it, which of its minutes are ripe, and where their facts go.
 *
 * A turn has three parts. It begins with a look at the store; then its jobs are done, by anybody; then their sets and how far the run
 * was looked at are put together, with those of other turns, and it ends. What failed waits for the next turn.
 */
#ifndef KISEKI_FACTS_FACT_TURN_H
#define KISEKI_FACTS_FACT_TURN_H

#include "facts/fact_pool.h"
#include "facts/fact_run.h"
#include "facts/facts.h"

#define FACT_TURN_MINUTES 32U /* that are worked out in one turn */

struct fact_turn {
	struct store *store;
	struct facts *facts;
	struct store_run run; /* as the store has it now */
	struct fact_run *state;
	uint64_t now_ns; /* CLOCK_REALTIME */
	bool all;	 /* minutes that are not over are ripe, too */

	/* out */
	struct fact_job *jobs;
	size_t n_jobs;
	uint64_t minutes;  /* that the jobs are of */
	bool has_more;	   /* ripe ones are left, and this turn got on */
	uint64_t oldest_s; /* the oldest that waits and is ripe; 0: none */
	uint64_t put, again, late, events, work_ns;
	struct facts_batch batch; /* of the sets that came out of the jobs */
	const struct fact_set **sets;
	uint8_t *carry;
};

/* -ENOENT: the run is gone. */
int fact_turn_begin(struct fact_turn *t, struct error *e);
/* The jobs are done: makes the batch. -ENOMEM, or what a job said; the batch is there all the same. */
int fact_turn_settle(struct fact_turn *t, struct error *e);
/* It was put, or not, with that result. */
void fact_turn_end(struct fact_turn *t, int result);
void fact_turn_done(struct fact_turn *t);

#endif
