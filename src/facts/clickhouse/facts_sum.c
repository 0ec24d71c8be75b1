/* SPDX-License-Identifier: MIT */
/*
 * facts_clickhouse: see facts_clickhouse.h. Here: lists and trends, which the servers add up themselves, each its own devices.
 *
 * A list's row of the name 0 says how many sets the sum has (fact_row.h). If that is not what the plan has, a row was replaced or is
 * there twice, and it begins again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "facts/clickhouse/facts_fleet.h"
#include "store/array.h"

#define TRIES 5
#define WANTED_MAX 4096U
#define ROWS_MAX FACTS_NAMES_MAX
#define SQL_PIECE_MAX 256U

/* The columns of a list: the words of facts_by_words. */
struct list_words {
	char columns[SQL_PIECE_MAX], join[2 * SQL_PIECE_MAX];
};

static void name_list(struct list_words *w, uint8_t by)
{
	const char *c = facts_by_words[by];

	snprintf(w->columns, sizeof(w->columns),
		 "%s_name, %s_self0, %s_self1, %s_total0, %s_total1", c, c, c, c, c);
	snprintf(w->join, sizeof(w->join),
		 "ARRAY JOIN %s_name AS n, %s_self0 AS s0, %s_self1 AS s1, %s_total0 AS t0, "
		 "%s_total1 AS t1",
		 c, c, c, c, c);
}

/* A question, and how it is asked this time. */
struct asking {
	struct facts_clickhouse *c;
	const struct facts_query *q;
	bool is_careful;
};

static int changed(struct error *e)
{
	return error_set(e, EAGAIN, "cannot sum facts up: they change all the time");
}

/* --- what it was made of --- */

static ssize_t take_basis(void *context, const uint8_t *bytes, size_t len)
{
	struct facts_basis *b = context;
	struct byte_reader in;

	if (len < 9 * 8)
		return 0;
	reader_init(&in, bytes, len);
	b->sets = clickhouse_row_u64(&in);
	b->minutes = clickhouse_row_u64(&in);
	b->hours = clickhouse_row_u64(&in);
	b->covered_ns = clickhouse_row_u64(&in);
	b->events = clickhouse_row_u64(&in);
	b->lost = clickhouse_row_u64(&in);
	b->lost_places = clickhouse_row_u64(&in);
	b->values[0] = clickhouse_row_u64(&in);
	b->values[1] = clickhouse_row_u64(&in);
	return 9 * 8;
}

static int read_basis(struct facts_clickhouse *c, const struct facts_plan_part *part,
		      struct facts_basis *ret, struct error *e)
{
	static const struct facts_plan_words words = {
		.select = "count(), countIf(length = 60), countIf(length = 3600), sum(covered), "
			  "sum(events), sum(lost), sum(lost_places), sum(samples), sum(ns)",
		.columns = "length, covered, events, lost, lost_places, samples, ns",
		.join = "",
		.tail = "",
	};
	struct clickhouse_ask ask = { .take = take_basis, .context = ret };
	int r;

	memset(ret, 0, sizeof(*ret));
	r = facts_plan_ask(part, c, &words, &ask, e);
	ret->devices = part->plan->devices;
	if (r == 0 && ret->sets != part->n)
		r = changed(e);
	ret->sets += part->plan->summed;
	ret->hours += part->plan->summed;
	return r;
}

/* --- lists --- */

struct list_row {
	uint64_t hash, self[FACT_VALUES], total[FACT_VALUES];
};

struct list {
	struct list_row *rows;
	size_t n, room;
};

