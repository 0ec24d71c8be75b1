/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * lane: the compressor of one CPU: events in, frames in its export buffer out.
 *
 * The probe calls lane_take() on its own CPU with interrupts off; there is no lock, no allocation,
 * no call that leaves this folder and src/wire. A block is encoded where it will be sent from.
 *
 *	- It ends when its payload has block_bytes, or with the first event that comes flush_ticks after
 *	  it was begun; half as long again if it has less than LANE_FEW events, for its header takes as
 *	  much as they do. A CPU on which nothing happens any more is asked by the exporter to end its
 *	  block: lane_flush(), on that CPU, or on any when the CPU is offline or the probes are gone.
 *	- No room for a block: the event is counted (LOSS_BUFFER) and told in the next block's header.
 *	  Nothing was encoded, so the segment goes on. With POLICY_FLIGHT the oldest segments make
 *	  room, and what they held the collector counts from the next KEY block's `before`.
 *	- A segment ends after segment_bytes of payload; a flight recorder's also after
 *	  LANE_SEGMENT_BLOCKS.
 *	- A block in the ring has no checksum yet: who sends it puts it in, lane_seal().
 *
 * Codec `bsf` makes each block a segment of its own, and holds switches and wakeups only: all else is
 * counted in passed_over. The ticks of its blocks' headers are those of its records: nanoseconds, whole
 * microseconds of them; a description of such a run must say so.
 *
 * This file knows no kernel: the unit tests and a fuzzer run it as it is.
 */
#ifndef KISEKI_DEVICE_DRIVER_CORE_LANE_H
#define KISEKI_DEVICE_DRIVER_CORE_LANE_H

#include "device/driver/core/block_ring.h"
#include "wire/block.h"
#include "wire/bsf_encode.h"
#include "wire/bsf_event.h"
#include "wire/message.h"
#include "wire/sched_encode.h"

#define LANE_SEGMENT 65536U	 /* bytes of payload between key blocks */
#define LANE_SEGMENT_BLOCKS 256U /* of a flight recorder, which looks at each when it drops them */
#define LANE_BLOCK CONFIG_BLOCK_LEAST /* bytes of payload, where nobody says otherwise */
#define LANE_FEW 64U		      /* events that may wait longer for others */
#define LANE_RING_LEAST 32768U	      /* bytes of export buffer that make sense */

struct lane_settings {
	uint8_t codec;	      /* CODEC_SCHED or CODEC_BSF */
	uint8_t policy;	      /* enum spool_policy */
	uint32_t run;	      /* small number that its entries carry */
	uint32_t block_bytes; /* at most an eighth of the ring is used */
	uint64_t flush_ticks;
	uint32_t mult, shift; /* ns = tick * mult >> shift, for bsf */
	uint32_t
		hash; /* random, so that nobody can choose pids that are looked up slowly; 0: none */
	const struct sched_dialect *dialect;
};

/* Counts that others read while the CPU goes on; lane_get_counts() reads them whole. */
struct lane_counts {
	uint64_t events; /* in blocks, in the open one too, and lost */
	uint64_t passed_over;
	uint64_t lost[LOSS_CAUSES];
	uint64_t blocks, bytes;
};

/* `version` is odd while the words change that lane_get_counts() and lane_is_due() read from another CPU;
 * those are written with shared_write64() or WRITE_ONCE(). All else is the lane's own. */
struct lane {
	struct block_ring ring;
	struct lane_settings settings;
	struct lane_counts counts; /* without the open block and `passed` */
	uint32_t version;
	uint32_t cpu;
	uint32_t segment_size;	       /* settings' share of the ring, for POLICY_FLIGHT */
	uint32_t segment_bytes;	       /* payload of the segment so far */
	uint32_t segment_blocks;       /* and its blocks */
	uint64_t sequence;	       /* of the next block */
	uint64_t count;		       /* events in blocks and told as lost: wire.md, 3.3 */
	uint64_t until;		       /* the end of the stream: wire.md, 3.4 */
	uint64_t pending[LOSS_CAUSES]; /* shared */
	uint64_t since;	     /* shared: when the block was begun or the first loss found */
	uint64_t deadline;   /* a block ends with the first event at or after this tick, */
	uint64_t late;	     /* or this one, while there is little in it */
	uint64_t first_tick; /* of the open block */
	uint64_t lost_tick;  /* the largest of an event that was lost and is pending */
	uint64_t from;	     /* where its `ticks` count from */
	uint8_t *payload;    /* shared: of the open block; NULL: none is open */
	uint32_t events;     /* shared: in it */
	uint32_t passed;     /* shared: not yet in counts.passed_over */
	uint32_t bsf_len, room;
	bool is_key; /* of the open block; else: must the next one be? */
	union {
		struct sched_encoder sched;
		struct {
			struct bsf_encoder encoder;
			struct bsf_context context;
		} bsf;
	} codec;
};

/* What the probe should do about the exporter. */
enum lane_wish {
	LANE_GO_ON = 0,
	LANE_WAKE = 1, /* the export buffer has just become half full */
};

/* `memory`: for the export buffer, `size` bytes, borrowed. */
void lane_init(struct lane *l, uint32_t cpu, uint8_t *memory, uint32_t size);

/* A new run: sequence and counts from 0. What is still in the buffer stays. No probe runs. */
void lane_start(struct lane *l, const struct lane_settings *s);

enum lane_wish lane_take(struct lane *l, const struct sched_event *ev);

/* An event that a filter kept out. */
void lane_pass(struct lane *l);

/* Ends the open block, and tells losses if there are some and room for it. */
void lane_flush(struct lane *l);

/* Is there something that lane_flush() would put, and has it waited since before `tick`, or before
 * `few_tick` if it is less than LANE_FEW events? Anybody may ask; the answer is a hint. */
bool lane_is_due(const struct lane *l, uint64_t tick, uint64_t few_tick);

/* The row of this lane in END. After lane_flush(), when no probe runs; what could not be told for
 * lack of room is in `events`. */
void lane_get_end(const struct lane *l, struct message_stream_end *ret);

/* Puts the checksum into the frame of a block that block_encode_open() has made, which the
 * caller has pinned: in the probe it would be the longest part of ending a block, with
 * interrupts off. Again does no harm. */
void lane_seal(struct ring_entry *e);

void lane_get_counts(const struct lane *l, struct lane_counts *ret);

#endif
