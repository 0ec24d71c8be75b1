/* SPDX-License-Identifier: MIT */
/*
 * spool: the blocks that the collector does not have yet, in memory of a fixed size.
 *
 * A ring of entries, oldest first, in the agent's mapped file (memory.h), so that they outlive the
 * agent, and on a disk also the power. An entry is published by one store, after its bytes; a death
 * at any point leaves it whole or not there. With it goes the recorder's state after it (struct
 * checkpoint), by the same store, which makes "this block exists" and "its events were taken from
 * the source" one fact.
 *
 * When it is full: with POLICY_OLDEST it says so and the caller counts what it cannot put; with
 * POLICY_FLIGHT the oldest entries make room, and what is left of a segment that lost its key block
 * is passed over by the reader, because nobody could decode it. The collector sees a jump in the
 * sequence, and the next key block says how many events there were. Descriptions and ends are not
 * dropped but moved behind the latest entry: without them the rest could be neither read nor
 * counted. A part of the ring is kept free for them, so that a run can end however full it is.
 *
 * Two runs may be current: one of the scheduler's events, and one of calls (func_run.h), whose
 * streams have no checkpoints here. A block of calls is always a key block, so each of them is worth
 * sending; after a reconnection those that the collector has already come again, and it drops them.
 *
 * A third may be that of a recorder beside the agent: a boot chart (device/boot/boot_lane.h), or a profile
 * (device/profile/profile_link.h). It is not started again when it dies, so what is known of that run, and of its
 * streams, is only here and not in the mapped file.
 *
 * One thread uses it.
 */
#ifndef KISEKI_DEVICE_AGENT_SPOOL_H
#define KISEKI_DEVICE_AGENT_SPOOL_H

#include "base/cleanup.h"
#include "base/error.h"
#include "wire/frame.h"
#include "wire/message.h"

#define SPOOL_META_MOST (4U << 10) /* bytes of a description's block */
#define SPOOL_END_ROW 24U	   /* and of a row of an END, at most */

/* What a run is of. */
enum spool_kind {
	SPOOL_EVENTS = 0,
	SPOOL_CALLS = 1,
	SPOOL_BESIDE = 2,
	SPOOL_KINDS = 3,
};

/* In place of a CPU: the description of a run, by its kind. */
#define SPOOL_META UINT32_MAX
#define SPOOL_FUNC_META (UINT32_MAX - 1)
#define SPOOL_BESIDE_META (UINT32_MAX - 2)

static inline uint32_t spool_meta_of(enum spool_kind kind)
{
	return kind == SPOOL_CALLS    ? SPOOL_FUNC_META
	       : kind == SPOOL_BESIDE ? SPOOL_BESIDE_META
				      : SPOOL_META;
}

struct spool;
struct memory;

struct spool_entry {
	uint32_t kind;	 /* FRAME_BLOCK or FRAME_RUN_END */
	uint32_t run;	 /* number of the run; spool_get_run() has its identity */
	uint32_t stream; /* FRAME_BLOCK only, as the next */
	uint64_t sequence;
	bool key;	      /* of a description: nobody else says it, so it is never dropped */
	uint32_t events;      /* and those that its header tells as lost: what goes with it */
	const uint8_t *bytes; /* the frame's body; borrowed until the spool is changed */
	uint32_t len;
};

/* Where one CPU's stream is, after an entry. */
struct checkpoint {
	uint64_t position;   /* of the source: everything before it is in blocks or counted */
	uint64_t ring_total; /* losses that the kernel has counted and that are told or pending */
	uint64_t next_sequence; /* of the stream */
	uint64_t count;		/* events of the stream so far, found and lost (wire.md, 3.3) */
	uint64_t until;		/* its end tick */
	uint64_t pending[LOSS_CAUSES]; /* lost and not yet told in a header */
	uint64_t lost[LOSS_CAUSES];    /* of the run, told or pending, for STATUS */
	uint32_t unknown;	       /* 1 << cause: beside `pending`, some that nobody counted */
	uint32_t zero;
};

