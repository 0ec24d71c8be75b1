/* SPDX-License-Identifier: MIT */
/*
 * condition: a condition variable that waits by the monotonic clock, so that nobody who sets the
 * machine's date holds up a thread or wakes it early.
 */
#ifndef KISEKI_BASE_CONDITION_H
#define KISEKI_BASE_CONDITION_H

#include <pthread.h>
#include <stdbool.h>

#include "base/clock.h"

static inline void condition_init(pthread_cond_t *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
}

/* Until it is signalled, or clock_mono_ms() is that late: then false. */
static inline bool condition_wait(pthread_cond_t *c, pthread_mutex_t *lock, uint64_t until_ms)
{
	struct timespec t;

	t.tv_sec = (time_t)(until_ms / 1000);
	t.tv_nsec = (long)(until_ms % 1000) * (long)CLOCK_NS_PER_MS;
	return pthread_cond_timedwait(c, lock, &t) == 0;
}

#endif
