/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * description: what a run says about itself, as blocks of its stream 0 (docs/format/wire.md,
 * section 7), in a small export buffer of its own.
 *
 * The first block has machine, clock and dialect, and is put when a run begins. The tasks that are
 * there follow in as many blocks as they need: the walk over them rests when the buffer is full, and
 * goes on when the collector has taken something. It goes by number, a few at a time, so nobody
 * waits for it. Tasks that start meanwhile come with their fork event, and those that end need no name
 * any more.
 *
 * Producer and consumer of this buffer are both called under the driver's lock.
 */
#ifndef KISEKI_DEVICE_DRIVER_DESCRIPTION_H
#define KISEKI_DEVICE_DRIVER_DESCRIPTION_H

#include "device/driver/core/block_ring.h"
#include "device/driver/counter.h"
#include "wire/dialect.h"
#include "wire/task_encode.h"

#define DESCRIPTION_ROOM 16384U

struct description_facts {
	const char *device;
	u32 cpus;
	const struct counter *counter;
	const struct sched_dialect *dialect;
	u32 kinds; /* 1 << enum sched_kind: what is recorded */
	s32 agent; /* pid of the exporter's thread */
	u8 codec;  /* enum block_codec of the CPUs' blocks */
};

struct description {
	struct block_ring ring;
	u32 run;
	u64 sequence; /* of the next block of the run */
	u64 blocks, bytes;
	int next_pid; /* where the walk is; 0: it is over */
	struct task_encoder tasks;
	u8 memory[DESCRIPTION_ROOM];
};

void description_init(struct description *d);

/* -ENOSPC: the buffer is full with what others before it said. */
int description_begin(struct description *d, u32 run, const struct description_facts *facts);

/* Goes on with the tasks as far as there is room. */
void description_fill(struct description *d);

/* The run is over; what is in the buffer stays. */
void description_end(struct description *d);

#endif
