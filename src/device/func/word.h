/* SPDX-License-Identifier: MIT */
/*
 * word: the little-endian numbers of the shared file, by single loads and stores.
 *
 * Other processes read the file while it changes, and signal handlers interrupt whoever changes it,
 * so a word is loaded, stored or swapped as a whole. Numbers of 64 bits that are counted up by more
 * than one are changed word by word: no 32-bit machine needs a library for that, and the carry is
 * never lost, only late.
 */
#ifndef KISEKI_DEVICE_FUNC_WORD_H
#define KISEKI_DEVICE_FUNC_WORD_H

#include "wire/types.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define WORD_LE32(v) ((uint32_t)(v))
#define WORD_LE64(v) ((uint64_t)(v))
#else
#define WORD_LE32(v) __builtin_bswap32(v)
#define WORD_LE64(v) __builtin_bswap64(v)
#endif

static ALWAYS_INLINE uint32_t word_get(const void *p)
{
	return WORD_LE32(__atomic_load_n((const uint32_t *)p, __ATOMIC_RELAXED));
}

static ALWAYS_INLINE uint32_t word_get_acquire(const void *p)
{
	return WORD_LE32(__atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE));
}

/* After everything before it. */
static ALWAYS_INLINE void word_put(void *p, uint32_t v)
{
	__atomic_store_n((uint32_t *)p, WORD_LE32(v), __ATOMIC_RELEASE);
}

static inline bool word_replace(void *p, uint32_t from, uint32_t to)
{
	uint32_t expected = WORD_LE32(from);

	return __atomic_compare_exchange_n((uint32_t *)p, &expected, WORD_LE32(to), false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Returns what it was before. */
static inline uint32_t word_add(void *p, uint32_t n)
{
	uint32_t was;

	do
		was = word_get(p);
	while (!word_replace(p, was, was + n));
	return was;
}

/* The 64-bit number at p, which nobody else changes meanwhile. */
static inline uint64_t word_get64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return WORD_LE64(v);
}

static inline void word_put64(void *p, uint64_t v)
{
	v = WORD_LE64(v);
	memcpy(p, &v, sizeof(v));
}

/* Several may add to it. n may be the negative of a number. */
static inline void word_add64(void *p, uint64_t n)
{
	uint32_t low = (uint32_t)n, high = (uint32_t)(n >> 32), was = word_add(p, low);

	high += (uint32_t)(was + low) < low;
	if (high)
		word_add((uint8_t *)p + 4, high);
}

#endif
