/* SPDX-License-Identifier: MIT */
/*
 * fact_diff: two lists of rows side by side, by their shares: ranges differ in length, and groups in how many devices they have.
 *
 * Rows are the same if their names are, and their objects: another build of a program meets the one before it.
 */
#ifndef KISEKI_FACTS_FACT_DIFF_H
#define KISEKI_FACTS_FACT_DIFF_H

#include "facts/facts.h"

struct fact_change {
	const struct facts_row *before, *after; /* one may be NULL: new, or gone */
	double shares[2];			/* percent of all of that side */
};

struct fact_diff {
	struct fact_change *changes; /* the largest growth first, the largest shrinkage last */
	size_t n;
};

/* Rows stay the caller's, as long as this lives; their order changes. -ENOMEM. */
int fact_diff_init(struct fact_diff *d, struct facts_rows sides[2], const struct facts_order *o);
void fact_diff_done(struct fact_diff *d);
#define CLEANUP_FACT_DIFF __attribute__((cleanup(fact_diff_done)))

static inline double fact_change_growth(const struct fact_change *c)
{
	return c->shares[1] - c->shares[0];
}

#endif
