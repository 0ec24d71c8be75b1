/* SPDX-License-Identifier: MIT */
/*
 * ftrace_put: numbers and words into a buffer, as printf's %d, %5lu, %03d would, but fast.
 *
 * Each function writes at p and returns the place after what it wrote. They may scribble up to
 * 16 bytes beyond that place, so a buffer needs that much room at its end.
 */
#ifndef KISEKI_CONVERT_FTRACE_PUT_H
#define KISEKI_CONVERT_FTRACE_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/sched_event.h"

#define PUT(p, literal) put_bytes((p), (literal), sizeof(literal) - 1)

static inline char *put_bytes(char *p, const char *text, size_t len)
{
	memcpy(p, text, len);
	return p + len;
}

/* strnlen(comm, 16), eight bytes at a time where the first byte of a word is its lowest. */
static inline size_t comm_len(const char comm[SCHED_COMM_LEN])
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	const uint64_t ones = 0x0101010101010101ULL, tops = 0x8080808080808080ULL;
	uint64_t word[2], zeros;

	memcpy(word, comm, sizeof(word));
	zeros = (word[0] - ones) & ~word[0] & tops; /* exact up to the first zero byte */
	if (zeros)
		return (size_t)__builtin_ctzll(zeros) / 8;
	zeros = (word[1] - ones) & ~word[1] & tops;
	return zeros ? 8 + (size_t)__builtin_ctzll(zeros) / 8 : SCHED_COMM_LEN;
#else
	return strnlen(comm, SCHED_COMM_LEN);
#endif
}

/* "000" to "999", four bytes each; so that fixed lengths can be copied. */
extern const char put_digits[1001 * 4];

static inline char *put_fixed3(char *p, uint32_t v) /* %03u, v < 1000 */
{
	memcpy(p, put_digits + v * 4, 4);
	return p + 3;
}

/* v < 1000, without leading zeros. */
static inline char *put_short(char *p, uint32_t v)
{
	uint32_t skip = (v < 100) + (v < 10);

	memcpy(p, put_digits + v * 4 + skip, 4);
	return p + 3 - skip;
}

char *put_long(char *p, uint32_t v);

static inline char *put_u32(char *p, uint32_t v)
{
	if (v < 1000)
		return put_short(p, v);
	if (v < 1000000)
		return put_fixed3(put_short(p, v / 1000), v % 1000);
	return put_long(p, v);
}

char *put_u64(char *p, uint64_t v);
char *put_u64_right(char *p, uint64_t v, uint32_t width); /* %<width>lu */
char *put_i32_right(char *p, int32_t v, uint32_t width);  /* %<width>d */
char *put_i32_zero3(char *p, int32_t v);		  /* %03d */

static inline char *put_i32(char *p, int32_t v)
{
	if (v < 0) {
		*p++ = '-';
		return put_u32(p, 0U - (uint32_t)v);
	}
	return put_u32(p, (uint32_t)v);
}

#endif
