/* SPDX-License-Identifier: MIT */
/* fact_random: fact sets made of a seed, for tests and benchmarks: the same seed gives the same set. */
#ifndef KISEKI_TESTS_TOOLS_FACT_RANDOM_H
#define KISEKI_TESTS_TOOLS_FACT_RANDOM_H

#include "facts/fact_set.h"

struct fact_random {
	uint32_t seed;
	uint32_t functions; /* that there may be, in some objects */
	uint32_t stacks;    /* how many are put */
	uint64_t period_ns; /* 0: weights differ */
};

/* The key decides what is in it: stacks, time of machines, or tasks. < 0 as fact_set_init(). */
int fact_random_make(struct fact_set *ret, const struct fact_key *key, const struct fact_random *r);

/* A device or a run of that number. */
struct message_id fact_random_id(uint32_t number);

/* All that is in it but its key and version, in one order, to be freed: equal texts are equal sets. NULL: no memory. */
char *fact_random_text(struct fact_set *s);

#endif