struct spool_options {
	struct memory *memory; /* borrowed */
	uint8_t policy;	       /* enum spool_policy */
	bool has_beside;       /* there may be a run of a recorder beside the agent */
	uint32_t samplers;     /* CPUs that may have a stream of samples in it */
	uint32_t keep_meta;    /* bytes for what such a run says of itself at its end */
	uint32_t sync_ms;      /* of a spool on a disk: how often it is written there; 0: never */
};

/* Finds what an earlier agent left. */
int spool_open(struct spool **ret, const struct spool_options *o, struct error *e);
void spool_free(struct spool *s);
DEFINE_CLEANUP(spool, spool_free)

void spool_set_policy(struct spool *s, uint8_t policy);

/* A run: what it is, and what it was told to record. */
struct spool_run {
	uint32_t number;
	uint8_t kind;	   /* enum spool_kind; only one of events has origin and config */
	bool is_described; /* all of its description is in the spool, or was */
	uint8_t origin;	   /* enum trace_origin: the source that it has */
	struct message_id id;
	struct message_config config;
};

/* The run that is not over: an agent that finds one goes on with it. */
bool spool_get_current(const struct spool *s, enum spool_kind kind, struct spool_run *ret);

/* Begins one with no checkpoints, and gives it a number. -ENOSPC if the spool holds blocks of as
 * many runs as a HELLO can name. A current one of the same kind is left without an end. */
int spool_start_run(struct spool *s, struct spool_run *run, struct error *e);
void spool_set_described(struct spool *s, enum spool_kind kind);

/* The current run is over, and nobody can say how: nothing of it is left in the kernel. */
void spool_abandon(struct spool *s, enum spool_kind kind);

/* The state of a stream of the current run after its last entry. Of a description `next_sequence` is
 * of use, and `position` is whatever its writer wants. */
void spool_get_checkpoint(struct spool *s, uint32_t cpu, struct checkpoint *ret);

/* The state alone, for what left no entry: events that were counted or passed over. */
void spool_save(struct spool *s, uint32_t cpu, const struct checkpoint *at);

/* Would a block of so many bytes be taken? */
bool spool_has_room(const struct spool *s, uint32_t len);

/* Writes to the disk what is due by now. 1: it did, 0: nothing was due. After a failure it is due again. */
int spool_sync(struct spool *s, uint64_t now_ms, struct error *e);

/* Puts an entry with the state after it; streams of calls, boot charts and profiles have none. The body is copied. An end also
 * ends the run. 0, or -ENOSPC where the policy is to keep the oldest, or where descriptions of calls
 * are all that there is. */
int spool_put(struct spool *s, const struct spool_entry *entry, uint32_t cpu,
	      const struct checkpoint *after);

/* All entries, oldest first, sent or not; *place is 0 at first. False at the end. */
bool spool_next(const struct spool *s, uint64_t *place, struct spool_entry *ret);

/* Where the rows of threads are. Borrowed. */
struct memory *spool_get_memory(const struct spool *s);

/* --- what the uplink needs --- */

/* A new connection: the oldest entry is the next again, and frames count from zero. */
void spool_rewind(struct spool *s);

/* The next entry that was not sent; false if there is none. */
bool spool_peek(struct spool *s, struct spool_entry *ret);
void spool_sent(struct spool *s); /* the one just peeked at */

/* So many frames since the rewind are durable: their entries are gone. Less than before is
 * ignored, more than were sent is -EPROTO. */
int spool_ack(struct spool *s, uint64_t frames);

/* After a rewind, before the first peek: the collector has all of this stream below next. */
void spool_resume(struct spool *s, uint32_t run, uint32_t stream, uint64_t next_sequence);

/* The runs that still matter, oldest first: those with entries, and the current ones. */
uint32_t spool_get_runs(const struct spool *s, uint32_t numbers[MESSAGE_RUNS_MAX]);
const struct message_id *spool_get_run(const struct spool *s, uint32_t number);

/* Where it is empty, and nothing outlives it, its memory goes back to the machine. */
void spool_give_back(struct spool *s);

uint64_t spool_used(const struct spool *s);
uint64_t spool_size(const struct spool *s);
uint64_t spool_unsent(const struct spool *s); /* bytes */

#endif
