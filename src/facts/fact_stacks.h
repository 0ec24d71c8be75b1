/* SPDX-License-Identifier: MIT */
/*
 * fact_stacks: callers of a minute that came before, with the node of the tree that they are: most samples have such ones.
 *
 * Callers are a thread, where the CPU was, and all addresses but the innermost, which is another one in almost every sample; so nothing of
 * them must be named to find them. They are the same as long as what lies at their addresses is, and their process has its name.
 */
#ifndef KISEKI_FACTS_FACT_STACKS_H
#define KISEKI_FACTS_FACT_STACKS_H

#include "analysis/profile_walk.h"

#define FACT_STACKS_MAX (1U << 16) /* others are not kept, and are named each time */

struct fact_stack {
	uint32_t node;	  /* of the tree: the innermost caller */
	uint64_t samples; /* that had them again */
	const uint32_t *places;
	size_t n;
};

struct fact_stacks;

int fact_stacks_new(struct fact_stacks **ret); /* -ENOMEM */
void fact_stacks_free(struct fact_stacks *s);
DEFINE_CLEANUP(fact_stacks, fact_stacks_free)

/* The callers of a sample that has an address, if they are kept and hold; else NULL. `age` is how often processes were renamed so far. */
struct fact_stack *fact_stacks_get(struct fact_stacks *s, const struct sample_event *ev,
				   uint32_t thread, uint64_t age);

/* Keeps those of a sample for which there were none: `callers` places of it are theirs, the last ones. Without memory, or room, they are
 * not kept. */
struct fact_stacks_new_one {
	const struct profile_sample *sample;
	size_t callers;
	uint32_t node;
	uint64_t age;
};
void fact_stacks_keep(struct fact_stacks *s, const struct fact_stacks_new_one *new_one);

/* All, in the order in which they came; also those that hold no longer. *at starts at 0; NULL at the end. */
const struct fact_stack *fact_stacks_next(const struct fact_stacks *s, size_t *at);

#endif
