/* SPDX-License-Identifier: MIT */
/* vm_lane: see vm_lane.h. */
#include "analysis/vm_lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

void vm_lane_init(struct vm_lane *l, uint64_t min_ns, struct vm_lane_room *room)
{
	memset(l, 0, sizeof(*l));
	l->min_ns = min_ns;
	l->room = room;
}

void vm_lane_done(struct vm_lane *l)
{
	free(l->spans);
	free(l->piles);
	memset(l, 0, sizeof(*l));
}

static int count_row(struct vm_lane *l)
{
	if (l->room->n >= l->room->most)
		return -E2BIG;
	l->room->n++;
	return 0;
}

static int add_span(struct vm_lane *l, const struct vm_span *s)
{
	int r = count_row(l);

	if (r == 0)
		r = array_grow(&l->spans, l->n_spans, &l->room_spans, sizeof(*s), SIZE_MAX);
	if (r == 0)
		l->spans[l->n_spans++] = *s;
	return r;
}

static int add_pile(struct vm_lane *l)
{
	int r = count_row(l);

	if (r == 0)
		r = array_grow(&l->piles, l->n_piles, &l->room_piles, sizeof(l->pile), SIZE_MAX);
	if (r == 0)
		l->piles[l->n_piles++] = l->pile;
	return r;
}

static int close_pile(struct vm_lane *l)
{
	int r = 0;

	if (l->in_pile == 1)
		r = add_span(l, &l->first);
	else if (l->in_pile)
		r = add_pile(l);
	l->in_pile = 0;
	return r;
}

static int pile_up(struct vm_lane *l, const struct vm_span *s)
{
	if (!l->in_pile++) {
		memset(&l->pile, 0, sizeof(l->pile));
		l->pile.from_ns = s->from_ns;
		l->first = *s;
	}
	l->pile.ns[s->kind] += s->to_ns - s->from_ns;
	l->pile.to_ns = s->to_ns;
	return l->pile.to_ns - l->pile.from_ns >= l->min_ns ? close_pile(l) : 0;
}

/* What was open has its whole length. */
static int settle(struct vm_lane *l)
{
	int r;

	if (l->open.from_ns == l->open.to_ns)
		return 0;
	if (l->open.to_ns - l->open.from_ns < l->min_ns)
		return pile_up(l, &l->open);
	r = close_pile(l);
	return r < 0 ? r : add_span(l, &l->open);
}

int vm_lane_put(struct vm_lane *l, const struct vm_span *s)
{
	struct vm_span *o = &l->open;
	int r;

	if (s->from_ns >= s->to_ns)
		return 0;
	if (l->from_ns == l->to_ns)
		l->from_ns = s->from_ns;
	l->to_ns = s->to_ns;
	if (o->to_ns == s->from_ns && o->from_ns < o->to_ns && o->kind == s->kind &&
	    o->cpu == s->cpu && o->what == s->what) {
		o->to_ns = s->to_ns;
		return 0;
	}
	r = settle(l);
	*o = *s;
	return r;
}

int vm_lane_end(struct vm_lane *l)
{
	int r = settle(l);

	l->open.from_ns = l->open.to_ns;
	return r < 0 ? r : close_pile(l);
}
