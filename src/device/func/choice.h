/* SPDX-License-Identifier: MIT */
/*
 * choice: what of a thread's calls is recorded, where the settings are choosy: filters by function
 * and object, depth, least time, triggers, a limit, one of so many trees (docs/func.md).
 *
 * The thread's own stack is kept here, with all calls, recorded or not: depth and trees need it. A
 * call that must first last long enough waits in its frame; when it or a call inside of it has, it
 * is recorded as if it had been at once, and nothing was recorded in between that would come before
 * it.
 */
#ifndef KISEKI_DEVICE_FUNC_CHOICE_H
#define KISEKI_DEVICE_FUNC_CHOICE_H

#include "wire/func_event.h"
#include "wire/types.h"

#define CHOICE_FRAMES 1024U
#define CHOICE_CACHE 2048U

struct gate;
struct slot;

struct choice_frame {
	uint64_t function;
	uint64_t tick;
	uintptr_t sp;
	uint16_t bits; /* enum rule_bit */
	uint8_t state; /* enum choice_state */
	uint8_t role;  /* enum choice_role */
};

struct choice {
	uint32_t depth;	     /* frames */
	uint32_t over;	     /* calls deeper than there are frames */
	uint32_t trees;	     /* open calls that RULE_TREE means */
	uint32_t root;	     /* depth of the outermost of them */
	uint32_t hidden;     /* open calls whose trees are left out */
	uint32_t sampling;   /* open calls that were chosen, or not, as one of so many */
	uint32_t turn;	     /* of trees */
	uint32_t waiting;    /* the outermost frame that waits; depth if none does */
	uint32_t generation; /* of the maps that the cache is from */
	uint32_t filtered;   /* what was, before the frame with CHOICE_GOES was counted */
	struct choice_frame frame[CHOICE_FRAMES];
	uint64_t function[CHOICE_CACHE];
	uint16_t bits[CHOICE_CACHE];
};

/* Forgets the stack: calls were missed. Those that still waited are lost. */
void choice_reset(struct slot *t);

/* A call or a return. */
void choice_push(struct gate *g, struct slot *t, const struct func_event *ev, uintptr_t sp);

#endif
