/* SPDX-License-Identifier: MIT */
/*
 * facts_sums: what all devices did in an hour, as one row of facts.sqlite beside those of the devices (docs/format/facts.md).
 *
 * Whoever asks about the whole fleet would read a row for each device and each hour. A sum stands in their place as long as it was made of
 * exactly the rows that a question finds there: its version is a mark of these, and one row that has come, gone or changed since makes another.
 * Then the rows themselves are read. So a sum is never wrong, only of no use; and nothing else has to know of it.
 */
#ifndef KISEKI_FACTS_FACTS_SUMS_H
#define KISEKI_FACTS_FACTS_SUMS_H

#include "facts/facts_view.h"

#define FACTS_SUMS_KIND 64U /* is added to the kind in the row of a sum */
#define FACTS_SUMS_LEAST 4U /* rows that are worth a sum */

/* Puts sums in the place of the rows that they stand for. */
int facts_sums_take(struct facts_view *v, const struct facts_query *q, struct error *e);

/* Makes the sum of an hour, if it has none that holds. 1: it was made. */
int facts_sums_make(struct facts_local *l, uint8_t kind, uint64_t hour_s, struct error *e);

#endif
