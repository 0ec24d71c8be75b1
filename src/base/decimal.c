/* SPDX-License-Identifier: MIT */
/* decimal: see decimal.h. Two digits per division, and 32-bit divisions where they suffice, because
 * 32-bit hosts divide 64 bits in software. */
#include "base/decimal.h"

#include <string.h>

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233"
			    "34353637383940414243444546474849505152535455565758596061626364656667"
			    "6869707172737475767778798081828384858687888990919293949596979899";

/* Writes the digits of v so that they end before `end`; returns the first. */
static char *digits_before(char *end, uint64_t v)
{
	uint32_t small;

	while (v > UINT32_MAX) {
		end -= 2;
		memcpy(end, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	for (small = (uint32_t)v; small >= 100; small /= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (small % 100), 2);
	}
	if (small >= 10) {
		end -= 2;
		memcpy(end, pairs + 2 * small, 2);
	} else {
		*--end = (char)('0' + small);
	}
	return end;
}

char *decimal_put_u64(char *p, uint64_t v)
{
	char text[DECIMAL_MAX];
	char *first;
	size_t n;

	if (v < 10) {
		*p = (char)('0' + v);
		return p + 1;
	}
	first = digits_before(text + sizeof(text), v);
	n = (size_t)(text + sizeof(text) - first);
	memcpy(p, first, n);
	return p + n;
}

char *decimal_put_i64(char *p, int64_t v)
{
	if (v >= 0)
		return decimal_put_u64(p, (uint64_t)v);
	*p++ = '-';
	return decimal_put_u64(p, 0 - (uint64_t)v);
}

char *decimal_put_milli(char *p, uint64_t v)
{
	uint32_t rest = (uint32_t)(v % 1000);

	p = decimal_put_u64(p, v / 1000);
	p[0] = '.';
	p[1] = (char)('0' + rest / 100);
	memcpy(p + 2, pairs + 2 * (rest % 100), 2);
	return p + 4;
}
