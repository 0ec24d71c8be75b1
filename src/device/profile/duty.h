/* SPDX-License-Identifier: MIT */
/*
 * duty: a part of each period of time, such as 10 s of each minute.
 *
 * Where in its period the part lies is drawn anew each time, so that devices which were started together do not record
 * and send at the same moments, and what the machine does each minute is not always in it, or never.
 *
 * It knows no clock: whoever has one says what time it is.
 */
#ifndef KISEKI_DEVICE_PROFILE_DUTY_H
#define KISEKI_DEVICE_PROFILE_DUTY_H

#include <stdbool.h>
#include <stdint.h>

struct duty {
	uint64_t on_ns, every_ns; /* on_ns 0: it is always on */
	uint64_t random;	  /* not 0 */
	uint64_t start_ns;	  /* of this period */
	uint64_t from_ns;	  /* of the part of it */
};

void duty_init(struct duty *d, uint64_t on_ns, uint64_t every_ns, uint64_t random, uint64_t now_ns);

/* Times never step back. */
bool duty_is_on(struct duty *d, uint64_t now_ns);

/* When that changes next; UINT64_MAX: never. Of the moment of the last duty_is_on(). */
uint64_t duty_next_ns(const struct duty *d, uint64_t now_ns);

#endif
