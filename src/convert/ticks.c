/* SPDX-License-Identifier: MIT */
/*
 * ticks: see ticks.h.
 *
 * Scaled counters. Let w = 2^shift and A the first stamp. Tick k of the counter lies at
 * k * mult + theta, in units of 1/w ns after A, for an unknown theta in [0, mult); its stamp is that
 * position rounded down to a whole ns. So a stamp s tells that theta lies in the arc of length w
 * that begins at (s - A) * w mod mult, on a circle of mult points. If the frequency is right, one
 * point lies in the arcs of all stamps; if it is wrong, soon none does.
 *
 * Stamps may be off the grid, and then their arc is wrong. The first SAMPLE stamps therefore vote:
 * the point that most arcs cover begins the search; each later stamp either narrows the arc or is
 * counted as off the grid. A wrong stamp that gets through can only cut off less than the vote left
 * open, about one part in SAMPLE.
 *
 * At the end, theta must become a base of whole nanoseconds, because ns = base + (tick * mult >>
 * shift) has no other freedom: base = A - D works if -D * w mod mult lies in the arc, and the
 * smallest such D is found by Euclid's descent.
 */
#include "convert/ticks.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define SAMPLE 2048U
#define GLANCE 128U
#define CHANGES_LEAST 32U /* fewer stamps prove nothing */
#define OFF_GRID_PART 200U
#define GROUP 8U /* differences that share a divisor */

struct scaled {
	uint32_t mult, shift;
	uint32_t arc_from, arc_len; /* where theta may be */
	uint64_t off_grid;
	bool alive;
};

struct divisor {
	uint64_t d, rest; /* stamps are rest mod d; d = 0: none */
	uint64_t off_grid;
};

static const uint32_t frequencies[] = {
	32000,	   32768,     1000000,	 6000000,   6500000,   8000000,	  10000000,  12000000,
	12288000,  13000000,  14318180,	 16000000,  16666666,  16666667,  19200000,  20000000,
	22579200,  24000000,  24576000,	 25000000,  26000000,  27000000,  30000000,  31250000,
	32000000,  33000000,  33333333,	 33333334,  37500000,  38400000,  40000000,  41666666,
	41666667,  48000000,  50000000,	 52000000,  54000000,  55555555,  60000000,  62500000,
	64000000,  65000000,  66000000,	 66666666,  66666667,  66666687,  74250000,  75000000,
	76800000,  80000000,  81000000,	 83333333,  83333334,  96000000,  100000000, 108000000,
	111111111, 114285714, 120000000, 125000000, 133333333, 133333334, 150000000, 166666666,
	166666667, 192000000, 200000000, 240000000, 250000000, 300000000, 325000000, 333333333,
	333333343, 375000000, 400000000, 499999999,
};
#define FREQUENCIES (sizeof(frequencies) / sizeof(frequencies[0]))

struct ticks {
	uint64_t stamps;
	uint64_t changes; /* stamps that differ from the one before: only these are evidence */
	uint64_t first, last, least;
	uint64_t common; /* the greatest common divisor of all differences */
	bool settled;	 /* the sample has voted */
	uint64_t sample[SAMPLE];
	struct divisor divisor;
	struct scaled scaled[FREQUENCIES];
};

void ticks_kernel_scale(uint32_t hz, uint32_t *ret_mult, uint32_t *ret_shift)
{
	uint64_t seconds_high = ((uint64_t)3600 * hz) >> 32;
	uint32_t bits = 32, shift = 33;
	uint64_t mult;

	/* mult may have as many bits as keep 3600 s of ticks times it below 2^64. */
	for (; seconds_high; seconds_high >>= 1)
		bits--;
	/* A whole ns per tick fits for any frequency, so this ends. */
	do {
		shift--;
		mult = (((uint64_t)1000000000 << shift) + hz / 2) / hz;
	} while (mult >> bits);
	*ret_mult = (uint32_t)mult;
	*ret_shift = shift;
}

