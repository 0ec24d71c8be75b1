/* SPDX-License-Identifier: MIT */
/*
 * slot: a thread of the traced program: what it has open, and the chunk it writes.
 *
 * A slot lies in the shared file, so a thread needs no memory of the program and no destructor: when
 * slots run out, the kernel is asked which threads are gone. A thread that has none yet points at
 * `slot_unborn`, one that could not have one at `slot_orphan`; both have an epoch that never fits, so
 * the hook has one question less to ask.
 *
 * Invariants: only the thread itself changes its slot, but for `lost`, which a signal handler inside
 * of a hook adds to. `sp` is where the stack was when the hook began that is under way, 0 if none is;
 * `began_*` say what the hook found, so that one which was left by siglongjmp is counted right.
 * Whenever a hook may not take its short way, `limit` is 0.
 */
#ifndef KISEKI_DEVICE_FUNC_SLOT_H
#define KISEKI_DEVICE_FUNC_SLOT_H

#include "device/func/choice.h"
#include "device/func/gate.h"
#include "device/func/word.h"
#include "wire/func_hook_encode.h"

#define SLOT_SEGMENT_BYTES (256U << 10)
#define IN_ORDER() __asm__ volatile("" ::: "memory") /* for signal handlers of this thread */

struct slot {
	/* Little-endian, for everybody (enum func_buffer_slot). */
	uint32_t tid;
	uint32_t stream;
	uint32_t chunk_number;
	uint32_t depth;
	uint64_t lost;
	uint64_t events;
	char comm[16];
	uint64_t filtered;
	uint64_t unused;

	/* The hook's own, in the machine's order. */
	uintptr_t sp;
	uint8_t *chunk; /* its head; never NULL */
	uint32_t limit; /* `used` at which the chunk is full */
	uint32_t epoch;
	uint32_t began_used;
	uint32_t began_events;
	uint32_t stale;	     /* it was off: calls were missed */
	uint32_t key;	     /* the next chunk starts a segment */
	uint32_t segment;    /* bytes so far */
	uint32_t generation; /* of the maps, as told by the stream */
	uint32_t freed;	     /* what the header said when no chunk was free */
	uint32_t starved;    /* events lost since then */
	uint64_t sequence;
	struct func_hook hook __attribute__((aligned(64)));
	uint64_t near_from, near_to; /* the object that was last asked for */
	uint32_t near_generation;    /* of the maps that have it */
	struct choice choice;	     /* only there if the settings are choosy */
};
_Static_assert(offsetof(struct slot, tid) == FUNC_SLOT_AT_TID, "as in the file");
_Static_assert(offsetof(struct slot, stream) == FUNC_SLOT_AT_STREAM, "as in the file");
_Static_assert(offsetof(struct slot, chunk_number) == FUNC_SLOT_AT_CHUNK, "as in the file");
_Static_assert(offsetof(struct slot, depth) == FUNC_SLOT_AT_DEPTH, "as in the file");
_Static_assert(offsetof(struct slot, lost) == FUNC_SLOT_AT_LOST, "as in the file");
_Static_assert(offsetof(struct slot, events) == FUNC_SLOT_AT_EVENTS, "as in the file");
_Static_assert(offsetof(struct slot, comm) == FUNC_SLOT_AT_COMM, "as in the file");
_Static_assert(offsetof(struct slot, filtered) == FUNC_SLOT_AT_FILTERED, "as in the file");
_Static_assert(offsetof(struct slot, sp) == FUNC_SLOT_HEAD, "as in the file");

extern struct slot slot_unborn GATE_HIDDEN, slot_orphan GATE_HIDDEN;

/* A slot for the calling thread, which has none; NULL: all are taken. With the lock held. */
struct slot *slot_open(struct gate *g, uint32_t tid);

/* What happened, now that the hook is under way: recorded, or counted as lost. */
void slot_push(struct gate *g, struct slot *t, const struct func_event *ev);

/* From here on nothing of the event at hand is counted or recorded. The number comes first: with the
 * bytes alone, an event before this one in the same hook would look counted and not recorded. */
static inline void slot_begin(struct slot *t)
{
	t->began_events = (uint32_t)word_get64(&t->events);
	IN_ORDER();
	t->began_used = word_get(t->chunk + FUNC_CHUNK_AT_USED);
	IN_ORDER();
}

/* From here on the event at hand is somebody else's to count: a jump out of the hook loses nothing. The
 * last store decides. Called right before it is counted: a jump in between leaves it out, like one
 * before the hook had begun. */
static inline void slot_settle(struct slot *t)
{
	t->began_used = word_get(t->chunk + FUNC_CHUNK_AT_USED) - 1;
	IN_ORDER();
	t->began_events = (uint32_t)word_get64(&t->events) - 1;
	IN_ORDER();
}

/* The event at hand is lost. */
static inline void slot_lose(struct slot *t)
{
	slot_settle(t);
	word_add64(&t->lost, 1);
}

/* The bytes up to here count. */
static ALWAYS_INLINE void slot_commit(uint8_t *chunk, const uint8_t *out)
{
	word_put(chunk + FUNC_CHUNK_AT_USED, (uint32_t)(out - chunk - FUNC_CHUNK_HEAD));
}

/* Whether the stream need not be told of other maps before a call of this function; they are looked at
 * if they do not have it. */
bool slot_knows(struct gate *g, struct slot *t, uint64_t address);

/* Left out on purpose. */
static inline void slot_filter(struct slot *t, uint32_t n)
{
	slot_settle(t);
	word_put64(&t->filtered, word_get64(&t->filtered) + n);
}

/* A segment starts with what comes next. */
static inline void slot_break(struct slot *t)
{
	t->key = 1;
	t->limit = 0;
}

#endif
