/* SPDX-License-Identifier: MIT */
/*
 * clock: what time it is, as one number. The monotonic clock is for waiting and measuring, the real
 * one for what people and other machines are told.
 */
#ifndef KISEKI_BASE_CLOCK_H
#define KISEKI_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_S 1000000000ULL
#define CLOCK_NS_PER_MS 1000000ULL

static inline uint64_t clock_get_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * CLOCK_NS_PER_S + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_mono_ns(void)
{
	return clock_get_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_mono_ms(void)
{
	return clock_mono_ns() / CLOCK_NS_PER_MS;
}

/* A clock that says a time before 1970 was never set: 0, not one that is far ahead. */
static inline uint64_t clock_real_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec < 0 ? 0 : (uint64_t)t.tv_sec * CLOCK_NS_PER_S + (uint64_t)t.tv_nsec;
}

#endif
