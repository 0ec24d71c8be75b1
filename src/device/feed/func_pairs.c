/* SPDX-License-Identifier: MIT */
/* func_pairs: see func_pairs.h. */
#include "device/feed/func_pairs.h"

#include "base/clock.h"
#include "wire/varint.h"

#define CLOCK_NAME "mono"
#define NEXT_NS CLOCK_NS_PER_S
#define WRONG_PART 500U /* a rate that is off by more than one part of so many is none */
#define HZ_LEAST 1000U
#define HZ_MOST (1ULL << 34)
#define REALTIME_TRIES 4

/* tick * mult >> shift, modulo 2^64; shift is at most 32. */
static uint64_t scale(uint64_t tick, uint32_t mult, uint32_t shift)
{
	uint64_t low = (tick & UINT32_MAX) * mult;
	uint64_t high = (tick >> 32) * mult + (low >> 32);

	return (high << (32 - shift)) + ((low & UINT32_MAX) >> shift);
}

static void set_realtime(struct meta_clock *c)
{
	uint64_t before, real, after;
	int i;

	for (i = 0; i < REALTIME_TRIES; i++) {
		before = clock_mono_ns();
		real = clock_real_ns();
		after = clock_mono_ns();
		if (c->has_realtime && (after - before) / 2 + 1 >= c->realtime_err_ns)
			continue;
		c->has_realtime = true;
		c->realtime_err_ns = (after - before) / 2 + 1;
		c->realtime_off_ns = (int64_t)(real - before - (after - before) / 2);
	}
}

/* The pair that the program made last; those that were never made are zero, and none is of the
 * future. */
static bool get_newest(const struct func_traced_header *h, uint64_t *ret_tick, uint64_t *ret_ns)
{
	uint32_t next = get_le32(h->bytes + FUNC_BUFFER_AT_SYNC_NEXT);
	const uint8_t *p =
		h->bytes + FUNC_BUFFER_AT_SYNC + (size_t)((next - 1) % FUNC_BUFFER_SYNCS) * 16;

	*ret_tick = get_le64(p);
	*ret_ns = get_le64(p + 8);
	return next && *ret_tick && *ret_ns && *ret_ns <= clock_mono_ns();
}

static void set_rate(struct meta_clock *c, uint64_t hz)
{
	c->shift = 32;
	while (c->shift && (CLOCK_NS_PER_S << c->shift) / hz > UINT32_MAX)
		c->shift--;
	c->mult = (uint32_t)((CLOCK_NS_PER_S << c->shift) / hz);
}

void func_pairs_init(struct func_pairs *p, const struct func_traced *t,
		     const struct func_traced_header *h)
{
	struct meta_clock *c = &p->line;
	uint64_t tick, ns;

	memset(p, 0, sizeof(*p));
	p->clock = t->clock;
	p->shift = t->shift;
	*c = (struct meta_clock){
		.name = CLOCK_NAME, .name_len = sizeof(CLOCK_NAME) - 1, .mult = 1, .print_digits = 9
	};
	set_realtime(c);
	if (t->clock == FUNC_CLOCK_MONOTONIC) {
		c->mult = 1U << t->shift;
		return;
	}
	p->hz = t->tick_hz;
	p->hz = p->hz < HZ_LEAST || p->hz > HZ_MOST ? CLOCK_NS_PER_S : p->hz;
	set_rate(c, p->hz);
	if (get_newest(h, &tick, &ns))
		c->base_ns = ns - scale(tick, c->mult, c->shift);
}

bool func_pairs_is_same(const struct func_pairs *p, uint32_t clock, uint32_t shift)
{
	return p->clock == clock && p->shift == shift;
}

/* Whether so many ticks may have taken so many ns. */
static bool fits(const struct func_pairs *p, uint64_t ticks, uint64_t ns)
{
	uint64_t expected = scale(ticks, p->line.mult, p->line.shift);
	uint64_t off = expected > ns ? expected - ns : ns - expected;

	return off <= ns / WRONG_PART;
}

bool func_pairs_next(struct func_pairs *p, const struct func_traced_header *h)
{
	uint64_t tick, ns;

	if (p->clock == FUNC_CLOCK_MONOTONIC || !get_newest(h, &tick, &ns))
		return false;
	if (p->mono_ns && (ns < p->mono_ns + NEXT_NS || tick <= p->tick ||
			   !fits(p, tick - p->tick, ns - p->mono_ns)))
		return false;
	p->tick = tick;
	p->mono_ns = ns;
	return true;
}