static ssize_t take_list(void *context, const uint8_t *bytes, size_t len)
{
	struct list *l = context;
	const uint8_t *at = bytes;
	struct byte_reader in;
	struct list_row row;
	int r = 0;

	reader_init(&in, bytes, len);
	while (r == 0) {
		row.hash = clickhouse_row_u64(&in);
		row.self[0] = clickhouse_row_u64(&in);
		row.self[1] = clickhouse_row_u64(&in);
		row.total[0] = clickhouse_row_u64(&in);
		row.total[1] = clickhouse_row_u64(&in);
		if (in.bad)
			break;
		at = in.at;
		r = array_grow(&l->rows, l->n, &l->room, sizeof(*l->rows), ROWS_MAX);
		if (r == 0)
			l->rows[l->n++] = row;
	}
	return r < 0 ? r : at - bytes;
}

static int read_list(struct facts_clickhouse *c, const struct facts_plan_part *part,
		     const struct facts_order *o, struct list *ret, struct error *e)
{
	struct clickhouse_ask ask = { .take = take_list, .context = ret };
	struct list_words list = { .columns = "" };
	char tail[SQL_PIECE_MAX];
	struct facts_plan_words words = { .columns = list.columns,
					  .join = list.join,
					  .tail = tail,
					  .select = "n, sum(s0) AS self0, sum(s1) AS self1, "
						    "sum(t0) AS total0, sum(t1) AS total1" };
	int r;

	name_list(&list, o->by);
	snprintf(tail, sizeof(tail), "GROUP BY n ORDER BY n = 0 DESC, %s%u DESC, n LIMIT %zu",
		 o->total ? "total" : "self", o->value,
		 MIN(o->most ? o->most + 1 : ROWS_MAX, (size_t)ROWS_MAX));
	r = facts_plan_ask(part, c, &words, &ask, e);
	if (r == 0 && part->n && (!ret->n || ret->rows[0].hash || ret->rows[0].self[0] != part->n))
		r = changed(e);
	return r;
}

static int name_row(struct facts_clickhouse *c, struct facts_row *row, const struct list_row *from,
		    uint8_t by, struct error *e)
{
	const struct fact_text *text;
	int r = fact_texts_get(c->texts, from->hash, &text, e);

	if (r < 0)
		return r;
	memcpy(row->self, from->self, sizeof(row->self));
	memcpy(row->total, from->total, sizeof(row->total));
	row->name = strdup(by == FACTS_BY_OBJECT ? text->object : text->name);
	row->object = strdup(by == FACTS_BY_FUNCTION ? text->object : "");
	return row->name && row->object ? 0
					: error_set(e, ENOMEM, "cannot list facts: out of memory");
}

static int name_rows(struct facts_clickhouse *c, const struct list *l, uint8_t by,
		     struct facts_rows *ret, struct error *e)
{
	_cleanup_free_ uint64_t *hashes = calloc(l->n + 1, sizeof(*hashes));
	size_t i, n = 0;
	int r;

	ret->rows = calloc(l->n + 1, sizeof(*ret->rows));
	if (!hashes || !ret->rows)
		return error_set(e, ENOMEM, "cannot list facts: out of memory");
	for (i = 1; i < l->n; i++)
		hashes[n++] = l->rows[i].hash;
	r = fact_texts_load(c->texts, hashes, n, e);
	for (i = 1; r == 0 && i < l->n; i++)
		if (l->rows[i].total[0] || l->rows[i].total[1])
			r = name_row(c, &ret->rows[ret->n++], &l->rows[i], by, e);
	return r;
}

static int make_top(const struct asking *a, const struct facts_order *o, struct facts_rows *ret,
		    struct error *e)
{
	CLEANUP_FACTS_PLAN struct facts_plan p = { 0 };
	struct facts_plan_part part = { .plan = &p, .is_careful = a->is_careful };
	struct facts_clickhouse *c = a->c;
	struct list l = { 0 };
	int r = facts_fleet_plan(&p, c, a->q, e);

	memset(ret, 0, sizeof(*ret));
	part.n = p.n;
	if (r == 0)
		r = read_basis(c, &part, &ret->basis, e);
	if (r == 0)
		r = read_list(c, &part, o, &l, e);
	if (r == 0)
		r = name_rows(c, &l, o->by, ret, e);
	free(l.rows);
	if (r < 0)
		facts_rows_done(ret);
	return r;
}

