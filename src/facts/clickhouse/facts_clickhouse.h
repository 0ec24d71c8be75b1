/* SPDX-License-Identifier: MIT */
/*
 * facts_clickhouse: the engine `clickhouse`: facts in the tables of a ClickHouse server; for its own files only.
 *
 * There are no transactions, so nothing depends on two rows being changed together (docs/format/clickhouse.md, section 5). Rows never
 * change: a set that is put again is another row with a higher rank, and an hour says of which rows it was made. Whether it is up to date
 * follows from that whenever somebody asks (facts_plan.h).
 */
#ifndef KISEKI_FACTS_CLICKHOUSE_FACTS_CLICKHOUSE_H
#define KISEKI_FACTS_CLICKHOUSE_FACTS_CLICKHOUSE_H

#include <stdatomic.h>
#include <stdio.h>

#include "facts/clickhouse/fact_texts.h"
#include "facts/facts.h"
#include "store/clickhouse/clickhouse_link.h"
#include "store/clickhouse/clickhouse_row.h"

struct facts_clickhouse {
	struct facts facts;
	struct clickhouse_url url;
	struct clickhouse_link *link;
	struct fact_texts *texts;
	bool is_reader;
	atomic_uint rolls;
};

int facts_clickhouse_open(struct facts **ret, const char *url, bool is_reader, struct error *e);

static inline struct facts_clickhouse *facts_clickhouse_get(struct facts *f)
{
	return (struct facts_clickhouse *)f;
}

/* -EROFS of who was opened to ask. */
int facts_clickhouse_may_write(const struct facts_clickhouse *c, struct error *e);
/* Any number but 0. */
uint64_t facts_clickhouse_token(void);
/* The query that was written into a stream; frees what it was. */
struct facts_clickhouse_sql {
	char *text;
	size_t len;
	FILE *out;
};
int facts_clickhouse_sql_open(struct facts_clickhouse_sql *s, struct error *e);
int facts_clickhouse_sql_ask(struct facts_clickhouse_sql *s, struct facts_clickhouse *c,
			     const struct clickhouse_ask *a, struct error *e);

/* From when on minutes and hours are kept. */
struct facts_clickhouse_ages {
	uint64_t minutes_from_s, hours_from_s;
};
int facts_clickhouse_get_ages(struct facts_clickhouse *c, struct facts_clickhouse_ages *ret,
			      struct error *e);
int facts_clickhouse_put_ages(struct facts_clickhouse *c, const struct facts_clickhouse_ages *a,
			      struct error *e);

/* --- the operations, file by file --- */

int facts_clickhouse_put(struct facts *f, struct facts_batch *list, size_t n, struct error *e);
int facts_clickhouse_get_carry(struct facts *f, const struct message_id *run, uint8_t **ret,
			       size_t *ret_len, struct error *e);
int facts_clickhouse_drop_carry(struct facts *f, const struct message_id *run, struct error *e);
int facts_clickhouse_roll(struct facts *f, uint64_t to_s, struct error *e);
int facts_clickhouse_retain(struct facts *f, const struct facts_ages *a, struct error *e);
int facts_clickhouse_scan(struct facts *f, const struct facts_query *q, facts_set_fn fn,
			  void *context, struct error *e);
int facts_clickhouse_keys(struct facts *f, const struct facts_query *q, facts_head_fn fn,
			  void *context, struct error *e);
int facts_clickhouse_top(struct facts *f, const struct facts_query *q, const struct facts_order *o,
			 struct facts_rows *ret, struct error *e);
int facts_clickhouse_tree(struct facts *f, const struct facts_query *q, struct fact_set *ret,
			  struct facts_basis *ret_basis, struct error *e);
int facts_clickhouse_trend(struct facts *f, const struct facts_query *q,
			   const struct facts_trend *t, struct facts_points *ret, struct error *e);
int facts_clickhouse_label(struct facts *f, const struct facts_label_row *r, struct error *e);
int facts_clickhouse_labels(struct facts *f, facts_label_fn fn, void *context, struct error *e);
int facts_clickhouse_beat(struct facts *f, const struct facts_member *me, facts_member_fn fn,
			  void *context, struct error *e);

#endif
