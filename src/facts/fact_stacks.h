/* SPDX-License-Identifier: MIT */
/*
 * fact_stacks: stacks of a minute that came before, with the node of the tree that they are: most samples are such ones.
 *
 * A stack is a thread, where the CPU was, and all addresses, so nothing of it must be named to find it. It is the same as long as what lies
 * at its addresses is, and its process has its name. What comes again is only counted, and told at the end.
 */
#ifndef KISEKI_FACTS_FACT_STACKS_H
#define KISEKI_FACTS_FACT_STACKS_H

#include "analysis/profile_walk.h"
#include "facts/fact_set.h"

#define FACT_STACKS_MAX (1U << 16) /* others are not kept, and are named each time */

/* One that came again, so many times. */
struct fact_stack {
	uint32_t node;
	uint64_t values[FACT_VALUES];
	const uint32_t *places;
	size_t n;
};

struct fact_stacks;

int fact_stacks_new(struct fact_stacks **ret); /* -ENOMEM */
void fact_stacks_free(struct fact_stacks *s);
DEFINE_CLEANUP(fact_stacks, fact_stacks_free)

/* Counts it, if it is kept. `age` is how often processes were renamed so far. */
bool fact_stacks_again(struct fact_stacks *s, const struct sample_event *ev, uint32_t thread,
		       uint64_t age);

/* Keeps one that is not, or holds no longer; the sample itself is not counted. Without memory, or room, it is not kept. */
void fact_stacks_keep(struct fact_stacks *s, const struct profile_sample *sample, uint32_t node,
		      uint64_t age);

/* All that came again; *at starts at 0. */
bool fact_stacks_next(const struct fact_stacks *s, size_t *at, struct fact_stack *ret);

#endif
