/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * atomics: the words that two CPUs share, by the kernel's names for it, in the kernel and in user
 * space.
 *
 * Words are of 32 bits or pointers: all machines read and write those in one go. A count of 64 bits
 * may be torn on a 32-bit machine; shared_read64() only promises that it is read at all, a version
 * word (lane.h) says whether what was read belongs together.
 *
 * This is the only file of core/ besides errors.h that asks which world it is compiled for.
 */
#ifndef KISEKI_DEVICE_DRIVER_CORE_ATOMICS_H
#define KISEKI_DEVICE_DRIVER_CORE_ATOMICS_H

#include "wire/types.h"

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/compiler.h>
#else
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)

/* Returns what was there; `new_word` is there now if that was `old`. */
static inline uint32_t cmpxchg(uint32_t *p, uint32_t old, uint32_t new_word)
{
	__atomic_compare_exchange_n(p, &old, new_word, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}
#endif

#if __SIZEOF_LONG__ == 8
static inline uint64_t shared_read64(const uint64_t *p)
{
	return READ_ONCE(*p);
}

static inline void shared_write64(uint64_t *p, uint64_t v)
{
	WRITE_ONCE(*p, v);
}
#else
/* Two halves in the order of memory, whichever that is. */
typedef uint32_t __attribute__((__may_alias__)) shared_half;

static inline uint64_t shared_read64(const uint64_t *p)
{
	const shared_half *half = (const shared_half *)p;
	uint32_t both[2] = { READ_ONCE(half[0]), READ_ONCE(half[1]) };
	uint64_t v;

	memcpy(&v, both, sizeof(v));
	return v;
}

static inline void shared_write64(uint64_t *p, uint64_t v)
{
	shared_half *half = (shared_half *)p;
	uint32_t both[2];

	memcpy(both, &v, sizeof(v));
	WRITE_ONCE(half[0], both[0]);
	WRITE_ONCE(half[1], both[1]);
}
#endif

#endif
