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

void clock_set_measured(struct trace_clock *c, int64_t off_ns, uint64_t err_ns)
{
	if (!c->is_measured) {
		c->has_own = c->has_realtime;
		c->own_off_ns = c->realtime_off_ns;
	}
	c->is_measured = c->has_realtime = true;
	c->realtime_off_ns = off_ns;
	c->realtime_err_ns = err_ns;
}

bool clock_get_own(const struct trace_clock *c, int64_t *ret_off_ns)
{
	if (!(c->is_measured ? c->has_own : c->has_realtime))
		return false;
	*ret_off_ns = c->is_measured ? c->own_off_ns : c->realtime_off_ns;
	return true;
}

uint64_t clock_ns(const struct trace_clock *c, uint64_t tick)
{
	if (c->mult == 1 && c->shift == 0)
		return c->base_ns + tick;
	return c->base_ns + mul_shift(tick, c->mult, c->shift);
}

/* Long division by one 32-bit digit, from the top. */
uint64_t clock_divide(uint64_t ns, uint32_t mult, uint32_t shift, uint32_t *ret_rest)
{
	uint32_t digit[4] = { 0 };
	uint32_t word = shift / 32, bits = shift % 32;
	uint64_t low = (ns & 0xffffffffU) << bits;
	uint64_t high = ((ns >> 32) << bits) + (low >> 32);
	uint64_t rest = 0;
	int i;

	digit[word] = (uint32_t)low;
	digit[word + 1] = (uint32_t)high;
	digit[word + 2] = (uint32_t)(high >> 32);
	for (i = (int)word + 2; i >= 0; i--) {
		rest = rest << 32 | digit[i];
		digit[i] = (uint32_t)(rest / mult);
		rest %= mult;
	}
	*ret_rest = (uint32_t)rest;
	return digit[3] || digit[2] ? UINT64_MAX : (uint64_t)digit[1] << 32 | digit[0];
}

/* A counter may be older than the clock that its base is of: then the base is below 0, modulo
 * 2^64. */
static uint64_t since_base(const struct trace_clock *c, uint64_t ns)
{
	uint64_t older = 0 - c->base_ns;

	if (!(c->base_ns >> 63))
		return ns > c->base_ns ? ns - c->base_ns : 0;
	return ns > UINT64_MAX - older ? UINT64_MAX : ns + older;
}

uint64_t clock_tick_at(const struct trace_clock *c, uint64_t ns)
{
	uint64_t tick, since = since_base(c, ns);
	uint32_t rest;

	if (!since || !c->mult)
		return 0;
	if (c->mult == 1 && c->shift == 0)
		return since;
	tick = clock_divide(since, c->mult, c->shift, &rest);
	return tick + (rest && tick < UINT64_MAX);
}

uint64_t clock_tick_near(const struct trace_clock *c, uint64_t ns)
{
	uint64_t above = clock_tick_at(c, ns);

	if (!above || clock_ns(c, above) == ns)
		return above;
	return clock_ns(c, above) - ns <= ns - clock_ns(c, above - 1) ? above : above - 1;
}
