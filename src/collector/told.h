/* SPDX-License-Identifier: MIT */
/*
 * told: what a device was told when it came back, and how far it has answered.
 *
 * Instructions that could not be told are settled by these answers. Who finds a device away writes that down
 * without a lock, and meanwhile the device may come and answer: arrivals are therefore counted, and so is the
 * one that was answered. Answers to what was given up waiting for settle that one alone.
 */
#ifndef KISEKI_COLLECTOR_TOLD_H
#define KISEKI_COLLECTOR_TOLD_H

#include "collector/fleet.h"

#define TOLD_MAX 2U
#define TOLD_LATE_MAX 8U /* the oldest is forgotten; the next arrival settles it */

struct told {
	uint64_t ids[TOLD_MAX]; /* of instructions that are not answered; 0: it is */
	struct told_late {
		uint64_t id, number; /* number of fleet.h; 0: none */
	} late[TOLD_LATE_MAX];	     /* given up waiting for, the latest first */
	uint64_t arrivals, answered;
	bool waits; /* instructions of it are written down that wait for an answer */
	struct fleet_result result;
};

/* The device has come, and is told this. True: nothing, so it has done all. */
bool told_start(struct told *t, const struct message_instruction *told, uint32_t n);

/* An answer. True: it was the last that was lacking; t->result has what came of it. */
bool told_push(struct told *t, const struct message_result *m);

/* An instruction is given up waiting for. */
void told_put_late(struct told *t, uint64_t id, uint64_t number);

/* An answer to such a one: its number, *ret what came of it; 0: it is none. */
uint64_t told_take_late(struct told *t, const struct message_result *m, struct fleet_result *ret);

/* An instruction was written down as one that waits; `arrivals` is what it was when that was decided. True:
 * the answer was there first. */
bool told_wait(struct told *t, uint64_t arrivals);

#endif
