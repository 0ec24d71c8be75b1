/* SPDX-License-Identifier: MIT */
/*
 * ftrace_put: see ftrace_put.h. Three decimal digits at a time come from a table that is built by
 * the compiler; most numbers of a trace line (pids, priorities, CPUs) take one or two steps.
 */
#include "convert/ftrace_put.h"

#define D1(a) a "0\0" a "1\0" a "2\0" a "3\0" a "4\0" a "5\0" a "6\0" a "7\0" a "8\0" a "9\0"
#define D2(a)                                                                                      \
	D1(a "0")                                                                                  \
	D1(a "1") D1(a "2") D1(a "3") D1(a "4") D1(a "5") D1(a "6") D1(a "7") D1(a "8") D1(a "9")

/* One entry more than there are numbers: the copy of a short one reads into the next. */
const char put_digits[1001 * 4] =
	D2("0") D2("1") D2("2") D2("3") D2("4") D2("5") D2("6") D2("7") D2("8") D2("9");

char *put_long(char *p, uint32_t v)
{
	p = put_u32(p, v / 1000000);
	v %= 1000000;
	return put_fixed3(put_fixed3(p, v / 1000), v % 1000);
}

char *put_u64(char *p, uint64_t v)
{
	if (v <= UINT32_MAX)
		return put_u32(p, (uint32_t)v);
	p = put_u64(p, v / 1000);
	return put_fixed3(p, (uint32_t)(v % 1000));
}

/* Moves what was written from start to p to the right end of a field. */
static char *align_right(char *start, char *p, uint32_t width)
{
	size_t len = (size_t)(p - start);

	if (len >= width)
		return p;
	memmove(start + width - len, start, len);
	memset(start, ' ', width - len);
	return start + width;
}

char *put_u64_right(char *p, uint64_t v, uint32_t width)
{
	return align_right(p, put_u64(p, v), width);
}

char *put_i32_right(char *p, int32_t v, uint32_t width)
{
	return align_right(p, put_i32(p, v), width);
}

char *put_i32_zero3(char *p, int32_t v)
{
	if (v >= 0 && v < 1000)
		return put_fixed3(p, (uint32_t)v);
	if (v < 0 && v > -100) { /* the sign counts towards the width */
		*p++ = '-';
		memcpy(p, put_digits - v * 4 + 1, 2);
		return p + 2;
	}
	return put_i32(p, v);
}
