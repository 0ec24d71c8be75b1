/* SPDX-License-Identifier: MIT */
/*
 * facts_fleet: what all devices did in an hour, as one row beside those of the devices; for the engine's own files (facts_clickhouse.h).
 *
 * Whoever asks about the whole fleet would read a row for each device and each hour. As an hour says of which minutes it was made, a sum
 * says of which hours: it stands in their place as long as a question finds exactly those. So a sum is never wrong, only of no use.
 */
#ifndef KISEKI_FACTS_CLICKHOUSE_FACTS_FLEET_H
#define KISEKI_FACTS_CLICKHOUSE_FACTS_FLEET_H

#include "facts/clickhouse/facts_plan.h"

/* The plan of a question that adds up, with sums in the place of the rows that they stand for. */
int facts_fleet_plan(struct facts_plan *p, struct facts_clickhouse *c, const struct facts_query *q,
		     struct error *e);

/* Makes sums of hours in [from_s, to_s) that have none which holds: some of them, the latest first. */
int facts_fleet_make(struct facts_clickhouse *c, uint64_t from_s, uint64_t to_s, struct error *e);

#endif
