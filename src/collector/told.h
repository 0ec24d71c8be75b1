/* SPDX-License-Identifier: MIT */
/*
 * told: what a device was told when it came back, and how far it has answered.
 *
 * Instructions that could not be told are settled by these answers. Who finds a device away writes that down
 * without a lock, and meanwhile the device may come and answer: arrivals are therefore counted, and so is the
 * one that was answered.
 */
#ifndef KISEKI_COLLECTOR_TOLD_H
#define KISEKI_COLLECTOR_TOLD_H

#include "collector/fleet.h"

#define TOLD_MAX 2U

struct told {
	uint64_t ids[TOLD_MAX]; /* of instructions that are not answered; 0: it is */
	uint64_t late;		/* one that was given up waiting for */
	uint64_t arrivals, answered;
	bool waits; /* instructions of it are written down that wait for an answer */
	struct fleet_result result;
};

/* The device has come, and is told this. True: nothing, so it has done all. */
bool told_start(struct told *t, const struct message_instruction *told, uint32_t n);

/* An answer. True: it was the last that was lacking; t->result has what came of it. */
bool told_push(struct told *t, const struct message_result *m);

/* An instruction was written down as one that waits; `arrivals` is what it was when that was decided. True:
 * the answer was there first. */
bool told_wait(struct told *t, uint64_t arrivals);

#endif
