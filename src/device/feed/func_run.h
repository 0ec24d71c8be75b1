/* SPDX-License-Identifier: MIT */
/*
 * func_run: the run of function streams, from its description to its end, in the spool.
 *
 * It lives beside the run of the scheduler's events, with a number, a description and an end of its
 * own: programs come and go whether or not the scheduler is traced. A thread has a row, which is
 * kept in the agent's mapped file as long as the run lives: what END says about its two streams,
 * and who it is, so that an agent that was started again goes on with it. A run has a limited
 * number of rows; when they are used up, whoever feeds it ends it, and begins another.
 *
 * Every block stands for itself (BLOCK_KEY): it starts with what is open. So nothing has to be kept
 * of a segment, what was dropped of a stream costs nothing but itself, and after a reconnection all
 * that is in the spool may simply be sent again. A row is written after its block was put. A death
 * between the two is found out by what the ring still has: an entry leaves it only when it was sent and
 * acknowledged, long after its row was written.
 */
#ifndef KISEKI_DEVICE_FEED_FUNC_RUN_H
#define KISEKI_DEVICE_FEED_FUNC_RUN_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/agent/spool.h"
#include "wire/block.h"
#include "wire/func_meta_encode.h"

#define FUNC_RUN_PAYLOAD_MOST CONFIG_BLOCK_MOST /* bytes of a block's payload */
#define FUNC_RUN_PROCESSES 65536U		/* that a run can number */

struct func_run;

struct func_run_options {
	struct spool *spool; /* borrowed */
	const char *device;  /* its name, for the description */
};

/* How many rows a spool of so many bytes can afford: their END must fit into it. 0: none, such an
 * agent takes no programs. */
uint32_t func_run_rows(uint32_t spool_bytes);

/* Takes up the run that the spool has, if there is one. */
int func_run_new(struct func_run **ret, const struct func_run_options *o, struct error *e);
void func_run_free(struct func_run *r);
DEFINE_CLEANUP(func_run, func_run_free)

/* Payloads that such a spool can take: larger ones may never find room in it. */
uint32_t func_run_block_most(const struct func_run *r);

bool func_run_is_open(const struct func_run *r);
uint32_t func_run_left(const struct func_run *r); /* rows that can still be taken */

/* A new run with its description: this machine, and the clock that all its streams have. */
int func_run_start(struct func_run *r, const struct meta_clock *clock, struct error *e);

/* Puts the END. All processes and rows are forgotten. -ENOSPC: it goes on, and is to be stopped
 * later. */
int func_run_stop(struct func_run *r, struct error *e);

/* --- who is traced; all of these may be said again; -ENOSPC: the spool is full, try later --- */

/* A process is known by its pid and the tick of its start. Its number is given. -ENOBUFS: the run has
 * as many as it can have. */
struct func_run_process {
	uint64_t start_tick;
	struct func_meta_process about; /* `number` is set */
};
int func_run_take_process(struct func_run *r, struct func_run_process *p, struct error *e);

int func_run_put_mapping(struct func_run *r, uint32_t process, const struct func_meta_mapping *m,
			 struct error *e);
int func_run_put_sync(struct func_run *r, uint64_t tick, uint64_t mono_ns, struct error *e);

/* A thread, by the number of its process and its own in there. The row that is there, or a new one:
 * -ENOBUFS if there is none left. */
struct func_run_thread {
	uint32_t process;
	uint32_t stream; /* in the process's file */
	int32_t tid;
	char comm[SCHED_COMM_LEN]; /* padded with NULs */
	uint64_t base; /* events of the process's stream before this run: set when a row is found */
};
int func_run_take_thread(struct func_run *r, struct func_run_thread *t, uint32_t *ret_row,
			 struct error *e);

/* --- blocks --- */

enum func_run_lane {
	FUNC_LANE_CALLS = 0,
	FUNC_LANE_OS = 1,
	FUNC_LANES = 2,
};

/* Where a stream is: what its blocks have told of, found and lost, and the tick they reach to. */
struct func_run_place {
	uint64_t next_sequence;
	uint64_t count;
	uint64_t until;
};
void func_run_get_place(const struct func_run *r, uint32_t row, enum func_run_lane lane,
			struct func_run_place *ret);

/* A block on its way. Of `block` the caller sets events, lost, first_tick and payload_len. */
struct func_run_block {
	uint32_t row;
	enum func_run_lane lane;
	struct block block;
	uint8_t *payload; /* BLOCK_HEADER_MAX bytes before it are written over */
	uint64_t until;	  /* the largest tick in it */
};

/* -ENOSPC: it was not put, nothing has changed; the caller waits, or tells with a later block what
 * it lost. */
int func_run_put(struct func_run *r, struct func_run_block *b);

/* For STATUS: events in blocks and lost, of this run; blocks and bytes since the start. */
struct func_run_counts {
	uint64_t events;
	uint64_t lost[LOSS_CAUSES];
	uint64_t blocks, bytes;
};
void func_run_count(const struct func_run *r, struct func_run_counts *ret);

#endif
