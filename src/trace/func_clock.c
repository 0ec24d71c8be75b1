/* SPDX-License-Identifier: MIT */
/* func_clock: see func_clock.h. */
#include "trace/func_clock.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000ULL
#define APART_NS 100000U /* by which two sources' ideas of one moment may differ: read late */

/* By how much, in ppm, a nominal rate may be wrong (on x86 it is measured in a hurry); two that were
 * found for one counter may differ; and CLOCK_MONOTONIC may be steered. */
#define NOMINAL_PPM 10000U
#define SAME_PPM 5000U
#define STEERED_PPM 1000U

/* 64 x 64 bits, without __int128. */
static void multiply(uint64_t a, uint64_t b, uint64_t *ret_high, uint64_t *ret_low)
{
	uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
	uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32);
	uint64_t other = a0 * b1 + (mid & UINT32_MAX);

	*ret_high = a1 * b1 + (mid >> 32) + (other >> 32);
	*ret_low = other << 32 | (low & UINT32_MAX);
}

uint64_t func_clock_scale(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t high, low, quotient = 0;
	bool carry;
	int i;

	multiply(a, b, &high, &low);
	if (!c || high >= c)
		return UINT64_MAX;
	if (!high)
		return low / c;
	for (i = 0; i < 64; i++) {
		carry = high >> 63;
		high = high << 1 | low >> 63;
		low <<= 1;
		quotient <<= 1;
		if (carry || high >= c) {
			high -= c;
			quotient |= 1;
		}
	}
	return quotient;
}

static uint64_t span_ns(const struct trace_clock *c, uint64_t ticks)
{
	return clock_ns(c, ticks) - c->base_ns;
}

