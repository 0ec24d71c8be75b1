/* SPDX-License-Identifier: MIT */
/* facts_view: see facts_view.h. */
#include "facts/facts_view.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "store/array.h"

#define TRIES 100	   /* writers of other processes may come between */
#define ROWS_AT_ONCE 32U   /* that a thread takes */
#define ROWS_OF_THREAD 64U /* fewer are not worth one */

/* --- which rows --- */

/* What of an hour's minutes must be read: those of these runs. */
struct stale_run {
	struct message_id device, run;
};

struct planner {
	struct facts_view *v;
	struct facts_db *d;
	const struct facts_query *q;
	const struct stale_run *stale; /* NULL: of all runs */
	size_t n_stale;
};

static int compare_ids(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct message_id));
}

static int compare_stale(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct stale_run));
}

static bool is_wanted(const struct planner *p, const struct stale_run *key)
{
	const struct facts_query *q = p->q;

	if (!q->all_devices && (!q->n_devices || !bsearch(&key->device, q->devices, q->n_devices,
							  sizeof(*q->devices), compare_ids)))
		return false;
	return !p->stale ||
	       (p->n_stale && bsearch(key, p->stale, p->n_stale, sizeof(*key), compare_stale));
}

static int add_row(struct planner *p, sqlite3_stmt *s, struct error *e)
{
	struct stale_run key = { facts_db_get_id(s, 3), facts_db_get_id(s, 4) };
	struct facts_view *v = p->v;
	int r;

	if (!is_wanted(p, &key))
		return 0;
	r = array_grow(&v->rows, v->n, &v->room, sizeof(*v->rows), FACTS_VIEW_ROWS_MAX);
	if (r < 0)
		return error_set(e, -r, "cannot read facts: %s",
				 r == -E2BIG ? "the question is about too many" : strerror(-r));
	v->rows[v->n++] =
		(struct facts_view_row){ .id = sqlite3_column_int64(s, 0),
					 .start_s = facts_db_get_number(s, 1),
					 .version = facts_db_get_number(s, 5),
					 .device = key.device,
					 .n_sets = 1,
					 .is_hour = sqlite3_column_int64(s, 2) == FACT_HOUR_S };
	return 0;
}

struct range {
	enum facts_statement which;
	uint32_t length_s;
	uint64_t from_s, to_s;
};

static int add_range(struct planner *p, const struct range *range, struct error *e)
{
	int64_t numbers[] = { p->q->kind, range->length_s, (int64_t)range->from_s,
			      (int64_t)range->to_s };
	sqlite3_stmt *s;
	int r;

	if (range->from_s >= range->to_s)
		return 0;
	s = facts_db_use(p->d, range->which, numbers, 4);
	while ((r = facts_db_step(p->d, s, e)) == 1) {
		r = add_row(p, s, e);
		if (r < 0)
			break;
	}
	sqlite3_reset(s);
	return r;
}

/* The runs whose hour is not up to date, sorted: the table's order is that of bytes. */
static int load_stale(struct planner *p, uint64_t hour_s, struct stale_run **ret, size_t *ret_n,
		      struct error *e)
{
	int64_t numbers[] = { p->q->kind, (int64_t)hour_s };
	sqlite3_stmt *s = facts_db_use(p->d, FACTS_ST_STALE_OF_HOUR, numbers, 2);
	size_t room = 0;
	int r;

	while ((r = facts_db_step(p->d, s, e)) == 1) {
		r = array_grow(ret, *ret_n, &room, sizeof(**ret), FACTS_VIEW_ROWS_MAX);
		if (r < 0) {
			sqlite3_reset(s);
			return error_set(e, -r, "cannot read facts: %s", strerror(-r));
		}
		(*ret)[*ret_n].device = facts_db_get_id(s, 0);
		(*ret)[(*ret_n)++].run = facts_db_get_id(s, 1);
	}
	return r;
}