int facts_clickhouse_top(struct facts *f, const struct facts_query *q, const struct facts_order *o,
			 struct facts_rows *ret, struct error *e)
{
	struct asking a = { .c = facts_clickhouse_get(f), .q = q };
	int i, r = -EAGAIN;

	for (i = 0; i < TRIES && r == -EAGAIN; i++) {
		a.is_careful = i > 0;
		r = make_top(&a, o, ret, e);
	}
	return r;
}

/* --- trends --- */

struct wanted {
	const char *object; /* NULL: any */
	uint64_t hashes[WANTED_MAX];
	size_t n;
};

static int take_wanted(void *context, const struct fact_text *t)
{
	struct wanted *w = context;
	size_t i;

	if (w->object && strcmp(t->object, w->object))
		return 0;
	for (i = 0; i < w->n; i++)
		if (w->hashes[i] == t->hash)
			return 0;
	if (w->n == WANTED_MAX)
		return -E2BIG;
	w->hashes[w->n++] = t->hash;
	return 0;
}

/* All names that are meant. */
static int find_wanted(struct facts_clickhouse *c, const struct facts_trend *t, struct wanted *w,
		       struct error *e)
{
	static const char *const objects[FACTS_BYS] = { NULL, "process", NULL, "class", "machine" };
	struct fact_texts_wanted like = { .text = t->name,
					  .is_object = t->by == FACTS_BY_OBJECT,
					  .fn = take_wanted,
					  .context = w };
	int r;

	w->object = t->by == FACTS_BY_FUNCTION ? t->object : objects[t->by];
	r = fact_texts_find(c->texts, &like, e);
	return r == -E2BIG ? error_set(e, E2BIG, "more than %u objects have that name", WANTED_MAX)
			   : r;
}

/* "sum(…), " of each of the four columns; zeros if nothing is wanted. */
static char *write_columns(const struct wanted *w, const struct facts_trend *t)
{
	static const char *const columns[] = { "self0", "self1", "total0", "total1" };
	const char *list = facts_by_words[t->by];
	char *text = NULL;
	size_t len, i, k;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fprintf(out, "intDiv(start, %u) * %u AS t, count(), sum(covered), sum(samples), sum(ns)",
		t->step_s, t->step_s);
	for (i = 0; i < 4; i++) {
		if (!w->n) {
			fputs(", toUInt64(0)", out);
			continue;
		}
		fputs(", sum(arraySum(arrayMap((n, v) -> v * has([", out);
		for (k = 0; k < w->n; k++)
			fprintf(out, "%s%" PRIu64, k ? "," : "", w->hashes[k]);
		fprintf(out, "], n), %s_name, %s_%s)))", list, list, columns[i]);
	}
	i = (size_t)ferror(out);
	if (fclose(out) || i) {
		free(text);
		return NULL;
	}
	return text;
}

struct points {
	struct facts_points *to;
	size_t room;
	uint64_t step_s, sets;
};

static bool read_point(struct byte_reader *in, struct facts_point *p)
{
	memset(p, 0, sizeof(*p));
	p->start_s = clickhouse_row_u64(in);
	p->sets = clickhouse_row_u64(in);
	p->covered_ns = clickhouse_row_u64(in);
	p->values[0] = clickhouse_row_u64(in);
	p->values[1] = clickhouse_row_u64(in);
	p->self[0] = clickhouse_row_u64(in);
	p->self[1] = clickhouse_row_u64(in);
	p->total[0] = clickhouse_row_u64(in);
	p->total[1] = clickhouse_row_u64(in);
	return !in->bad;
}