/* ns in so many ticks, as mult and shift with as many bits as there are. */
static bool set_rate(struct trace_clock *c, uint64_t ns, uint64_t ticks)
{
	uint64_t mult;
	uint32_t shift = 0;

	/* Both stay in proportion to 2^-32 and better, and leave room to be shifted. */
	while ((ns | ticks) >> 62) {
		ns >>= 1;
		ticks >>= 1;
	}
	mult = func_clock_scale(ns, 1, ticks);
	if (!ticks || mult > UINT32_MAX)
		return false;
	while (shift < 63) {
		mult = func_clock_scale(ns, 1ULL << (shift + 1), ticks);
		if (mult > UINT32_MAX)
			break;
		shift++;
	}
	mult = func_clock_scale(ns, 1ULL << shift, ticks);
	if (!mult)
		return false;
	c->mult = (uint32_t)mult;
	c->shift = shift;
	return true;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static bool is_near(uint64_t a, uint64_t b, uint32_t ppm)
{
	return distance(a, b) <= (a > b ? a : b) / (1000000 / ppm);
}

/* The best rate that the pairs and the frequency give, into the line. */
static void fit_rate(struct func_source *s, uint64_t hz)
{
	const struct func_sync *first = s->syncs, *last = s->syncs + (s->n_syncs - 1);
	uint64_t ns = last->mono_ns - first->mono_ns, ticks = last->tick - first->tick;
	bool rises = last->mono_ns > first->mono_ns && last->tick > first->tick;

	if (rises && ns >= FUNC_CLOCK_RATE_NS &&
	    (!hz || is_near(func_clock_scale(ticks, SECOND_NS, hz), ns, NOMINAL_PPM)) &&
	    set_rate(&s->clock, ns, ticks))
		return;
	if (hz && set_rate(&s->clock, SECOND_NS, hz))
		return;
	if (rises && set_rate(&s->clock, ns, ticks))
		return;
	s->clock.mult = 1;
	s->clock.shift = 0;
}

static int by_tick(const void *a, const void *b)
{
	const struct func_sync *x = a, *y = b;

	if (x->tick != y->tick)
		return x->tick < y->tick ? -1 : 1;
	return x->mono_ns < y->mono_ns ? -1 : x->mono_ns > y->mono_ns;
}

/* Leaves the first pair and those that are worth a knot. */
static void keep_knots(struct func_source *s)
{
	size_t i, n = 1;

	for (i = 1; i < s->n_syncs; i++) {
		const struct func_sync *a = &s->syncs[n - 1], *b = &s->syncs[i];

		if (b->mono_ns <= a->mono_ns || b->mono_ns - a->mono_ns < FUNC_CLOCK_KNOT_NS ||
		    !is_near(span_ns(&s->clock, b->tick - a->tick), b->mono_ns - a->mono_ns,
			     STEERED_PPM))
			continue;
		s->syncs[n++] = *b;
	}
	s->n_syncs = n;
}

void func_clock_settle(struct func_source *s, uint64_t hz)
{
	const struct func_sync *first;

	s->clock.mult = 1;
	s->clock.shift = 0;
	s->clock.base_ns = 0;
	s->clock.print_digits = 9;
	memset(s->clock.name, 0, sizeof(s->clock.name));
	memcpy(s->clock.name, "mono", 4);
	if (!s->n_syncs) {
		if (hz)
			set_rate(&s->clock, SECOND_NS, hz);
		return;
	}
	qsort(s->syncs, s->n_syncs, sizeof(*s->syncs), by_tick);
	fit_rate(s, hz);
	first = s->syncs;
	/* Modulo 2^64: a counter may be older than CLOCK_MONOTONIC. */
	s->clock.base_ns = first->mono_ns - span_ns(&s->clock, first->tick);
	keep_knots(s);
}

/* How many knots lie at or before the tick. */
static size_t knots_until(const struct func_source *s, uint64_t tick)
{
	size_t lo = 0, hi = s->n_syncs, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->syncs[mid].tick <= tick)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint64_t func_clock_ns(const struct func_source *s, uint64_t tick)
{
	size_t n = knots_until(s, tick);
	const struct func_sync *a, *b;
	uint64_t back;

	if (!s->n_syncs)
		return clock_ns(&s->clock, tick);
	if (n == 0) {
		/* Rounded up: what is subtracted must not make two ticks change places. */
		back = span_ns(&s->clock, s->syncs[0].tick - tick);
		return back + 1 < s->syncs[0].mono_ns ? s->syncs[0].mono_ns - back - 1 : 0;
	}
	a = &s->syncs[n - 1];
	if (n == s->n_syncs)
		return a->mono_ns + span_ns(&s->clock, tick - a->tick);
	b = a + 1;
	return a->mono_ns +
	       func_clock_scale(tick - a->tick, b->mono_ns - a->mono_ns, b->tick - a->tick);
}

/* How many knots lie before these nanoseconds. */
static size_t knots_before(const struct func_source *s, uint64_t ns)
{
	size_t lo = 0, hi = s->n_syncs, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (s->syncs[mid].mono_ns < ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint64_t func_clock_tick_at(const struct func_source *s, uint64_t ns)
{
	size_t n = knots_before(s, ns);
	struct trace_clock line = s->clock;
	const struct func_sync *a, *b;
	uint64_t lo = 0, hi, mid;

	if (!s->n_syncs)
		return clock_tick_at(&line, ns);
	a = &s->syncs[n ? n - 1 : 0];
	if (n == s->n_syncs) {
		line.base_ns = 0;
		mid = clock_tick_at(&line, ns - a->mono_ns);
		return mid > UINT64_MAX - a->tick ? UINT64_MAX : a->tick + mid;
	}
	if (n) {
		b = a + 1;
		mid = a->tick +
		      func_clock_scale(ns - a->mono_ns, b->tick - a->tick, b->mono_ns - a->mono_ns);
		return mid + (func_clock_ns(s, mid) < ns);
	}
	/* Before the first knot, which is rare; ns() does not fall, so it can be searched. */
	for (hi = a->tick; lo < hi;) {
		mid = lo + (hi - lo) / 2;
		if (func_clock_ns(s, mid) < ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool func_clock_is_same(const struct func_source *a, const struct func_source *b)
{
	uint64_t span = 1ULL << 32, ns, most;

	if (!is_near(span_ns(&a->clock, span), span_ns(&b->clock, span), SAME_PPM))
		return false;
	if (!a->n_syncs || !b->n_syncs)
		return a->clock.base_ns == b->clock.base_ns && !a->n_syncs && !b->n_syncs;
	/* One says when the other's first pair was: the further they are apart, the less it can know
	 * that, for its rate is only known so well. */
	ns = b->syncs[0].mono_ns;
	most = APART_NS + distance(a->syncs[0].mono_ns, ns) / (1000000 / SAME_PPM);
	return distance(func_clock_ns(a, b->syncs[0].tick), ns) <= most;
}