static int add_minutes(struct planner *p, uint64_t from_s, uint64_t to_s, struct error *e)
{
	struct range range = { FACTS_ST_PLAN, FACT_MINUTE_S, from_s, to_s };

	return add_range(p, &range, e);
}

static int add_hours(struct planner *p, enum facts_statement which, uint64_t from_s, uint64_t to_s,
		     struct error *e)
{
	struct range range = { which, FACT_HOUR_S, from_s, to_s };

	return add_range(p, &range, e);
}

static int add_stale_hour(struct planner *p, uint64_t hour_s, struct error *e)
{
	_cleanup_free_ struct stale_run *list = NULL;
	size_t n = 0;
	int r = load_stale(p, hour_s, &list, &n, e);

	if (r < 0 || !n)
		return r;
	p->stale = list;
	p->n_stale = n;
	r = add_minutes(p, hour_s, hour_s + FACT_HOUR_S, e);
	p->stale = NULL;
	return r;
}

static int add_stale(struct planner *p, uint64_t from_s, uint64_t to_s, struct error *e)
{
	int64_t numbers[] = { p->q->kind, (int64_t)from_s, (int64_t)to_s };
	sqlite3_stmt *s;
	int r;

	if (from_s >= to_s)
		return 0;
	s = facts_db_use(p->d, FACTS_ST_STALE_HOURS, numbers, 3);
	while ((r = facts_db_step(p->d, s, e)) == 1) {
		r = add_stale_hour(p, facts_db_get_number(s, 0), e);
		if (r < 0)
			break;
	}
	sqlite3_reset(s);
	return r;
}

static uint64_t round_up(uint64_t s)
{
	return (s + FACT_HOUR_S - 1) / FACT_HOUR_S * FACT_HOUR_S;
}

static int plan(struct planner *p, struct error *e)
{
	uint64_t from_s = p->q->from_s, to_s = MIN(p->q->to_s, (uint64_t)INT64_MAX / 2), first,
		 last;
	int r;

	if (from_s >= to_s)
		return 0;
	if (p->q->minutes_only)
		return add_minutes(p, from_s, to_s, e);
	first = round_up(from_s);
	last = MAX(first, to_s / FACT_HOUR_S * FACT_HOUR_S);
	if (first > to_s) /* within one hour */
		return add_minutes(p, from_s, to_s, e);
	r = add_hours(p, FACTS_ST_PLAN, first, last, e);
	if (r == 0) /* the last is not whole, but nobody else has it */
		r = add_hours(p, FACTS_ST_PLAN_CLOSED, last, to_s, e);
	if (r == 0)
		r = add_stale(p, first, last, e);
	if (r == 0)
		r = add_minutes(p, from_s, first, e);
	if (r == 0)
		r = add_minutes(p, last, to_s, e);
	return r;
}

static int compare_rows(const void *a, const void *b)
{
	const struct facts_view_row *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_devices(const void *a, const void *b)
{
	const struct facts_view_row *x = a, *y = b;

	return compare_ids(&x->device, &y->device);
}

static void count_devices(struct facts_view *v)
{
	size_t i;

	if (!v->n)
		return;
	qsort(v->rows, v->n, sizeof(*v->rows), compare_devices);
	for (i = 0; i < v->n; i++)
		v->devices += !i || compare_devices(&v->rows[i - 1], &v->rows[i]);
	qsort(v->rows, v->n, sizeof(*v->rows), compare_rows);
}

/* --- connections --- */

static size_t count_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : (size_t)n;
}

static int open_at(struct facts_view *v, const char *path, uint64_t *ret_state, struct error *e)
{
	int r = facts_db_open(&v->dbs[v->n_dbs], path, false, e);

	if (r == 0)
		r = facts_db_begin(v->dbs[v->n_dbs++], ret_state, e);
	return r;
}

