/* SPDX-License-Identifier: MIT */
/*
 * boot_lane: records of a boot chart into blocks, and the blocks into the spool (agent/spool.h).
 *
 * One run, one stream. A block ends when it is full or when its oldest record has waited long enough. When a
 * segment has become large, or blocks had no room, boot_lane_wants_all() says so before a pass: then a new
 * segment begins, and everything that holds is said again. Until then, what comes behind a block that had no
 * room is counted as lost.
 */
#ifndef KISEKI_DEVICE_BOOT_BOOT_LANE_H
#define KISEKI_DEVICE_BOOT_BOOT_LANE_H

#include "device/agent/run_meta.h"
#include "device/agent/spool.h"
#include "device/boot/record_sink.h"
#include "wire/boot_encode.h"

#define BOOT_LANE_BLOCK 8192U	 /* bytes of payload at which a block ends */
#define BOOT_LANE_SEGMENT 65536U /* and a segment */
#define BOOT_LANE_FLUSH_MS 500U	 /* the longest that a record waits in a block */
#define BOOT_LANE_ROOM (BOOT_LANE_BLOCK + BOOT_BLOCK_LEAST)

struct boot_lane {
	struct record_sink sink; /* first: this is what others put into */
	struct spool *spool;	 /* borrowed */
	uint32_t run;
	bool is_on, is_open;
	bool is_key;	/* of the open block; else: must the next one be? */
	bool is_broken; /* a new segment has to begin, and has not */
	uint64_t next_sequence, count, until;
	uint64_t pending[LOSS_CAUSES], lost[LOSS_CAUSES];
	uint32_t unknown; /* 1 << cause */
	uint64_t first_tick, block_until;
	uint64_t since_ms, now_ms;
	uint32_t segment_bytes;
	uint64_t blocks, bytes;
	struct run_meta meta;
	struct meta_clock
		clock; /* with the real time of the start: marks say how it changed since */
	struct boot_encoder encoder;
	uint8_t room[BLOCK_HEADER_MAX + BOOT_LANE_ROOM];
};

void boot_lane_init(struct boot_lane *l, struct spool *spool, const char *device);

/* Begins a run, with its description. */
int boot_lane_start(struct boot_lane *l, uint32_t cpus, struct error *e);

/* Before a pass: 1: say everything, a segment begins; 0: go on; negative: there is no room. */
int boot_lane_wants_all(struct boot_lane *l);

/* Ends the block if it has waited long enough, or if it must. */
void boot_lane_flush(struct boot_lane *l, uint64_t now_ms, bool must);

/* The description once more: what is known better at the end. */
int boot_lane_describe(struct boot_lane *l, uint32_t cpus);

/* Puts what is there, and the run's end. */
int boot_lane_stop(struct boot_lane *l, struct error *e);

/* All records so far, in blocks and lost. */
uint64_t boot_lane_count(const struct boot_lane *l);

#endif
