/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * types: the few words of the C library that src/wire needs, in user space, in the kernel and in programs that the kernel runs.
 *
 * Everything under src/wire is freestanding C11: fixed-size integers, memcpy, memset, memcmp, and
 * nothing else. This is the only file there that may ask which world it is compiled for.
 */
#ifndef KISEKI_WIRE_TYPES_H
#define KISEKI_WIRE_TYPES_H

#ifdef __KERNEL__
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>

/* The kernel spells these differently. */
#define UINT8_MAX U8_MAX
#define UINT16_MAX U16_MAX
#define UINT32_MAX U32_MAX
#define UINT64_MAX U64_MAX
#define INT32_MAX S32_MAX
#define INT32_MIN S32_MIN
#define INT64_MAX S64_MAX
#define INT64_MIN S64_MIN
#elif defined(__bpf__)
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define memcpy __builtin_memcpy
#define memset __builtin_memset
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#endif

static inline void put_be32(uint8_t *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	memcpy(p, &v, sizeof(v));
}

static inline uint32_t get_be32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return v;
}

#define ALWAYS_INLINE inline __attribute__((__always_inline__))
#define NOINLINE __attribute__((__noinline__))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)

/* Makes the compiler hold an address in a register instead of deriving it anew for each access: the
 * models lie far apart in one large struct. */
#define IN_REGISTER(pointer) __asm__("" : "+r"(pointer))

/* What a decoder answers. A decoder never reads beyond what it was given and never trusts it. */
enum wire_status {
	WIRE_OK = 0,
	WIRE_MORE = 1,	  /* the input ends before the object does */
	WIRE_CORRUPT = 2, /* the input cannot have been made by an encoder */
	WIRE_FULL = 3,	  /* the output has no room for it; nothing was written */
};

#endif
