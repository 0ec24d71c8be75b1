/* SPDX-License-Identifier: MIT */
/* facts_fleet: see facts_fleet.h. */
#include "facts/clickhouse/facts_fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "facts/clickhouse/facts_put.h"
#include "facts/clickhouse/facts_read.h"
#include "facts/facts_sums.h"
#include "store/array.h"

#define SUMS_MAX (1U << 20) /* of a question */
#define SUMS_AT_ONCE 16U    /* that are tried: the next look goes on */

struct sum {
	uint64_t start_s, id, made_of;
};

struct sum_list {
	struct sum *sums; /* by their start */
	size_t n, room;
};

static bool read_sum(struct byte_reader *in, struct sum *s)
{
	s->start_s = clickhouse_row_u64(in);
	s->id = clickhouse_row_u64(in);
	s->made_of = clickhouse_row_u64(in);
	return !in->bad;
}

/* More than there may be are left out: then the rows themselves are read. */
static ssize_t take_sums(void *context, const uint8_t *bytes, size_t len)
{
	struct sum_list *l = context;
	const uint8_t *at = bytes;
	struct byte_reader in;
	struct sum sum;
	int r = 0;

	reader_init(&in, bytes, len);
	while (r >= 0 && read_sum(&in, &sum)) {
		at = in.at;
		r = array_grow(&l->sums, l->n, &l->room, sizeof(sum), SUMS_MAX);
		if (r == 0)
			l->sums[l->n++] = sum;
		else if (r == -E2BIG)
			r = 0;
	}
	return r < 0 ? r : at - bytes;
}

static int ask_sums(const struct facts_plan *p, struct facts_clickhouse *c, uint8_t kind,
		    struct sum_list *ret, struct error *e)
{
	uint64_t from_s = p->rows[0].start_s, to_s = p->rows[p->n - 1].start_s;
	struct clickhouse_ask ask = { .take = take_sums, .context = ret };
	struct facts_clickhouse_sql sql;
	int r = facts_clickhouse_sql_open(&sql, e);

	if (r < 0)
		return r;
	fprintf(sql.out,
		"SELECT start, argMax(id, rank), argMax(made_of, rank) FROM facts WHERE "
		"day >= toDate(%u) AND day <= toDate(%u) AND kind = %u AND length = 3600 AND "
		"start >= %" PRIu64 " AND start <= %" PRIu64 " GROUP BY start ORDER BY start",
		facts_plan_day(from_s), facts_plan_day(to_s), kind + FACTS_SUMS_KIND, from_s, to_s);
	return facts_clickhouse_sql_ask(&sql, c, &ask, e);
}

static int compare_starts(const void *key, const void *entry)
{
	uint64_t start_s = *(const uint64_t *)key;
	const struct sum *s = entry;

	return start_s < s->start_s ? -1 : start_s > s->start_s;
}

/* What the hours among some rows come to; their number. */
static uint32_t mark_hours(const struct facts_plan_row *rows, size_t n, uint64_t *ret_mark)
{
	uint32_t hours = 0;
	size_t i;

	*ret_mark = 0;
	for (i = 0; i < n; i++)
		if (rows[i].is_hour) {
			*ret_mark += rows[i].id;
			hours++;
		}
	return hours;
}

/* Of rows that start together; how many are left of them, at the same place. */
static size_t replace_rows(struct facts_plan_row *rows, size_t n, const struct sum_list *list)
{
	const struct sum *s = list->n ? bsearch(&rows->start_s, list->sums, list->n,
						sizeof(*list->sums), compare_starts)
				      : NULL;
	struct facts_plan_row sum = { .start_s = rows->start_s, .is_hour = true };
	uint64_t mark;
	size_t i, left = 0;

	sum.n_sets = mark_hours(rows, n, &mark);
	if (!s || sum.n_sets < FACTS_SUMS_LEAST || s->made_of != mark)
		return n;
	sum.id = s->id;
	for (i = 0; i < n; i++)
		if (!rows[i].is_hour)
			rows[left++] = rows[i];
	rows[left++] = sum;
	return left;
}

static void replace(struct facts_plan *p, const struct sum_list *list)
{
	size_t from, next, left, n = 0;

	for (from = 0; from < p->n; from = next) {
		for (next = from + 1; next < p->n; next++)
			if (p->rows[next].start_s != p->rows[from].start_s)
				break;
		left = replace_rows(p->rows + from, next - from, list);
		memmove(p->rows + n, p->rows + from, left * sizeof(*p->rows));
		n += left;
	}
	p->summed = p->n - n;
	p->n = n;
}

int facts_fleet_plan(struct facts_plan *p, struct facts_clickhouse *c, const struct facts_query *q,
		     struct error *e)
{
	struct sum_list list = { 0 };
	int r = facts_plan_init(p, c, q, e);

	if (r < 0 || !q->all_devices || q->minutes_only || q->no_sums || !p->n)
		return r;
	r = ask_sums(p, c, q->kind, &list, e);
	if (r == 0)
		replace(p, &list);
	else
		facts_plan_done(p);
	free(list.sums);
	return r;
}

