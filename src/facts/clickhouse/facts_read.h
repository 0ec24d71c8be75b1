/* SPDX-License-Identifier: MIT */
/* facts_read: the sets of rows that a plan has; for the engine's own files (facts_clickhouse.h). */
#ifndef KISEKI_FACTS_CLICKHOUSE_FACTS_READ_H
#define KISEKI_FACTS_CLICKHOUSE_FACTS_READ_H

#include "facts/clickhouse/facts_plan.h"

#define FACTS_READ_AT_ONCE 64U

/* The sets of at most FACTS_READ_AT_ONCE rows, by time. -EAGAIN: one is gone. */
struct facts_read {
	struct fact_set sets[FACTS_READ_AT_ONCE];
	size_t n;
	uint64_t damaged; /* left out */
};
int facts_read_init(struct facts_read *r, struct facts_clickhouse *c, const struct facts_plan *p,
		    size_t from, struct error *e);
void facts_read_done(struct facts_read *r);

/* Adds the trees of all rows to an empty set; the plan is by device then. -EAGAIN: one is gone. */
int facts_read_tree(struct facts_clickhouse *c, struct facts_plan *p, struct fact_set *to,
		    struct facts_basis *b, struct error *e);

#endif