struct ticks *ticks_new(void)
{
	struct ticks *t = calloc(1, sizeof(*t));
	size_t i;

	if (!t)
		return NULL;
	t->least = UINT64_MAX;
	for (i = 0; i < FREQUENCIES; i++) {
		struct scaled *s = &t->scaled[i];

		ticks_kernel_scale(frequencies[i], &s->mult, &s->shift);
	}
	return t;
}

void ticks_free(struct ticks *t)
{
	free(t);
}

static uint64_t greatest_common(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Where the arc of a stamp begins. */
static uint32_t arc_of(const struct scaled *s, uint64_t ns, uint64_t anchor)
{
	uint32_t rest;

	clock_divide(distance(ns, anchor), s->mult, s->shift, &rest);
	return ns >= anchor || !rest ? rest : s->mult - rest;
}

static uint32_t arc_width(const struct scaled *s)
{
	return 1U << s->shift; /* below mult / 2, since a tick is longer than 2 ns */
}

static int compare_u32(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The vote. Arcs have one width, so the most covered point is the begin of one of them, and the
 * arcs over it are those that begin up to a width before: less than half of the circle, so that none
 * is among them twice. */
static void vote(struct ticks *t, struct scaled *s, size_t n)
{
	uint32_t from[SAMPLE], width = arc_width(s);
	size_t i, first = 0, best = 0, best_i = 0, best_first = 0;

	assert(n > 0 && n <= SAMPLE);
	for (i = 0; i < n; i++)
		from[i] = arc_of(s, t->sample[i], t->first);
	qsort(from, n, sizeof(from[0]), compare_u32);
	/* i runs around the circle once more, for arcs that reach over its end. */
	for (i = 0; i < 2 * n; i++) {
		uint64_t at = from[i % n] + (uint64_t)(i / n) * s->mult;

		while (at - (from[first % n] + (uint64_t)(first / n) * s->mult) >= width)
			first++;
		if (i - first + 1 > best) {
			best = i - first + 1;
			best_i = i;
			best_first = first;
		}
	}
	s->arc_from = from[best_i % n];
	s->arc_len =
		width - (uint32_t)(from[best_i % n] + (uint64_t)(best_i / n) * s->mult -
				   (from[best_first % n] + (uint64_t)(best_first / n) * s->mult));
	s->off_grid = n - best;
}

/* The divisor that most groups of neighbouring differences share, by majority vote. */
static uint64_t common_in_groups(const uint64_t *stamp, size_t n)
{
	uint64_t found = 0, g = 0, d;
	size_t i, in_group = 0, votes = 0;

	for (i = 1; i < n; i++) {
		d = distance(stamp[i], stamp[i - 1]);
		if (!d)
			continue;
		g = greatest_common(g, d);
		if (++in_group < GROUP)
			continue;
		if (!votes)
			found = g;
		if (g == found)
			votes++;
		else
			votes--;
		g = 0;
		in_group = 0;
	}
	return found;
}

static void settle_divisor(struct ticks *t, size_t n)
{
	struct divisor *v = &t->divisor;
	size_t i, votes = 0;

	v->d = common_in_groups(t->sample, n);
	if (v->d <= 1 || v->d > INT32_MAX) {
		v->d = 0;
		return;
	}
	for (i = 0; i < n; i++) {
		if (!votes)
			v->rest = t->sample[i] % v->d;
		if (t->sample[i] % v->d == v->rest)
			votes++;
		else
			votes--;
	}
	for (i = 0; i < n; i++)
		v->off_grid += t->sample[i] % v->d != v->rest;
}

static void settle(struct ticks *t)
{
	size_t n = t->stamps < SAMPLE ? (size_t)t->stamps : SAMPLE;
	size_t i;

	t->settled = true;
	settle_divisor(t, n);
	for (i = 0; i < FREQUENCIES; i++) {
		struct scaled *s = &t->scaled[i];

		/* A tick of whole nanoseconds is a divisor, which is the cheaper question. */
		s->alive = s->mult % arc_width(s) != 0;
		if (!s->alive)
			continue;
		/* A few stamps are enough to send nearly all away. */
		vote(t, s, n < GLANCE ? n : GLANCE);
		s->alive = s->off_grid * 8 <= GLANCE;
		if (!s->alive || n <= GLANCE)
			continue;
		vote(t, s, n);
		s->alive = s->off_grid * OFF_GRID_PART <= n;
	}
}

static void narrow(struct scaled *s, uint32_t from)
{
	uint32_t width = arc_width(s);
	uint32_t ahead = from >= s->arc_from ? from - s->arc_from : from + (s->mult - s->arc_from);

	if (ahead < s->arc_len) {
		s->arc_from = from;
		s->arc_len = s->arc_len - ahead < width ? s->arc_len - ahead : width;
	} else if (ahead > s->mult - width) {
		ahead = width - (s->mult - ahead); /* what it covers of the present arc */
		s->arc_len = s->arc_len < ahead ? s->arc_len : ahead;
	} else {
		s->off_grid++;
	}
}

/* A candidate that is far beyond what is allowed will not come back. */
static bool is_hopeless(uint64_t off_grid, uint64_t stamps)
{
	return off_grid > SAMPLE && off_grid / 2 > stamps / OFF_GRID_PART;
}

static void check(struct ticks *t, uint64_t ns)
{
	size_t i;

	if (t->divisor.d && ns % t->divisor.d != t->divisor.rest) {
		t->divisor.off_grid++;
		if (is_hopeless(t->divisor.off_grid, t->stamps))
			t->divisor.d = 0;
	}
	for (i = 0; i < FREQUENCIES; i++) {
		struct scaled *s = &t->scaled[i];

		if (!s->alive)
			continue;
		narrow(s, arc_of(s, ns, t->first));
		if (is_hopeless(s->off_grid, t->stamps))
			s->alive = false;
	}
}

void ticks_feed(struct ticks *t, uint64_t ns)
{
	if (!t->stamps)
		t->first = ns;
	ticks_feed_bound(t, ns);
	t->changes += ns != t->last;
	t->last = ns;
	if (t->common != 1)
		t->common = greatest_common(t->common, distance(ns, t->first));
	if (t->stamps < SAMPLE)
		t->sample[t->stamps] = ns;
	t->stamps++;
	if (t->stamps == SAMPLE)
		settle(t);
	else if (t->stamps > SAMPLE)
		check(t, ns);
}

void ticks_feed_bound(struct ticks *t, uint64_t ns)
{
	if (ns < t->least)
		t->least = ns;
}

/* The smallest x with low <= a * x mod m <= high, for 0 < low <= high < m < 2^32, where a multiple of
 * what a and m share lies in the range, so that there is one. If no multiple of a lies in the range
 * itself, x goes around m some y times, and y solves the same question for the rests modulo a; a
 * halves at least, so this is short. */
static uint64_t first_in_range(uint64_t a, uint64_t m, uint64_t low, uint64_t high)
{
	uint64_t x, y;

	assert(a && low);
	if (2 * a > m)
		return first_in_range(m - a, m, m - high, m - low);
	x = (low + a - 1) / a;
	if (x * a <= high)
		return x;
	y = first_in_range((a - m % a) % a, a, low % a, high % a);
	return (low + m * y + a - 1) / a;
}

/* How far before the anchor a base can lie, from `least` to `most` ns. Arcs begin at multiples of their
 * width, modulo m: so does what is left of them, and some number of steps always leads there. */
static bool find_base(const struct scaled *s, uint64_t least, uint64_t most, uint64_t *ret)
{
	uint64_t m = s->mult;
	uint64_t step = (m - arc_width(s)) % m; /* theta for one ns more */
	uint64_t low = (s->arc_from + (m - step * (least % m) % m)) % m;
	uint64_t more = 0;

	if (low && low + s->arc_len <= m)
		more = first_in_range(step, m, low, low + s->arc_len - 1);
	if (more > most - least)
		return false;
	*ret = least + more;
	return true;
}

/* What the base lies before: all stamps, and the times that as a base mean one before zero (clock.c). */
static uint64_t base_limit(const struct ticks *t)
{
	return t->least < INT64_MAX ? t->least : INT64_MAX;
}

/* The base is before all stamps, so that tick 0, which means "none" in a loss, is no event's. Only
 * where the counter had just started may the first event be at tick 0. */
static bool place_scaled(const struct ticks *t, const struct scaled *s, struct trace_clock *c)
{
	uint64_t back = t->first - base_limit(t);
	uint64_t period = (s->mult >> s->shift) + 1;
	uint64_t d;

	if ((base_limit(t) < period || !find_base(s, back + period, t->first, &d)) &&
	    !find_base(s, back, t->first, &d))
		return false;
	c->mult = s->mult;
	c->shift = s->shift;
	c->base_ns = t->first - d;
	return true;
}

static void place_divisor(const struct ticks *t, const struct divisor *v, struct trace_clock *c)
{
	uint64_t limit = base_limit(t), last = limit ? limit - 1 : 0;

	c->mult = (uint32_t)v->d;
	c->shift = 0;
	c->base_ns = last >= v->rest ? last - (last - v->rest) % v->d : v->rest;
}

/* A divisor that all stamps share is better than one that most do, if the latter failed. */
static bool choose_divisor(const struct ticks *t, struct divisor *ret)
{
	*ret = t->divisor;
	if (ret->d && ret->off_grid * OFF_GRID_PART <= t->stamps)
		return true;
	assert(t->common); /* stamps that change differ from the first */
	ret->d = t->common;
	ret->rest = t->first % t->common;
	return ret->d > 1 && ret->d <= INT32_MAX;
}

bool ticks_decide(struct ticks *t, struct trace_clock *clock)
{
	struct divisor divisor;
	bool divides = false;
	size_t i;

	clock->mult = 1;
	clock->shift = 0;
	clock->base_ns = 0;
	if (t->changes < CHANGES_LEAST)
		return false;
	if (!t->settled)
		settle(t);
	divides = choose_divisor(t, &divisor);
	for (i = 0; i < FREQUENCIES; i++) { /* from the slowest, which has the coarsest ticks */
		const struct scaled *s = &t->scaled[i];

		if (divides && divisor.d >= s->mult >> s->shift)
			break;
		if (s->alive && s->off_grid * OFF_GRID_PART <= t->stamps &&
		    place_scaled(t, s, clock))
			return true;
	}
	if (divides)
		place_divisor(t, &divisor, clock);
	return divides;
}

static int feed_all(struct ticks *t, struct trace_source *s, struct error *e)
{
	const struct trace_clock *c = &s->info.clock;
	struct trace_item item;
	int r;

	while ((r = s->ops->next(s, &item, e)) > 0) {
		if (item.type == ITEM_EVENT)
			ticks_feed(t, clock_event_ns(c, &item.event));
		else if (item.loss.from_tick)
			ticks_feed_bound(t, clock_ns(c, item.loss.from_tick));
		else if (item.loss.to_tick)
			ticks_feed_bound(t, clock_ns(c, item.loss.to_tick));
	}
	return r;
}

DEFINE_CLEANUP(ticks, ticks_free)

int ticks_find(struct trace_source *s, struct trace_clock *clock, struct error *e)
{
	CLEANUP(ticks) struct ticks *t = NULL;
	int r;

	*clock = s->info.clock;
	if (clock->mult != 1 || clock->shift != 0)
		return 0;
	/* A pipe is found out before its events are used up. */
	r = s->ops->rewind(s, e);
	if (r < 0)
		return r;
	t = ticks_new();
	if (!t)
		return error_set(e, ENOMEM, "cannot look for the counter: out of memory");
	r = feed_all(t, s, e);
	if (r < 0)
		return r;
	r = s->ops->rewind(s, e);
	if (r < 0)
		return r;
	return ticks_decide(t, clock);
}
