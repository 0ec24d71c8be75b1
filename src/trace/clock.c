/* SPDX-License-Identifier: MIT */
/* clock: see clock.h. */
#include "trace/clock.h"

#include <string.h>

/* 64 x 32 bit products, 96 bits wide, without __int128: 32-bit builds have none. */
static uint64_t mul_shift(uint64_t a, uint32_t mult, uint32_t shift)
{
	uint64_t lo = (a & 0xffffffffU) * mult;
	uint64_t hi = (a >> 32) * mult + (lo >> 32);

	lo &= 0xffffffffU; /* the product is hi * 2^32 + lo */
	if (shift == 0)
		return (hi << 32) | lo;
	if (shift < 32)
		return (hi << (32 - shift)) | (lo >> shift);
	return hi >> (shift - 32);
}

void clock_init(struct trace_clock *c)
{
	memset(c, 0, sizeof(*c));
	c->mult = 1;
	c->print_digits = 9;
}

uint64_t clock_ns(const struct trace_clock *c, uint64_t tick)
{
	if (c->mult == 1 && c->shift == 0)
		return c->base_ns + tick;
	return c->base_ns + mul_shift(tick, c->mult, c->shift);
}

uint64_t clock_tick_at(const struct trace_clock *c, uint64_t ns)
{
	uint64_t lo = 0, hi, mid;

	if (ns <= c->base_ns)
		return 0;
	if (c->mult == 1 && c->shift == 0)
		return ns - c->base_ns;
	/* The conversion is monotonic, so bisect; doubling first keeps the product in range. */
	for (hi = 1; clock_ns(c, hi) < ns && hi < (1ULL << 62); hi <<= 1)
		;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (clock_ns(c, mid) < ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
