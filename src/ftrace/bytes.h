/* SPDX-License-Identifier: MIT */
/*
 * bytes: integers of 1, 2, 4 or 8 bytes whose byte order is known only at run time.
 *
 * Traces come from machines of either endianness. Values are put together by memcpy and a swap,
 * which compilers turn into one load, and never by a cast, so alignment does not matter.
 */
#ifndef KISEKI_FTRACE_BYTES_H
#define KISEKI_FTRACE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BYTES_HOST_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint16_t bytes_get16(const uint8_t *p, bool big)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return big == BYTES_HOST_BIG ? v : __builtin_bswap16(v);
}

static inline uint32_t bytes_get32(const uint8_t *p, bool big)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return big == BYTES_HOST_BIG ? v : __builtin_bswap32(v);
}

static inline uint64_t bytes_get64(const uint8_t *p, bool big)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return big == BYTES_HOST_BIG ? v : __builtin_bswap64(v);
}

/* A long of the traced kernel; size is 4 or 8. */
static inline uint64_t bytes_get_long(const uint8_t *p, unsigned int size, bool big)
{
	return size == 8 ? bytes_get64(p, big) : bytes_get32(p, big);
}

#endif
