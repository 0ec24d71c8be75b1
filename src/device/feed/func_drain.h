/* SPDX-License-Identifier: MIT */
/*
 * func_drain: the chunks of a traced process's thread into blocks (docs/design/func.md).
 *
 * One decoder and one encoder serve all threads. What is known of a stream is how many of its events
 * blocks have told of, found and lost; a chunk says how many there were before it. So events that
 * were told are passed over, what lies between is lost, and it does not matter who drained before: a
 * chunk is read from its start, and given back when a block in the spool has its last event.
 *
 * A block is complete in itself. It ends when it is full, before what is lost, and where a chunk says
 * that other calls are open than those before it left. If the program is faster than the encoder, whole chunks go
 * as the hook wrote them; they are decoded all the same, because nobody else would notice that they
 * cannot be.
 *
 * What cannot be read is not told at once: the next chunk, or the thread's slot, says how much it was.
 */
#ifndef KISEKI_DEVICE_FEED_FUNC_DRAIN_H
#define KISEKI_DEVICE_FEED_FUNC_DRAIN_H

#include "base/cleanup.h"
#include "device/feed/func_run.h"
#include "device/feed/func_traced.h"

#define FUNC_DRAIN_BLOCK (64U << 10)	/* most bytes of a payload */
#define FUNC_DRAIN_EVENTS (1U << 20)	/* most events of a block */
#define FUNC_DRAIN_SMALL 1024U		/* bytes of the hook that may wait, */
#define FUNC_DRAIN_WAIT_MS 1000U	/* for so long */
#define FUNC_DRAIN_BUDGET (1024U << 10) /* bytes of the hook in one turn of the agent */

struct func_drain;

/* A thread, and how far it was read. */
struct func_drain_thread {
	uint32_t process; /* the feed's number */
	uint32_t stream;  /* in the process's file */
	uint32_t row;	  /* of the run */
	int32_t tid;
	uint64_t base; /* events of the stream before this run */
	uint64_t
		sequence; /* of the chunk that was read last, and up to where; all of it was told */
	uint32_t used;
	bool has_read;	 /* these two hold */
	bool is_broken;	 /* a chunk could not be read, and nothing since has said what it had */
	bool is_adopted; /* another agent had it before, and left no word how far it came */
	bool has_doubt;	 /* whether what is missing before the chunk of this sequence really is */
	uint64_t doubt;
	uint64_t waits_ms; /* since when a little waits; 0: nothing does */

	/* the feed's own, when a run ends */
	bool is_kept;  /* more may come of it */
	uint64_t told; /* what func_drain_told() said then */
};

struct func_drain_job {
	struct func_traced *traced;
	struct func_drain_thread *thread;
	const struct func_traced_chunk *chunks; /* of this stream, by sequence */
	uint32_t n;
	bool is_behind; /* the program is faster */
	bool is_last;	/* the process was gone before the chunks were looked at */
};

int func_drain_new(struct func_drain **ret, struct func_run *run, struct error *e);
void func_drain_free(struct func_drain *d);
DEFINE_CLEANUP(func_drain, func_drain_free)

/* A turn of the agent begins: it may take the budget. */
void func_drain_begin(struct func_drain *d);
bool func_drain_is_spent(const struct func_drain *d);

/* Bytes that were not read yet; *ret_due: some must not wait. */
uint64_t func_drain_pending(const struct func_drain_job *j, bool *ret_due);

/* 0: all that is there is told; 1: something is left for another turn; -ENOSPC: the spool is full, as
 * far as a block could not be put nothing has changed. */
int func_drain_put(struct func_drain *d, const struct func_drain_job *j);

/* The events that the stream has by now, as a slot counts them: what was not found is lost, `lost` of
 * them because the record was full. -ENOSPC. */
int func_drain_put_end(struct func_drain *d, const struct func_drain_job *j, uint64_t events,
		       uint64_t lost);

/* Nobody can say what its broken chunk had. */
int func_drain_put_unknown(struct func_drain *d, const struct func_drain_job *j);

/* Events of the process's stream that blocks of this run and of those before it tell of. */
uint64_t func_drain_told(const struct func_drain *d, const struct func_drain_thread *t);

size_t func_drain_memory(void);

#endif
