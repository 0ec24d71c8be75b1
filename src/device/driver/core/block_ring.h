/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * block_ring: the export buffer of one CPU: whole frames, made in place by the CPU's probes, read in
 * place by the exporter, one fixed piece of memory.
 *
 *	        tail            next            head
 *	         v               v               v
 *	  ...free|sent, not acked|not sent yet   |open block|free...
 *
 * One producer (the CPU, interrupts off) and one consumer (the exporter's thread), no lock. The
 * producer alone moves `head`. The consumer moves `tail` when the collector has acknowledged; with
 * POLICY_FLIGHT the producer moves it, too, over whole segments, when it needs the room. The
 * consumer says in `pin` what it is reading: the producer takes no memory from there on, even if it
 * has moved the tail beyond it. Each side writes its own word first, then looks at the other's,
 * with a full barrier between the two: they cannot miss each other. block_ring.c has the proof.
 *
 * An entry lies in one piece. What is left at the end of the memory is skipped. Positions count
 * units over many rounds of the memory, up to 2^32 or a little less, so that full and empty differ
 * without a power of two, and so that a consumer that held on to a position while the producer went
 * round and round is told from one that is up to date: 16 GiB may pass before they are confused.
 * Should that ever happen, an entry knows its own position: nothing is taken for one that is none.
 *
 * This file knows no kernel: the unit tests run it with threads.
 */
#ifndef KISEKI_DEVICE_DRIVER_CORE_BLOCK_RING_H
#define KISEKI_DEVICE_DRIVER_CORE_BLOCK_RING_H

#include "wire/types.h"

#define BLOCK_RING_UNIT 8U /* entries start at multiples of it */

struct block_ring {
	uint8_t *memory;
	uint32_t size;	/* a multiple of BLOCK_RING_UNIT, at most 2^30 */
	uint32_t units; /* in `size` */
	uint32_t span;	/* positions there are: the most whole rounds that 32 bits can count */
	uint32_t head;	/* written by the producer */
	uint32_t tail;	/* by the consumer; with POLICY_FLIGHT by both */
	uint32_t pin;	/* by the consumer: a position, or BLOCK_RING_NO_PIN */
	uint32_t open;	/* producer's own: where the reserved entry starts */
	uint32_t open_room;
	bool is_cut; /* producer's own: the segment that goes on was given up; whoever sees it, clears it */
};

#define BLOCK_RING_NO_PIN UINT32_MAX

/* What the consumer sees of an entry. */
struct ring_entry {
	uint8_t *bytes; /* a whole frame; while it is pinned, the consumer may change it */
	uint32_t len;
	uint32_t run;	   /* small number of the run that it belongs to */
	uint64_t sequence; /* of its stream */
	uint32_t end;	   /* the position behind it, for block_ring_free() */
	bool key;
};

/* `size` is rounded down. Memory and ring belong to the caller. */
void block_ring_init(struct block_ring *r, uint8_t *memory, uint32_t size);

/* --- the producer --- */

/* Room for `room` bytes in one piece; until it is committed or given up there is no other. NULL:
 * there is none; more than half of the memory may be too much even when it is empty, since an entry lies
 * in one piece. `overwrite`: the oldest segments are given up for it, as far as that is possible. */
uint8_t *block_ring_reserve(struct block_ring *r, uint32_t room, bool overwrite);

/* The frame lies in the reserved room, at `bytes`, which may start behind the room's first byte. Only
 * what it needs stays taken. From now on the consumer sees it. `e` has len, run, sequence and key. */
void block_ring_commit(struct block_ring *r, const uint8_t *bytes, const struct ring_entry *e);

void block_ring_give_up(struct block_ring *r);

/* The largest room that can be had without skipping the end of the memory; whether it is free is
 * another question. */
uint32_t block_ring_piece(const struct block_ring *r);

/* --- the consumer --- */

/* The entry at *position, and that it is being read. A position that the producer has overtaken is
 * moved to the oldest that is there. False: there is none; nothing is pinned. */
bool block_ring_pin(struct block_ring *r, uint32_t *position, struct ring_entry *ret);
void block_ring_unpin(struct block_ring *r);

/* Where the oldest entry is: the start of reading after a connection was made. */
uint32_t block_ring_oldest(const struct block_ring *r);

/* All that is before this position is forgotten; one that lies before the tail changes nothing. */
void block_ring_free(struct block_ring *r, uint32_t position);

/* --- anybody --- */

uint32_t block_ring_used(const struct block_ring *r);

#endif