/* More connections that see what the first sees. */
static int open_more(struct facts_view *v, const char *path, size_t n, uint64_t state,
		     struct error *e)
{
	uint64_t got = 0;
	int r = 0;

	while (r == 0 && v->n_dbs < n) {
		r = open_at(v, path, &got, e);
		if (r == 0 && got != state)
			return -EAGAIN;
	}
	return r;
}

static void close_all(struct facts_view *v)
{
	for (; v->n_dbs; v->n_dbs--)
		facts_db_free(v->dbs[v->n_dbs - 1]);
}

static int open_all(struct facts_view *v, struct facts_local *l, size_t n, struct error *e)
{
	uint64_t state = 0;
	int i, r = -EAGAIN;

	pthread_mutex_lock(&l->lock);
	for (i = 0; i < TRIES && r == -EAGAIN; i++) {
		close_all(v);
		r = open_at(v, l->path, &state, e);
		if (r == 0)
			r = open_more(v, l->path, n, state, e);
	}
	pthread_mutex_unlock(&l->lock);
	return r == -EAGAIN
		       ? error_set(e, EAGAIN, "cannot read %s: it changes all the time", l->path)
		       : r;
}

int facts_view_init(struct facts_view *v, struct facts_local *l, const struct facts_query *q,
		    size_t threads, struct error *e)
{
	struct planner p = { .v = v, .q = q };
	size_t n = MIN(MIN(threads, (size_t)FACTS_VIEW_THREADS_MAX), count_cpus());
	int r;

	memset(v, 0, sizeof(*v));
	r = open_all(v, l, n, e);
	if (r == 0) {
		p.d = v->dbs[0];
		r = plan(&p, e);
	}
	if (r < 0)
		facts_view_done(v);
	else
		count_devices(v);
	return r;
}

void facts_view_done(struct facts_view *v)
{
	close_all(v);
	free(v->rows);
	memset(v, 0, sizeof(*v));
}

/* --- threads --- */

struct running {
	struct facts_view *v;
	const struct facts_view_job *job;
	atomic_size_t next;
	atomic_int failed;
};

struct reader {
	struct running *all;
	size_t part;
	pthread_t thread;
	bool started;
	int code;
	struct error error;
};

static void *read_rows(void *data)
{
	struct reader *t = data;
	struct running *all = t->all;
	size_t at, i;

	while (t->code >= 0 && !atomic_load(&all->failed)) {
		at = atomic_fetch_add(&all->next, ROWS_AT_ONCE);
		if (at >= all->v->n)
			break;
		for (i = at; t->code >= 0 && i < MIN(at + ROWS_AT_ONCE, all->v->n); i++)
			t->code = all->job->read(all->job->context, t->part, all->v->dbs[t->part],
						 &all->v->rows[i], &t->error);
	}
	if (t->code < 0)
		atomic_store(&all->failed, 1);
	return NULL;
}

int facts_view_run(struct facts_view *v, const struct facts_view_job *job, struct error *e)
{
	struct running all = { .v = v, .job = job };
	size_t n = MIN(v->n_dbs, v->n / ROWS_OF_THREAD + 1), i;
	_cleanup_free_ struct reader *readers = calloc(n, sizeof(*readers));
	int r = 0;

	if (!readers)
		return error_set(e, ENOMEM, "cannot read facts: out of memory");
	for (i = 0; i < n; i++) {
		readers[i].all = &all;
		readers[i].part = i;
		if (i) /* one that cannot be started leaves more to the others */
			readers[i].started =
				!pthread_create(&readers[i].thread, NULL, read_rows, &readers[i]);
	}
	read_rows(&readers[0]);
	for (i = 1; i < n; i++)
		if (readers[i].started)
			pthread_join(readers[i].thread, NULL);
	for (i = 0; r >= 0 && i < n; i++) {
		r = readers[i].code;
		if (r < 0)
			error_set(e, -r, "%s", readers[i].error.text);
	}
	return r;
}
