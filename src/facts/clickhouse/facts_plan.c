/* SPDX-License-Identifier: MIT */
/* facts_plan: see facts_plan.h. */
#include "facts/clickhouse/facts_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "store/array.h"

#define DAY_S 86400U
#define DAYS_MOST 65535U /* a Date has no more */
#define STALE_MAX (1U << 16)

/* What a query of rows is about. */
struct bounds {
	uint64_t minutes_from_s, hours_from_s, to_s;
	/* hours in here count if they are up to date; others only if they are closed */
	uint64_t first_s, last_s;
	bool minutes_only;
	struct facts_clickhouse_ages ages;
};

uint32_t facts_plan_day(uint64_t s)
{
	return (uint32_t)MIN(s / DAY_S, (uint64_t)DAYS_MOST);
}

static uint64_t hour_of(uint64_t s)
{
	return s / FACT_HOUR_S * FACT_HOUR_S;
}

static void set_bounds(struct bounds *b, const struct facts_query *q)
{
	uint64_t from_s = q->from_s;

	b->to_s = MIN(q->to_s, (uint64_t)INT64_MAX / 2);
	b->minutes_from_s = MAX(from_s, b->ages.minutes_from_s);
	b->hours_from_s = MAX(hour_of(from_s), b->ages.hours_from_s);
	b->first_s = hour_of(from_s + FACT_HOUR_S - 1);
	b->last_s = MAX(b->first_s, hour_of(b->to_s));
	b->minutes_only = q->minutes_only;
	if (from_s >= b->to_s)
		b->to_s = from_s;
}

/* Of each key the row with the highest rank. */
static void write_rows(FILE *out, const struct bounds *b, const char *keys)
{
	fprintf(out,
		"(SELECT %sdevice, run, start, length, intDiv(start, 3600) * 3600 AS hour, "
		"argMax(id, rank) AS i, argMax(closed, rank) AS c, argMax(made_of, rank) AS m, "
		"max(rank) AS r FROM facts WHERE day >= toDate(%u) AND day <= toDate(%u) AND "
		"((length = 60 AND start >= %" PRIu64 " AND start < %" PRIu64
		") OR (length = 3600 AND start >= %" PRIu64 " AND start < %" PRIu64 ")) ",
		keys, facts_plan_day(MIN(b->minutes_from_s, b->hours_from_s)),
		facts_plan_day(b->to_s), b->minutes_from_s, b->to_s, b->hours_from_s, b->to_s);
}

/* --- the rows of a question --- */

struct planning {
	struct facts_plan *plan;
	const struct bounds *bounds;
};

/* One hour of one run. */
struct hour {
	struct message_id device, run;
	uint64_t hour_s, n_hours, id, made_of, n_minutes, have;
	bool is_closed;
	uint64_t n; /* minutes that follow: */
	const uint8_t *ids, *starts;
};

static const uint8_t *read_array(struct byte_reader *in, uint64_t *ret_n)
{
	uint64_t n = reader_varint(in);

	if (in->bad || n > (uint64_t)(in->end - in->at) / 8) {
		in->bad = true;
		n = 0;
	}
	*ret_n = n;
	return reader_bytes(in, (size_t)n * 8);
}

static bool read_hour(struct byte_reader *in, struct hour *h)
{
	uint64_t n = 0;

	h->device = clickhouse_row_id(in);
	h->run = clickhouse_row_id(in);
	h->hour_s = clickhouse_row_u64(in);
	h->n_hours = clickhouse_row_u64(in);
	h->id = clickhouse_row_u64(in);
	h->is_closed = clickhouse_row_u8(in);
	h->made_of = clickhouse_row_u64(in);
	h->n_minutes = clickhouse_row_u64(in);
	h->have = clickhouse_row_u64(in);
	clickhouse_row_u8(in); /* will_do */
	h->ids = read_array(in, &h->n);
	h->starts = read_array(in, &n);
	if (n != h->n)
		in->bad = true;
	return !in->bad;
}

static int add_row(struct facts_plan *p, const struct facts_plan_row *row)
{
	int r = array_grow(&p->rows, p->n, &p->room, sizeof(*p->rows), FACTS_PLAN_ROWS_MAX);

	if (r == 0)
		p->rows[p->n++] = *row;
	return r;
}

static int add_hour(struct planning *p, const struct hour *h)
{
	const struct bounds *b = p->bounds;
	bool is_whole = h->hour_s >= b->first_s && h->hour_s < b->last_s;
	bool is_closed = h->n_hours && (h->is_closed || h->hour_s < b->ages.minutes_from_s);
	struct facts_plan_row row = {
		.device = h->device, .start_s = h->hour_s, .id = h->id, .n_sets = 1, .is_hour = true
	};
	uint64_t i;
	int r = 0;

	if (h->n_hours && !b->minutes_only && is_whole &&
	    (is_closed || !h->n_minutes || h->made_of == h->have))
		return add_row(p->plan, &row);
	if (is_closed) /* the last hour may not be whole, but nobody else has it */
		return !b->minutes_only && h->hour_s >= b->last_s ? add_row(p->plan, &row) : 0;
	row.is_hour = false;
	for (i = 0; r == 0 && i < h->n; i++) {
		row.id = get_le64(h->ids + 8 * i);
		row.start_s = get_le64(h->starts + 8 * i);
		r = add_row(p->plan, &row);
	}
	return r;
}

