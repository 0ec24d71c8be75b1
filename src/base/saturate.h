/* SPDX-License-Identifier: MIT */
/*
 * saturate: a number with a fraction as a whole one. Shares and rates of numbers that a file or a device says may be larger
 * than any integer, and what C makes of these is not defined.
 */
#ifndef KISEKI_SATURATE_H
#define KISEKI_SATURATE_H

#include <stdint.h>

/* Without its fraction; 0 of what is below or no number, the largest of what is above. */
static inline uint64_t saturate_u64(double x)
{
	if (!(x > 0))
		return 0;
	return x < 0x1p64 ? (uint64_t)x : UINT64_MAX;
}

#endif
