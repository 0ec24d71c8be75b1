/* SPDX-License-Identifier: MIT */
/* facts_sums: see facts_sums.h. */
#include "facts/facts_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "store/hashtable.h"

#define SUMS_MAX (1U << 20) /* of a question */

/* A sum, and what the rows of its hour come to. */
struct sum {
	uint64_t start_s, mark;
	int64_t id;
	uint64_t found;
	uint32_t n;
};

struct sum_list {
	struct sum *sums; /* by their start */
	size_t n, room;
};

/* In whatever order they are added. */
static uint64_t mark_of(const struct facts_view_row *row)
{
	return hashtable_hash_number((uint64_t)row->id ^ hashtable_hash_number(row->version + 1));
}

static int load_sums(struct facts_view *v, const struct facts_query *q, struct sum_list *ret,
		     struct error *e)
{
	int64_t numbers[] = { q->kind + FACTS_SUMS_KIND, FACT_HOUR_S, (int64_t)q->from_s,
			      (int64_t)(q->to_s > INT64_MAX ? INT64_MAX : q->to_s) };
	sqlite3_stmt *s = facts_db_use(v->dbs[0], FACTS_ST_PLAN, numbers, 4);
	int r;

	while ((r = facts_db_step(v->dbs[0], s, e)) == 1) {
		r = array_grow(&ret->sums, ret->n, &ret->room, sizeof(*ret->sums), SUMS_MAX);
		if (r < 0) {
			sqlite3_reset(s);
			return r == -E2BIG
				       ? 0
				       : error_set(e, -r, "cannot read facts: %s", strerror(-r));
		}
		ret->sums[ret->n++] = (struct sum){ .id = sqlite3_column_int64(s, 0),
						    .start_s = facts_db_get_number(s, 1),
						    .mark = facts_db_get_number(s, 5) };
	}
	return r;
}

static int compare_starts(const void *key, const void *entry)
{
	uint64_t start_s = *(const uint64_t *)key;
	const struct sum *s = entry;

	return start_s < s->start_s ? -1 : start_s > s->start_s;
}

static int compare_sums(const void *a, const void *b)
{
	return compare_starts(&((const struct sum *)a)->start_s, b);
}

static struct sum *find_sum(const struct sum_list *list, const struct facts_view_row *row)
{
	return row->is_hour && list->n ? bsearch(&row->start_s, list->sums, list->n,
						 sizeof(*list->sums), compare_starts)
				       : NULL;
}

static bool holds(const struct sum *s)
{
	return s && s->n >= FACTS_SUMS_LEAST && s->found == s->mark;
}

static int compare_rows(const void *a, const void *b)
{
	const struct facts_view_row *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* A sum has at least as many rows in its place as it needs room for. */
static void replace_rows(struct facts_view *v, const struct sum_list *list)
{
	size_t i, n = 0;

	for (i = 0; i < v->n; i++)
		if (!holds(find_sum(list, &v->rows[i])))
			v->rows[n++] = v->rows[i];
	for (i = 0; i < list->n; i++)
		if (holds(&list->sums[i])) {
			v->rows[n++] = (struct facts_view_row){ .id = list->sums[i].id,
								.start_s = list->sums[i].start_s,
								.n_sets = list->sums[i].n,
								.is_hour = true };
			v->summed += list->sums[i].n - 1;
		}
	v->n = n;
	qsort(v->rows, v->n, sizeof(*v->rows), compare_rows);
}

int facts_sums_take(struct facts_view *v, const struct facts_query *q, struct error *e)
{
	struct sum_list list = { 0 };
	struct sum *s;
	size_t i;
	int r;

	if (!q->all_devices || q->minutes_only || q->no_sums || !v->n)
		return 0;
	r = load_sums(v, q, &list, e);
	if (r == 0 && list.n) {
		qsort(list.sums, list.n, sizeof(*list.sums), compare_sums);
		for (i = 0; i < v->n; i++) {
			s = find_sum(&list, &v->rows[i]);
			if (!s)
				continue;
			s->found += mark_of(&v->rows[i]);
			s->n++;
		}
		replace_rows(v, &list);
	}
	free(list.sums);
	return r;
}

/* --- making them --- */

/* The rows of the hour's devices, and no minute; *ret_mark is theirs. */
static int find_rows(struct facts_local *l, const struct facts_query *q, uint64_t *ret_mark,
		     bool *ret_is_made, struct error *e)
{
	CLEANUP_FACTS_VIEW struct facts_view v = { 0 };
	size_t i;
	uint32_t n = 0;
	int r = facts_view_init(&v, l, q, 1, e);

	*ret_mark = 0;
	for (i = 0; i < v.n; i++)
		if (v.rows[i].is_hour) {
			*ret_mark += mark_of(&v.rows[i]);
			n++;
		}
	*ret_is_made = n < FACTS_SUMS_LEAST || n != v.n;
	if (r == 0 && !*ret_is_made) {
		r = facts_sums_take(&v, q, e);
		*ret_is_made = v.summed != 0;
	}
	return r;
}

/* Rows that change between the two looks give the sum a mark that no question finds: it is made again when they are rolled. */
int facts_sums_make(struct facts_local *l, uint8_t kind, uint64_t hour_s, struct error *e)
{
	struct facts_query q = {
		.all_devices = true, .kind = kind, .from_s = hour_s, .to_s = hour_s + FACT_HOUR_S
	};
	CLEANUP_FACT_SET struct fact_set sum = { 0 };
	struct facts_basis basis;
	uint64_t before = 0, after = 0;
	bool is_made = false;
	struct facts_db *d;
	int r = find_rows(l, &q, &before, &is_made, e);

	if (r < 0 || is_made)
		return r;
	q.no_sums = true;
	r = facts_local_tree(&l->facts, &q, &sum, &basis, e);
	if (r < 0 || basis.damaged)
		return r;
	q.no_sums = false;
	r = find_rows(l, &q, &after, &is_made, e);
	if (r < 0 || is_made || before != after)
		return r;
	sum.key = (struct fact_key){ .kind = kind, .length_s = FACT_HOUR_S, .start_s = hour_s };
	sum.version = before;
	r = facts_local_begin(l, &d, e);
	if (r < 0)
		return r;
	r = facts_local_end(l, facts_local_write_sum(d, &sum, e), e);
	return r < 0 ? r : 1;
}
