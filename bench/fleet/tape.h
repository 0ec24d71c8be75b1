/* SPDX-License-Identifier: MIT */
/*
 * tape: a recording (.ksk) that can be played for ever, by any number of devices at once.
 *
 * Its blocks are put in the order in which a device would have sent them, and numbered: a *place* is the
 * number of a block of an endless row, first those of the description, then the others again and again,
 * each time (*pass*) with later ticks, higher sequences and counts. Payloads hold no absolute times, so
 * a pass decodes to the recording at a later hour. The description is sent once; its clock is each
 * device's own. Nothing is kept for a device but its place: every block is made anew when it is sent.
 *
 * Invariants: every stream begins with a KEY block, numbered 0 and with no event before it; the counts of the recording have no
 * hole. What does not, is refused: the account at the end would not be exact.
 */
#ifndef KISEKI_BENCH_FLEET_TAPE_H
#define KISEKI_BENCH_FLEET_TAPE_H

#include "base/error.h"
#include "store/ksk_file.h"
#include "trace/clock.h"
#include "wire/frame.h"
#include "wire/meta_encode.h"

#define TAPE_STREAMS_MAX 1024U
#define TAPE_BLOCKS_MAX (1U << 22)
#define TAPE_NAME_MAX 64U
/* A sealed frame, the items of a description that are written anew included. */
#define TAPE_FRAME_MAX (FRAME_HEAD_MAX + FRAME_BODY_MAX + 2 * META_ITEM_ROOM + TAPE_NAME_MAX)

struct tape_block {
	struct block block; /* of the first pass */
	uint32_t slot;	    /* of its stream */
	uint64_t due_ns;    /* when it is complete, from the start of the pass */
	/* Of the pass before it: in blocks, told as lost; bytes with their headers, about. */
	uint64_t events, lost, bytes;
};

struct tape_stream {
	uint32_t number;
	uint64_t blocks, events; /* of a pass; events found and lost */
	uint64_t start;		 /* events before the recording */
};

struct tape {
	struct ksk_file *file;
	struct trace_clock clock;
	struct tape_block *blocks; /* the description, then a pass */
	size_t n, room, n_meta;
	struct tape_stream *streams;
	uint32_t n_streams;
	uint64_t events, lost, bytes; /* of a pass */
	uint64_t first_tick, ticks, span_ns;
	uint32_t cpus;
};

/* Whose block it is to be. */
struct tape_owner {
	const char *name;
	uint64_t shift_ns; /* its clock is so much later than the recording's */
	int64_t realtime_off_ns;
};

struct tape_count {
	uint64_t events, lost, bytes;
};

int tape_open(struct tape *t, const char *path, struct error *e);
void tape_close(struct tape *t);

/* Of the block at a place, from the beginning on. */
uint64_t tape_get_due_ns(const struct tape *t, uint64_t place);
/* The first place that is not due by then. */
uint64_t tape_find(const struct tape *t, uint64_t ns);
/* The first place of the pass behind the one that this place is in. */
uint64_t tape_next_pass(const struct tape *t, uint64_t place);
/* What is before a place. */
struct tape_count tape_count(const struct tape *t, uint64_t place);
/* Of the frame at a place, at most. */
uint32_t tape_get_bytes(const struct tape *t, uint64_t place);
/* Stream and sequence of the block at a place. */
uint32_t tape_get_slot(const struct tape *t, uint64_t place);
uint64_t tape_get_sequence(const struct tape *t, uint64_t place);
/* The next sequence, and the events found and lost, of a stream before a place. */
void tape_get_stream(const struct tape *t, uint64_t place, uint32_t slot, uint64_t *ret_sequence,
		     uint64_t *ret_events);

/* Writes the BLOCK frame of a place into out, which has TAPE_FRAME_MAX bytes; returns where it begins in it. */
uint8_t *tape_seal(const struct tape *t, uint64_t place, const struct tape_owner *owner,
		   uint8_t *out, uint32_t *ret_len);

#endif
