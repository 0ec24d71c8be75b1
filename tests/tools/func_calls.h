/* SPDX-License-Identifier: MIT */
/*
 * func_calls: a function source read to its end by a reader that believes nothing: what it yields, and
 * whether its calls nest.
 */
#ifndef KISEKI_TESTS_TOOLS_FUNC_CALLS_H
#define KISEKI_TESTS_TOOLS_FUNC_CALLS_H

#include <stdlib.h>

#include "trace/func_source.h"

#define FUNC_CALLS_DEPTH 1024U
#define FUNC_CALLS_MAX (1U << 20) /* a slow board has 60,000 calls of 100 us in one `ls` */

struct func_call {
	uint32_t thread, depth;
	uint64_t func, tick, ns;
};

struct func_calls {
	struct func_call calls[FUNC_CALLS_MAX]; /* in the order they ended */
	size_t n;
	uint64_t enters, exits, os, losses, lost;
	uint64_t alone; /* exits without an entry */
	uint64_t wrong; /* exits that cut through a call */
	uint64_t back;	/* steps back in time, of one thread or of the whole */
	uint64_t open;
};

struct func_calls_stack {
	struct func_call at[FUNC_CALLS_DEPTH];
	uint32_t n;
	uint64_t last;
};

static inline void func_calls_exit(struct func_calls *c, struct func_calls_stack *s,
				   const struct func_item *it)
{
	struct func_call call;

	c->exits++;
	if (!s->n) {
		c->alone++;
		return;
	}
	call = s->at[--s->n];
	if (call.func != it->event.value) {
		c->wrong++;
		s->n++;
		return;
	}
	call.ns = it->event.tick - call.tick;
	if (c->n < FUNC_CALLS_MAX)
		c->calls[c->n++] = call;
}

static inline void func_calls_take(struct func_calls *c, struct func_calls_stack *s,
				   const struct func_item *it)
{
	c->back += it->event.tick < s->last;
	s->last = it->event.tick;
	if (it->event.kind == FUNC_OS) {
		c->os++;
	} else if (it->event.kind == FUNC_EXIT) {
		func_calls_exit(c, s, it);
	} else {
		c->enters++;
		if (s->n == FUNC_CALLS_DEPTH)
			return;
		s->at[s->n] =
			(struct func_call){ it->thread, s->n, it->event.value, it->event.tick, 0 };
		s->n++;
	}
}

/* NULL: out of memory, or the source failed. Free it. */
static inline struct func_calls *func_calls_read(struct func_source *s)
{
	struct func_calls_stack *stacks = calloc(s->n_threads, sizeof(*stacks));
	struct func_calls *c = calloc(1, sizeof(*c));
	struct func_item it;
	uint64_t last = 0;
	size_t i;
	int r = -1;

	while (stacks && c && (r = s->ops->next(s, &it, NULL)) > 0) {
		if (it.type == FUNC_ITEM_LOSS) {
			c->losses++;
			c->lost += it.loss.count;
			continue;
		}
		c->back += it.event.tick < last;
		last = it.event.tick;
		func_calls_take(c, &stacks[it.thread], &it);
	}
	for (i = 0; c && stacks && i < s->n_threads; i++)
		c->open += stacks[i].n;
	free(stacks);
	if (r < 0) {
		free(c);
		return NULL;
	}
	return c;
}

#endif
