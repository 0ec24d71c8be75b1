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

static inline size_t comm_len(const char comm[SCHED_COMM_LEN])
{
	return strnlen(comm, SCHED_COMM_LEN);
}

char *put_u64(char *p, uint64_t v);
char *put_u64_right(char *p, uint64_t v, uint32_t width); /* %<width>lu */
char *put_i32_right(char *p, int32_t v, uint32_t width);  /* %<width>d */
char *put_i32_zero3(char *p, int32_t v);		  /* %03d */
char *put_fixed3(char *p, uint32_t v);			  /* %03u, v < 1000 */
char *put_u32(char *p, uint32_t v);

static inline char *put_i32(char *p, int32_t v)
{
	if (v < 0) {
		*p++ = '-';
		return put_u32(p, 0U - (uint32_t)v);
	}
	return put_u32(p, (uint32_t)v);
}

#endif