static ssize_t take_points(void *context, const uint8_t *bytes, size_t len)
{
	struct points *l = context;
	const uint8_t *at = bytes;
	struct facts_point point;
	struct byte_reader in;
	int r = 0;

	reader_init(&in, bytes, len);
	while (r == 0 && read_point(&in, &point)) {
		at = in.at;
		point.length_s = l->step_s;
		l->sets += point.sets;
		r = array_grow(&l->to->points, l->to->n, &l->room, sizeof(point), FACTS_POINTS_MAX);
		if (r == 0)
			l->to->points[l->to->n++] = point;
	}
	return r < 0 ? r : at - bytes;
}

/* A sum is one row, and as many sets as it stands for. Both are by time. */
static void count_sums(struct facts_points *points, const struct facts_plan *p, uint32_t step_s)
{
	size_t i, at = 0;

	for (i = 0; i < p->n; i++) {
		while (at < points->n && points->points[at].start_s + step_s <= p->rows[i].start_s)
			at++;
		if (at < points->n)
			points->points[at].sets += p->rows[i].n_sets - 1;
	}
}

static int read_points(struct facts_clickhouse *c, const struct facts_plan_part *part,
		       const struct facts_trend *t, struct facts_points *ret, struct error *e)
{
	struct points points = { .to = ret, .step_s = t->step_s };
	struct clickhouse_ask ask = { .take = take_points, .context = &points };
	_cleanup_free_ struct wanted *wanted = calloc(1, sizeof(*wanted));
	_cleanup_free_ char *select = NULL;
	char columns[2 * SQL_PIECE_MAX];
	struct facts_plan_words words = { .columns = columns,
					  .join = "",
					  .tail = "GROUP BY t ORDER BY t" };
	struct list_words list = { .columns = "" };
	int r = wanted ? find_wanted(c, t, wanted, e) : -ENOMEM;

	if (r == 0 && !(select = write_columns(wanted, t)))
		r = -ENOMEM;
	if (r < 0)
		return r == -ENOMEM ? error_set(e, ENOMEM, "cannot sum facts up: out of memory")
				    : r;
	name_list(&list, t->by);
	snprintf(columns, sizeof(columns), "start, covered, samples, ns, %s", list.columns);
	words.select = select;
	r = facts_plan_ask(part, c, &words, &ask, e);
	if (r == 0 && points.sets != part->n)
		r = changed(e);
	if (r == 0)
		count_sums(ret, part->plan, t->step_s);
	return r;
}

static int make_trend(const struct asking *a, const struct facts_trend *t, struct facts_points *ret,
		      struct error *e)
{
	CLEANUP_FACTS_PLAN struct facts_plan p = { 0 };
	struct facts_plan_part part = { .plan = &p, .is_careful = a->is_careful };
	struct facts_clickhouse *c = a->c;
	int r = facts_fleet_plan(&p, c, a->q, e);

	memset(ret, 0, sizeof(*ret));
	part.n = p.n;
	if (r == 0 && p.n &&
	    (p.rows[p.n - 1].start_s - p.rows[0].start_s) / t->step_s >= FACTS_POINTS_MAX - 1)
		r = error_set(e, E2BIG, "a trend has at most %u points", FACTS_POINTS_MAX);
	if (r == 0)
		r = read_basis(c, &part, &ret->basis, e);
	if (r == 0)
		r = read_points(c, &part, t, ret, e);
	if (r < 0)
		facts_points_done(ret);
	return r;
}

int facts_clickhouse_trend(struct facts *f, const struct facts_query *q,
			   const struct facts_trend *t, struct facts_points *ret, struct error *e)
{
	struct facts_query mine = *q;
	struct asking a = { .c = facts_clickhouse_get(f), .q = &mine };
	int i, r = -EAGAIN;

	mine.minutes_only = mine.minutes_only || t->step_s < FACT_HOUR_S;
	for (i = 0; i < TRIES && r == -EAGAIN; i++) {
		a.is_careful = i > 0;
		r = make_trend(&a, t, ret, e);
	}
	return r;
}
