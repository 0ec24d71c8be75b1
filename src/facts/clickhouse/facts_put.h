/* SPDX-License-Identifier: MIT */
/* facts_put: rows of the table `facts` on their way there; for the engine's own files (facts_clickhouse.h). */
#ifndef KISEKI_FACTS_CLICKHOUSE_FACTS_PUT_H
#define KISEKI_FACTS_CLICKHOUSE_FACTS_PUT_H

#include "facts/clickhouse/fact_row.h"
#include "facts/clickhouse/facts_clickhouse.h"

#define FACTS_PUT_BYTES_MAX (1U << 30)

/* Appends a set. -E2BIG, -ENOMEM, -EEXIST. */
int facts_put_encode(struct facts_clickhouse *c, struct clickhouse_rows *rows,
		     const struct fact_set *s, const struct fact_row_place *p, struct error *e);
/* With the names that they need, which come first. */
int facts_put_insert(struct facts_clickhouse *c, const struct clickhouse_rows *rows,
		     struct error *e);

#endif
