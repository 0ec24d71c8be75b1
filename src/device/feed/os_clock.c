/* SPDX-License-Identifier: MIT */
/* os_clock: see os_clock.h. */
#include "device/feed/os_clock.h"

#include <string.h>

#include "device/func/clock.h"

#define TRIES 4
#define FIRST_NS 1000000U

static struct os_clock_pair read_pair(const struct os_clock *c, uint64_t *ret_width)
{
	uint64_t before = func_clock_tick(c->shift, c->kind);
	uint64_t ns = func_clock_ns(CLOCK_MONOTONIC);
	uint64_t after = func_clock_tick(c->shift, c->kind);

	*ret_width = after - before;
	if (c->kind == FUNC_CLOCK_MONOTONIC)
		return (struct os_clock_pair){ .tick = ns, .ns = ns };
	return (struct os_clock_pair){ .tick = before + (after - before) / 2, .ns = ns };
}

/* The one that was not interrupted between the two. */
struct os_clock_pair os_clock_read(const struct os_clock *c)
{
	struct os_clock_pair best = { 0, 0 }, p;
	uint64_t narrowest = UINT64_MAX, width;
	int i;

	for (i = 0; i < TRIES; i++) {
		p = read_pair(c, &width);
		if (width >= narrowest)
			continue;
		narrowest = width;
		best = p;
	}
	return best;
}

/* The last one moves on until it is far enough from the one before it. */
void os_clock_push(struct os_clock *c, struct os_clock_pair p)
{
	const struct os_clock_pair *last = c->n ? &c->pairs[c->n - 1] : NULL;

	if (last && (p.ns <= last->ns || p.tick <= last->tick))
		return;
	if (c->n >= 3 && last->ns - c->pairs[c->n - 2].ns < OS_CLOCK_APART_NS) {
		c->pairs[c->n - 1] = p;
		return;
	}
	if (c->n == OS_CLOCK_PAIRS) {
		memmove(c->pairs, c->pairs + 1, (OS_CLOCK_PAIRS - 1) * sizeof(*c->pairs));
		c->n--;
	}
	c->pairs[c->n++] = p;
}

void os_clock_init(struct os_clock *c, uint32_t kind, uint32_t shift)
{
	memset(c, 0, sizeof(*c));
	c->kind = kind;
	c->shift = shift;
	os_clock_push(c, os_clock_read(c));
	while (func_clock_ns(CLOCK_MONOTONIC) - c->pairs[0].ns < FIRST_NS)
		;
	os_clock_push(c, os_clock_read(c));
}

/* a * b / c: whole multiples of c exactly; the rest, too, unless the pairs are so far apart that its
 * product needs more than 64 bits: then its last bits are given up. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t whole = a / c * b, rest = a % c;

	while (rest > UINT64_MAX / b) {
		rest >>= 1;
		c >>= 1;
	}
	return whole + rest * b / c;
}

uint64_t os_clock_tick(const struct os_clock *c, uint64_t ns)
{
	const struct os_clock_pair *a, *b;
	uint32_t i = c->n - 1;
	uint64_t back;

	if (c->kind == FUNC_CLOCK_MONOTONIC)
		return ns;
	while (i > 1 && c->pairs[i - 1].ns > ns)
		i--;
	a = &c->pairs[i - 1];
	b = &c->pairs[i];
	if (ns >= a->ns)
		return a->tick + scale(ns - a->ns, b->tick - a->tick, b->ns - a->ns);
	back = scale(a->ns - ns, b->tick - a->tick, b->ns - a->ns);
	return back < a->tick ? a->tick - back : 0;
}
