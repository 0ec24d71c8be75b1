/* SPDX-License-Identifier: MIT */
/* clock: see clock.h. */
#include "trace/clock.h"

#include <errno.h>
#include <stddef.h>
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

bool clock_name_is_ticks(const char *name)
{
	/* Those of kernel/trace/trace.c, and of its architectures, that are not "in_ns". */
	static const char *const names[] = { "counter", "x86-tsc", "ppc-tb", "s390-tod" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* The multiplier has 32 bits, so it is right to some parts of 10^10. It is never 1 without a shift, which
 * would look like a clock of nanoseconds. */
void clock_set_rate(struct trace_clock *c, uint64_t hz)
{
	const uint64_t second_ns = 1000000000;
	uint64_t whole = second_ns / hz, rest = second_ns % hz;
	uint32_t shift = 0;

	while (whole < 1U << 31 && shift < 63) {
		whole = whole << 1 | (rest << 1 >= hz);
		rest = (rest << 1) % hz;
		shift++;
	}
	whole += rest << 1 >= hz && whole < UINT32_MAX;
	c->mult = (uint32_t)whole;
	c->shift = shift;
	c->print_digits = 9;
}

int clock_parse_rate(const char *text, uint64_t *ret)
{
	static const char units[] = "kMG";
	uint64_t value = 0, scale = 1;
	const char *p = text, *unit;
	uint32_t digits = 0; /* behind the point */
	bool point = false;
	ptrdiff_t n;

	for (; (*p >= '0' && *p <= '9') || (*p == '.' && !point); p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		if (value > CLOCK_HZ_MAX)
			return -EINVAL;
		value = value * 10 + (uint64_t)(*p - '0');
		digits += point;
	}
	unit = *p ? strchr(units, *p) : NULL;
	for (n = unit ? unit - units + 1 : 0; n; n--)
		scale *= 1000;
	p += scale != 1;
	p += strncmp(p, "Hz", 2) ? 0 : 2;
	for (; digits && scale % 10 == 0; digits--)
		scale /= 10;
	if (*p || digits || !value || value > CLOCK_HZ_MAX / scale)
		return -EINVAL;
	*ret = value * scale;
	return 0;
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
