/* SPDX-License-Identifier: MIT */
/* facts_local: see facts_local.h. Here: sets and their heads, one by one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "facts/facts_view.h"

/* By time: a scan is often a story. */
static int compare_rows(const void *a, const void *b)
{
	const struct facts_view_row *x = a, *y = b;

	if (x->start_s != y->start_s)
		return x->start_s < y->start_s ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int open_by_time(struct facts_view *v, struct facts *f, const struct facts_query *q,
			struct error *e)
{
	int r = facts_view_init(v, (struct facts_local *)f, q, 1, e);

	if (r == 0 && v->n)
		qsort(v->rows, v->n, sizeof(*v->rows), compare_rows);
	return r;
}

int facts_local_scan(struct facts *f, const struct facts_query *q, facts_set_fn fn, void *context,
		     struct error *e)
{
	CLEANUP_FACTS_VIEW struct facts_view v = { 0 };
	struct fact_set s;
	size_t i;
	int r = open_by_time(&v, f, q, e);

	for (i = 0; r == 0 && i < v.n; i++) {
		r = facts_local_read(v.dbs[0], v.rows[i].id, &s, e);
		if (r < 0)
			break;
		r = fn(context, &s);
		fact_set_done(&s);
	}
	return r;
}

int facts_local_keys(struct facts *f, const struct facts_query *q, facts_head_fn fn, void *context,
		     struct error *e)
{
	CLEANUP_FACTS_VIEW struct facts_view v = { 0 };
	struct facts_head h;
	sqlite3_stmt *s;
	size_t i;
	int r = open_by_time(&v, f, q, e);

	for (i = 0; r == 0 && i < v.n; i++) {
		s = facts_db_use(v.dbs[0], FACTS_ST_GET, &v.rows[i].id, 1);
		r = facts_db_step(v.dbs[0], s, e);
		if (r <= 0)
			break;
		r = facts_local_get_head(s, &h)
			    ? 0
			    : error_set(e, EBADMSG, "%s: row %lld is damaged", v.dbs[0]->path,
					(long long)v.rows[i].id);
		sqlite3_reset(s);
		if (r == 0)
			r = fn(context, &h);
	}
	return r;
}