static ssize_t take_hours(void *context, const uint8_t *bytes, size_t len)
{
	const uint8_t *at = bytes;
	struct byte_reader in;
	struct hour h;
	int r = 0;

	reader_init(&in, bytes, len);
	while (r == 0 && read_hour(&in, &h)) {
		at = in.at;
		r = add_hour(context, &h);
	}
	return r < 0 ? r : at - bytes;
}

static int compare_times(const void *a, const void *b)
{
	const struct facts_plan_row *x = a, *y = b;

	if (x->start_s != y->start_s)
		return x->start_s < y->start_s ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_devices(const void *a, const void *b)
{
	const struct facts_plan_row *x = a, *y = b;
	int r = memcmp(&x->device, &y->device, sizeof(x->device));

	return r ? r : compare_times(a, b);
}

void facts_plan_sort_devices(struct facts_plan *p)
{
	if (p->n)
		qsort(p->rows, p->n, sizeof(*p->rows), compare_devices);
}

static void sort(struct facts_plan *p)
{
	size_t i;

	if (!p->n)
		return;
	facts_plan_sort_devices(p);
	for (i = 0; i < p->n; i++)
		p->devices += !i || memcmp(&p->rows[i - 1].device, &p->rows[i].device,
					   sizeof(p->rows[i].device));
	qsort(p->rows, p->n, sizeof(*p->rows), compare_times);
}

static int ask_hours(struct planning *p, struct facts_clickhouse *c, const struct facts_query *q,
		     struct error *e)
{
	const struct bounds *b = p->bounds;
	const struct clickhouse_list list = { .type = "FixedString(16)",
					      .rows = (const uint8_t *)q->devices,
					      .len = q->n_devices * sizeof(*q->devices) };
	struct clickhouse_ask ask = { .take = take_hours,
				      .context = p,
				      .list = q->all_devices ? NULL : &list };
	struct facts_clickhouse_sql sql;
	int r = facts_clickhouse_sql_open(&sql, e);

	if (r < 0)
		return r;
	/* Where the hour will do, its minutes need not come. */
	fprintf(sql.out,
		"SELECT device, run, hour, countIf(length = 3600) AS n_hours, "
		"maxIf(i, length = 3600), maxIf(c, length = 3600), "
		"maxIf(m, length = 3600) AS made, countIf(length = 60), "
		"sumIf(i, length = 60) AS have, "
		"n_hours > 0 AND made = have AND hour >= %" PRIu64 " AND hour < %" PRIu64
		" AND 0 = %d AS will_do, "
		"if(will_do, emptyArrayUInt64(), groupArrayIf(i, length = 60)), "
		"if(will_do, emptyArrayUInt64(), groupArrayIf(start, length = 60)) FROM ",
		b->first_s, b->last_s, b->minutes_only);
	write_rows(sql.out, b, "");
	fprintf(sql.out, "AND kind = %u %s", q->kind,
		q->all_devices ? "" : "AND device GLOBAL IN listed ");
	fputs("GROUP BY device, run, start, length) GROUP BY device, run, hour", sql.out);
	return facts_clickhouse_sql_ask(&sql, c, &ask, e);
}

int facts_plan_init(struct facts_plan *p, struct facts_clickhouse *c, const struct facts_query *q,
		    struct error *e)
{
	struct bounds b = { 0 };
	struct planning planning = { .plan = p, .bounds = &b };
	int r;

	memset(p, 0, sizeof(*p));
	if (!q->all_devices && !q->n_devices)
		return 0;
	r = facts_clickhouse_get_ages(c, &b.ages, e);
	if (r < 0)
		return r;
	set_bounds(&b, q);
	r = ask_hours(&planning, c, q, e);
	if (r < 0)
		facts_plan_done(p);
	else
		sort(p);
	return r;
}

void facts_plan_done(struct facts_plan *p)
{
	free(p->rows);
	memset(p, 0, sizeof(*p));
}

/* --- hours that are not up to date --- */

void facts_stale_list_done(struct facts_stale_list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		facts_plan_done(&l->list[i].minutes);
	free(l->list);
	memset(l, 0, sizeof(*l));
}

/* What its bytes are, borrowed until the next. */
struct stale_row {
	struct facts_stale stale;
	const uint8_t *ids, *starts;
	uint64_t n;
};

static bool read_stale(struct byte_reader *in, struct stale_row *row)
{
	struct facts_stale *s = &row->stale;
	uint64_t n;

	memset(row, 0, sizeof(*row));
	s->hour.kind = clickhouse_row_u8(in);
	s->hour.device = clickhouse_row_id(in);
	s->hour.run = clickhouse_row_id(in);
	s->hour.start_s = clickhouse_row_u64(in);
	s->hour.length_s = FACT_HOUR_S;
	s->rank = clickhouse_row_u64(in) + 1;
	row->ids = read_array(in, &row->n);
	row->starts = read_array(in, &n);
	if (n != row->n)
		in->bad = true;
	return !in->bad;
}

static int add_stale(struct facts_stale_list *l, const struct stale_row *row)
{
	struct facts_plan_row minute = { .device = row->stale.hour.device, .n_sets = 1 };
	struct facts_stale *s;
	uint64_t i;
	int r = array_grow(&l->list, l->n, &l->room, sizeof(*l->list), STALE_MAX);

	if (r < 0)
		return r == -E2BIG ? 0 : r; /* the next time */
	s = &l->list[l->n++];
	*s = row->stale;
	for (i = 0; r == 0 && i < row->n; i++) {
		minute.id = get_le64(row->ids + 8 * i);
		minute.start_s = get_le64(row->starts + 8 * i);
		r = add_row(&s->minutes, &minute);
	}
	sort(&s->minutes);
	return r;
}

static ssize_t take_stale(void *context, const uint8_t *bytes, size_t len)
{
	const uint8_t *at = bytes;
	struct byte_reader in;
	struct stale_row row;
	int r = 0;

	reader_init(&in, bytes, len);
	while (r == 0 && read_stale(&in, &row)) {
		at = in.at;
		r = add_stale(context, &row);
	}
	return r < 0 ? r : at - bytes;
}

int facts_plan_stale(struct facts_clickhouse *c, uint64_t from_s, uint64_t to_s,
		     struct facts_stale_list *ret, struct error *e)
{
	struct clickhouse_ask ask = { .take = take_stale, .context = ret };
	struct facts_clickhouse_sql sql;
	struct bounds b = { 0 };
	int r = facts_clickhouse_get_ages(c, &b.ages, e);

	memset(ret, 0, sizeof(*ret));
	b.minutes_from_s = b.hours_from_s = MAX(hour_of(from_s), b.ages.minutes_from_s);
	b.to_s = hour_of(MIN(to_s, (uint64_t)INT64_MAX / 2));
	if (r == 0 && b.minutes_from_s < b.to_s)
		r = facts_clickhouse_sql_open(&sql, e);
	if (r < 0 || b.minutes_from_s >= b.to_s)
		return r;
	fputs("SELECT kind, device, run, hour, maxIf(r, length = 3600), "
	      "groupArrayIf(i, length = 60), groupArrayIf(start, length = 60) FROM ",
	      sql.out);
	write_rows(sql.out, &b, "kind, ");
	fputs("GROUP BY kind, device, run, start, length) GROUP BY kind, device, run, hour "
	      "HAVING countIf(length = 60) > 0 AND (countIf(length = 3600) = 0 OR "
	      "(maxIf(c, length = 3600) = 0 AND "
	      "maxIf(m, length = 3600) != sumIf(i, length = 60)))",
	      sql.out);
	r = facts_clickhouse_sql_ask(&sql, c, &ask, e);
	if (r < 0)
		facts_stale_list_done(ret);
	return r;
}

/* --- questions about rows --- */

int facts_plan_ask(const struct facts_plan_part *p, struct facts_clickhouse *c,
		   const struct facts_plan_words *w, const struct clickhouse_ask *a,
		   struct error *e)
{
	const struct facts_plan_row *rows;
	struct clickhouse_rows ids = { 0 };
	struct clickhouse_list list = { .type = "UInt64" };
	struct clickhouse_ask ask = *a;
	uint64_t from_s = UINT64_MAX, to_s = 0;
	struct facts_clickhouse_sql sql;
	char where[256];
	size_t i;
	int r;

	if (!p->n)
		return 0;
	rows = p->plan->rows + p->from;
	if (clickhouse_rows_reserve(&ids, p->n * 8) < 0)
		return error_set(e, ENOMEM, "cannot ask for facts: out of memory");
	for (i = 0; i < p->n; i++) {
		clickhouse_rows_u64(&ids, rows[i].id);
		from_s = MIN(from_s, rows[i].start_s);
		to_s = MAX(to_s, rows[i].start_s);
	}
	list.rows = ids.data;
	list.len = ids.len;
	ask.list = &list;
	/* PREWHERE: before anything is joined. */
	snprintf(where, sizeof(where),
		 "PREWHERE day >= toDate(%u) AND day <= toDate(%u) AND start >= %" PRIu64
		 " AND start <= %" PRIu64 " AND id GLOBAL IN listed",
		 facts_plan_day(from_s), facts_plan_day(to_s), from_s, to_s);
	r = facts_clickhouse_sql_open(&sql, e);
	if (r == 0) {
		if (p->is_careful)
			fprintf(sql.out,
				"SELECT %s FROM (SELECT id, %s FROM facts %s LIMIT 1 BY id) %s %s",
				w->select, w->columns, where, w->join, w->tail);
		else
			fprintf(sql.out, "SELECT %s FROM facts %s %s %s", w->select, w->join, where,
				w->tail);
		r = facts_clickhouse_sql_ask(&sql, c, &ask, e);
	}
	clickhouse_rows_done(&ids);
	return r;
}