/* --- making them --- */

/* An hour that has no sum, or one of other rows. */
struct missing {
	uint8_t kind;
	uint64_t start_s, rank;
};

struct missing_list {
	struct missing list[SUMS_AT_ONCE];
	size_t n;
};

static ssize_t take_missing(void *context, const uint8_t *bytes, size_t len)
{
	struct missing_list *l = context;
	const uint8_t *at = bytes;
	struct byte_reader in;
	struct missing m;

	reader_init(&in, bytes, len);
	while (l->n < SUMS_AT_ONCE) {
		m.kind = clickhouse_row_u8(&in);
		m.start_s = clickhouse_row_u64(&in);
		m.rank = clickhouse_row_u64(&in);
		if (in.bad)
			break;
		at = in.at;
		l->list[l->n++] = m;
	}
	return at - bytes;
}

static int ask_missing(struct facts_clickhouse *c, uint64_t from_s, uint64_t to_s,
		       struct missing_list *ret, struct error *e)
{
	struct clickhouse_ask ask = { .take = take_missing, .context = ret };
	struct facts_clickhouse_sql sql;
	int r = facts_clickhouse_sql_open(&sql, e);

	if (r < 0)
		return r;
	fprintf(sql.out,
		"SELECT toUInt8(kind %% %u) AS k, start, maxIf(r, kind >= %u) FROM "
		"(SELECT kind, device, run, start, argMax(id, rank) AS i, "
		"argMax(made_of, rank) AS m, max(rank) AS r FROM facts WHERE "
		"day >= toDate(%u) AND day <= toDate(%u) AND length = 3600 AND start >= %" PRIu64
		" AND start < %" PRIu64 " AND kind %% %u IN (%u, %u, %u) "
		"GROUP BY kind, device, run, start) GROUP BY k, start HAVING "
		"countIf(kind < %u) >= %u AND sumIf(i, kind < %u) != sumIf(m, kind >= %u) "
		"ORDER BY start DESC, k LIMIT %u",
		FACTS_SUMS_KIND, FACTS_SUMS_KIND, facts_plan_day(from_s), facts_plan_day(to_s),
		from_s, to_s, FACTS_SUMS_KIND, FACT_PROFILE, FACT_VM, FACT_CYCLES, FACTS_SUMS_KIND,
		FACTS_SUMS_LEAST, FACTS_SUMS_KIND, FACTS_SUMS_KIND, SUMS_AT_ONCE);
	return facts_clickhouse_sql_ask(&sql, c, &ask, e);
}

/* Nothing where minutes are not in their hour yet, or a row is damaged. */
static int make_sum(struct facts_clickhouse *c, const struct missing *m, struct error *e)
{
	const struct facts_query q = { .all_devices = true,
				       .kind = m->kind,
				       .from_s = m->start_s,
				       .to_s = m->start_s + FACT_HOUR_S };
	const struct fact_key key = { .kind = m->kind,
				      .length_s = FACT_HOUR_S,
				      .start_s = m->start_s };
	struct fact_row_place place = { .rank = m->rank + 1,
					.id = facts_clickhouse_token(),
					.is_closed = true,
					.kind_more = FACTS_SUMS_KIND };
	CLEANUP_FACTS_PLAN struct facts_plan p = { 0 };
	CLEANUP_FACT_SET struct fact_set sum = { 0 };
	struct clickhouse_rows rows = { 0 };
	struct facts_basis basis;
	int r = facts_plan_init(&p, c, &q, e);

	if (r < 0 || p.n < FACTS_SUMS_LEAST || mark_hours(p.rows, p.n, &place.made_of) < p.n)
		return r;
	if (fact_set_init(&sum, &key) < 0)
		return error_set(e, ENOMEM, "cannot sum facts up: out of memory");
	r = facts_read_tree(c, &p, &sum, &basis, e);
	if (r < 0 || basis.damaged)
		return r == -EAGAIN ? 0 : r;
	r = facts_put_encode(c, &rows, &sum, &place, e);
	if (r == 0)
		r = facts_put_insert(c, &rows, e);
	clickhouse_rows_done(&rows);
	return r;
}

int facts_fleet_make(struct facts_clickhouse *c, uint64_t from_s, uint64_t to_s, struct error *e)
{
	struct missing_list missing = { .n = 0 };
	struct facts_clickhouse_ages ages;
	size_t i;
	int r = facts_clickhouse_get_ages(c, &ages, e);

	from_s = MAX(from_s, ages.hours_from_s);
	to_s = MIN(to_s, (uint64_t)INT64_MAX / 2) / FACT_HOUR_S * FACT_HOUR_S;
	if (r == 0 && from_s < to_s)
		r = ask_missing(c, from_s, to_s, &missing, e);
	for (i = 0; r == 0 && i < missing.n; i++)
		r = make_sum(c, &missing.list[i], e);
	return r;
}
