/* SPDX-License-Identifier: MIT */
/*
 * facts_plan: the rows of the table `facts` that a question is about, as they are at one moment.
 *
 * One query gives, for each hour of each run, its row and those of its minutes, of each the one with the highest rank. The hour counts if
 * it was made of just these minutes, or if it is closed; else they do. Rows never change, so whoever reads the rows of a plan reads that
 * moment; one that is gone was replaced in the meantime, and the plan is made again.
 */
#ifndef KISEKI_FACTS_CLICKHOUSE_FACTS_PLAN_H
#define KISEKI_FACTS_CLICKHOUSE_FACTS_PLAN_H

#include "facts/clickhouse/facts_clickhouse.h"

#define FACTS_PLAN_ROWS_MAX (1U << 22)

struct facts_plan_row {
	uint64_t id, start_s;
	struct message_id device;
	uint32_t n_sets; /* that it stands for: 1, or those of a sum (facts_fleet.h) */
	bool is_hour;
};

struct facts_plan {
	struct facts_plan_row *rows; /* by time */
	size_t n, room;
	uint64_t devices; /* that have any */
	uint64_t summed;  /* sets that it has more than rows */
};

int facts_plan_init(struct facts_plan *p, struct facts_clickhouse *c, const struct facts_query *q,
		    struct error *e);
void facts_plan_done(struct facts_plan *p);
/* As a Date has it. */
uint32_t facts_plan_day(uint64_t s);
/* By device instead: so they lie in the table, and who reads all of them reads each part of it once. */
void facts_plan_sort_devices(struct facts_plan *p);
#define CLEANUP_FACTS_PLAN __attribute__((cleanup(facts_plan_done)))

/* Hours that have minutes and are not up to date, of all kinds. */
struct facts_stale {
	struct fact_key hour;
	uint64_t rank; /* above that of its row */
	struct facts_plan minutes;
};
struct facts_stale_list {
	struct facts_stale *list;
	size_t n, room;
};
int facts_plan_stale(struct facts_clickhouse *c, uint64_t from_s, uint64_t to_s,
		     struct facts_stale_list *ret, struct error *e);
void facts_stale_list_done(struct facts_stale_list *l);
#define CLEANUP_FACTS_STALE __attribute__((cleanup(facts_stale_list_done)))

/* A question about some of its rows. */
struct facts_plan_part {
	const struct facts_plan *plan;
	size_t from, n;
	bool is_careful; /* rows that were inserted twice count once, which costs time and is hardly ever so */
};
struct facts_plan_words {
	const char *select;
	const char *columns; /* that it needs */
	const char *join;    /* ARRAY JOIN …, or "" */
	const char *tail;    /* GROUP BY …, or "" */
};
int facts_plan_ask(const struct facts_plan_part *p, struct facts_clickhouse *c,
		   const struct facts_plan_words *w, const struct clickhouse_ask *a,
		   struct error *e);

#endif
