/* SPDX-License-Identifier: MIT */
/*
 * budget: how often to sample so that the recorder costs no more than a part of one CPU.
 *
 * What was used is looked at over windows of some seconds. Above the limit the period becomes longer at once, by as much
 * as is missing; it becomes shorter only after two windows well below, and never shorter than was asked for. Both
 * aim below the limit, so that a load which stays as it is changes nothing any more.
 *
 * It knows no clock: whoever has one says what time it is, and what was used by then.
 */
#ifndef KISEKI_DEVICE_PROFILE_BUDGET_H
#define KISEKI_DEVICE_PROFILE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_PPM_MOST 1000000U /* one CPU */
#define BUDGET_PPM_LEAST 100U
#define BUDGET_WINDOW_NS 2000000000ULL
#define BUDGET_PERIOD_MOST_NS 1000000000ULL

struct budget {
	uint32_t ppm; /* of one CPU; 0: there is no limit */
	uint64_t asked_ns, period_ns;
	uint64_t since_ns, since_used_ns; /* the window */
	uint32_t quiet;			  /* windows well below, one after the other */
};

void budget_init(struct budget *b, uint32_t ppm, uint64_t period_ns);

/* A window starts here: what was used before does not count. */
void budget_begin(struct budget *b, uint64_t now_ns, uint64_t used_ns);

/* `used_ns` is CPU time since whenever. True: the period is another one from here on. */
bool budget_turn(struct budget *b, uint64_t now_ns, uint64_t used_ns);

#endif
