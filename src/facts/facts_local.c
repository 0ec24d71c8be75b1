/* SPDX-License-Identifier: MIT */
/* facts_local: see facts_local.h. Here: opening, and sets and carries that are written. */
#include "facts/facts_local.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/fact_pack.h"
#include "facts/facts_names.h"
#include "facts/facts_seal.h"
#include "facts/facts_sums.h"

#define FILE_NAME "facts.sqlite"

static struct facts_local *of(struct facts *f)
{
	return (struct facts_local *)f;
}

int facts_local_begin(struct facts_local *l, struct facts_db **ret, struct error *e)
{
	int r;

	pthread_mutex_lock(&l->lock);
	r = l->writer ? facts_db_begin_write(l->writer, e)
		      : error_set(e, EROFS, "cannot write %s: it was opened to ask", l->path);
	if (r < 0)
		pthread_mutex_unlock(&l->lock);
	else
		*ret = l->writer;
	return r;
}

int facts_local_end(struct facts_local *l, int r, struct error *e)
{
	if (r >= 0)
		r = facts_db_commit(l->writer, e);
	else
		facts_db_undo(l->writer);
	pthread_mutex_unlock(&l->lock);
	return r;
}

/* --- one set --- */

int facts_local_find(struct facts_db *d, const struct fact_key *k, struct facts_found *ret,
		     struct error *e)
{
	int64_t numbers[] = { k->kind, k->length_s, (int64_t)k->start_s };
	sqlite3_stmt *s = facts_db_use(d, FACTS_ST_FIND, numbers, 3);
	int r;

	memset(ret, 0, sizeof(*ret));
	if (s) {
		facts_db_bind_id(s, 4, &k->device);
		facts_db_bind_id(s, 5, &k->run);
	}
	r = facts_db_step(d, s, e);
	if (r == 1) {
		ret->is_there = true;
		ret->id = sqlite3_column_int64(s, 0);
		ret->version = facts_db_get_number(s, 1);
		ret->is_closed = sqlite3_column_int(s, 2) != 0;
		sqlite3_reset(s);
	}
	return r < 0 ? r : 0;
}

int facts_local_drop(struct facts_db *d, int64_t id, struct error *e)
{
	int r = facts_db_run(d, facts_db_use(d, FACTS_ST_DROP, &id, 1), e);

	return r < 0 ? r : facts_db_run(d, facts_db_use(d, FACTS_ST_DROP_BODY, &id, 1), e);
}

/* A set as the bytes of its columns. */
struct columns {
	uint8_t *flat, *tree, *tasks, *objects;
	size_t flat_len, tree_len, tasks_len, objects_len;
};

static void columns_done(struct columns *c)
{
	free(c->flat);
	free(c->tree);
	free(c->tasks);
	free(c->objects);
}

static int columns_encode(struct columns *c, const struct fact_set *s, const struct fact_numbers *n)
{
	CLEANUP_FACT_FLAT struct fact_flat flat = { 0 };
	int r = fact_flat_init(&flat, s, n);

	if (r >= 0)
		r = fact_flat_encode(&flat, &c->flat, &c->flat_len);
	if (r >= 0 && s->tree)
		r = fact_tree_encode(s, n->functions, &c->tree, &c->tree_len);
	if (r >= 0 && s->n_tasks)
		r = fact_tasks_encode(s, &c->tasks, &c->tasks_len);
	if (r >= 0 && s->n_objects)
		r = fact_objects_encode(s, &c->objects, &c->objects_len);
	return r;
}

static uint64_t seal_columns(const struct columns *c)
{
	return facts_seal_body((struct facts_bytes){ c->tree, c->tree_len },
			       (struct facts_bytes){ c->tasks, c->tasks_len },
			       (struct facts_bytes){ c->objects, c->objects_len });
}

static int insert(struct facts_db *d, const struct fact_set *s, const struct columns *c,
		  bool is_closed, struct error *e)
{
	struct facts_head h = { .key = s->key,
				.version = s->version,
				.covered_ns = s->covered_ns,
				.events = s->events,
				.lost = s->lost,
				.lost_places = s->lost_places };
	uint64_t *all = h.values;
	sqlite3_stmt *st;
	int64_t id;
	int r;

	fact_set_totals(s, all);
	st = facts_db_use(d, FACTS_ST_PUT,
			  (const int64_t[]){ s->key.kind, s->key.length_s, (int64_t)s->key.start_s,
					     (int64_t)s->version, (int64_t)s->covered_ns,
					     (int64_t)s->events, (int64_t)s->lost,
					     (int64_t)s->lost_places, (int64_t)all[0],
					     (int64_t)all[1], is_closed },
			  11);
	if (st) {
		facts_db_bind_id(st, 12, &s->key.device);
		facts_db_bind_id(st, 13, &s->key.run);
		sqlite3_bind_blob64(st, 14, c->flat, c->flat_len, SQLITE_STATIC);
		sqlite3_bind_int64(st, 15,
				   (int64_t)facts_seal_fact(&h, (struct facts_bytes){
									c->flat, c->flat_len }));
	}
	r = facts_db_run(d, st, e);
	if (r < 0)
		return r;
	id = sqlite3_last_insert_rowid(d->sqlite);
	st = facts_db_use(d, FACTS_ST_PUT_BODY, &id, 1);
	if (st) {
		sqlite3_bind_blob64(st, 2, c->tree, c->tree_len, SQLITE_STATIC);
		sqlite3_bind_blob64(st, 3, c->tasks, c->tasks_len, SQLITE_STATIC);
		sqlite3_bind_blob64(st, 4, c->objects, c->objects_len, SQLITE_STATIC);
		sqlite3_bind_int64(st, 5, (int64_t)seal_columns(c));
	}
	return facts_db_run(d, st, e);
}

/* What it is filed as may be of another kind than what is in it. */
static int write_as(struct facts_db *d, const struct fact_set *s, const struct fact_key *key,
		    bool is_closed, struct error *e)
{
	struct fact_set filed = *s; /* borrowed but for its key */
	struct fact_numbers numbers = { 0 };
	struct columns c = { 0 };
	struct facts_found old;
	int r = facts_local_find(d, key, &old, e);

	filed.key = *key;

	if (r == 0 && old.is_there)
		r = facts_local_drop(d, old.id, e);
	if (r == 0)
		r = facts_names_put_set(d->names, s, &numbers, e);
	if (r == 0) {
		r = columns_encode(&c, s, &numbers);
		if (r < 0)
			error_set(e, -r, "cannot write facts: %s", strerror(-r));
	}
	if (r == 0)
		r = insert(d, &filed, &c, is_closed, e);
	columns_done(&c);
	free(numbers.functions);
	free(numbers.objects);
	return r;
}

int facts_local_write(struct facts_db *d, const struct fact_set *s, bool is_closed, struct error *e)
{
	return write_as(d, s, &s->key, is_closed, e);
}

int facts_local_write_sum(struct facts_db *d, const struct fact_set *s, struct error *e)
{
	struct fact_key key = s->key;

	key.kind += FACTS_SUMS_KIND;
	return write_as(d, s, &key, true, e);
}

bool facts_local_get_head(sqlite3_stmt *s, struct facts_head *ret)
{
	ret->key.kind = (uint8_t)sqlite3_column_int(s, 1);
	ret->key.length_s = (uint32_t)sqlite3_column_int64(s, 2);
	ret->key.start_s = facts_db_get_number(s, 3);
	ret->key.device = facts_db_get_id(s, 4);
	ret->key.run = facts_db_get_id(s, 5);
	ret->version = facts_db_get_number(s, 6);
	ret->covered_ns = facts_db_get_number(s, 7);
	ret->events = facts_db_get_number(s, 8);
	ret->lost = facts_db_get_number(s, 9);
	ret->lost_places = facts_db_get_number(s, 10);
	ret->values[0] = facts_db_get_number(s, 11);
	ret->values[1] = facts_db_get_number(s, 12);
	return facts_seal_fits_first(s, FACTS_SEAL_COLUMN,
				     facts_seal_fact(ret, (struct facts_bytes){ NULL, 0 }));
}

static int decode_tree(struct facts_db *d, struct fact_set *s, const uint8_t *data, size_t len,
		       struct error *e)
{
	CLEANUP_FACT_TREE struct fact_tree_reader t = { 0 };
	_cleanup_free_ uint32_t *keys = NULL;
	const struct facts_name *name;
	size_t i;
	int r = fact_tree_open(&t, data, len);

	if (r >= 0 && !(keys = calloc(t.n_numbers + 1, sizeof(*keys))))
		r = -ENOMEM;
	for (i = 0; r >= 0 && i < t.n_numbers; i++) {
		r = facts_names_get(d->names, t.numbers[i], &name, e);
		if (r >= 0)
			r = functions_find_label(&s->functions, name->name, name->object, &keys[i]);
	}
	return r < 0 ? r : fact_tree_add(&t, s->tree, keys);
}

static int decode_body(struct facts_db *d, sqlite3_stmt *st, struct fact_set *s, struct error *e)
{
	struct facts_bytes b[3];
	int i, r = 0;

	for (i = 0; i < 3; i++)
		b[i] = facts_seal_column(st, i);
	if (!facts_seal_fits(st, 3, facts_seal_body(b[0], b[1], b[2])))
		return -EBADMSG;
	if (b[0].len)
		r = s->tree ? decode_tree(d, s, b[0].data, b[0].len, e) : -EBADMSG;
	if (r >= 0 && b[1].len)
		r = fact_tasks_decode(s, b[1].data, b[1].len);
	if (r >= 0 && b[2].len)
		r = fact_objects_decode(s, b[2].data, b[2].len);
	return r;
}

static int read_body(struct facts_db *d, int64_t id, struct fact_set *s, struct error *e)
{
	sqlite3_stmt *st = facts_db_use(d, FACTS_ST_GET_BODY, &id, 1);
	int r = facts_db_step(d, st, e);

	if (r < 0)
		return r;
	r = r ? decode_body(d, st, s, e) : -EBADMSG;
	sqlite3_reset(st);
	if (r < 0)
		error_set(e, -r, "cannot read the facts of row %lld of %s: %s", (long long)id,
			  d->path, r == -EBADMSG ? "they are damaged" : strerror(-r));
	return r;
}

int facts_local_read(struct facts_db *d, int64_t id, struct fact_set *ret, struct error *e)
{
	struct facts_head h;
	sqlite3_stmt *st = facts_db_use(d, FACTS_ST_GET, &id, 1);
	int r = facts_db_step(d, st, e);
	bool fits;

	if (r == 0)
		return error_set(e, ENOENT, "%s has no row %lld", d->path, (long long)id);
	if (r < 0)
		return r;
	fits = facts_local_get_head(st, &h);
	sqlite3_reset(st);
	if (!fits)
		return error_set(e, EBADMSG, "%s: row %lld is damaged", d->path, (long long)id);
	if (h.key.kind >= FACT_KINDS)
		return error_set(e, EBADMSG, "%s: row %lld is of kind %u", d->path, (long long)id,
				 h.key.kind);
	r = fact_set_init(ret, &h.key);
	if (r < 0)
		return error_set(e, -r, "cannot read facts: %s", strerror(-r));
	ret->version = h.version;
	ret->covered_ns = h.covered_ns;
	ret->events = h.events;
	ret->lost = h.lost;
	ret->lost_places = h.lost_places;
	r = read_body(d, id, ret, e);
	if (r < 0)
		fact_set_done(ret);
	return r;
}

/* --- batches --- */

static struct fact_key hour_of(const struct fact_key *minute)
{
	struct fact_key k = *minute;

	k.length_s = FACT_HOUR_S;
	k.start_s -= k.start_s % FACT_HOUR_S;
	return k;
}

static int mark_stale(struct facts_db *d, const struct fact_key *hour, enum facts_statement which,
		      struct error *e)
{
	int64_t numbers[] = { (int64_t)hour->start_s, hour->kind };
	sqlite3_stmt *s = facts_db_use(d, which, numbers, 2);

	if (s) {
		facts_db_bind_id(s, 3, &hour->device);
		facts_db_bind_id(s, 4, &hour->run);
	}
	return facts_db_run(d, s, e);
}

/* An hour that comes as such has no minutes here. */
static int put_hour(struct facts_db *d, const struct fact_set *s, struct error *e)
{
	struct fact_key minute = s->key;
	struct facts_found found;
	int r = 0;

	minute.length_s = FACT_MINUTE_S;
	for (; r == 0 && minute.start_s < s->key.start_s + FACT_HOUR_S;
	     minute.start_s += FACT_MINUTE_S) {
		r = facts_local_find(d, &minute, &found, e);
		if (r == 0 && found.is_there)
			r = facts_local_drop(d, found.id, e);
	}
	if (r == 0)
		r = mark_stale(d, &s->key, FACTS_ST_DROP_STALE, e);
	return r < 0 ? r : facts_local_write(d, s, true, e);
}

static int put_set(struct facts_db *d, const struct fact_set *s, struct facts_batch *b,
		   struct error *e)
{
	struct fact_key hour = hour_of(&s->key);
	struct facts_found old, sum;
	int r = facts_local_find(d, &s->key, &old, e);

	if (r == 0)
		r = facts_local_find(d, &hour, &sum, e);
	if (r < 0 || (old.is_there && old.version > s->version))
		return r;
	if (s->key.length_s == FACT_HOUR_S)
		return put_hour(d, s, e);
	if (sum.is_closed) {
		b->n_late++;
		return 0;
	}
	if (sum.is_there)
		r = facts_local_drop(d, sum.id, e);
	if (r == 0)
		r = mark_stale(d, &hour, FACTS_ST_PUT_STALE, e);
	return r < 0 ? r : facts_local_write(d, s, false, e);
}

static int put_carry(struct facts_db *d, const struct facts_batch *b, struct error *e)
{
	sqlite3_stmt *s = facts_db_use(d, FACTS_ST_PUT_CARRY, NULL, 0);

	if (s) {
		facts_db_bind_id(s, 1, b->run);
		sqlite3_bind_blob64(s, 2, b->carry ? (const void *)b->carry : "", b->carry_len,
				    SQLITE_STATIC);
	}
	return facts_db_run(d, s, e);
}

static int put_batch(struct facts_db *d, struct facts_batch *b, struct error *e)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < b->n_sets; i++)
		r = put_set(d, b->sets[i], b, e);
	return r < 0 || !b->run ? r : put_carry(d, b, e);
}

static int local_put(struct facts *f, struct facts_batch *list, size_t n, struct error *e)
{
	struct facts_local *l = of(f);
	struct facts_db *d;
	size_t i;
	int r = facts_local_begin(l, &d, e);

	if (r < 0)
		return r;
	for (i = 0; r == 0 && i < n; i++)
		r = put_batch(d, &list[i], e);
	return facts_local_end(l, r, e);
}

static int local_drop_carry(struct facts *f, const struct message_id *run, struct error *e)
{
	struct facts_local *l = of(f);
	struct facts_db *d;
	sqlite3_stmt *s;
	int r = facts_local_begin(l, &d, e);

	if (r < 0)
		return r;
	s = facts_db_use(d, FACTS_ST_DROP_CARRY, NULL, 0);
	if (s)
		facts_db_bind_id(s, 1, run);
	return facts_local_end(l, facts_db_run(d, s, e), e);
}

static int copy_carry(sqlite3_stmt *s, uint8_t **ret, size_t *ret_len)
{
	size_t len = (size_t)sqlite3_column_bytes(s, 0);
	uint8_t *copy = malloc(len + 1);

	if (!copy)
		return -ENOMEM;
	if (len)
		memcpy(copy, sqlite3_column_blob(s, 0), len);
	*ret = copy;
	*ret_len = len;
	return 0;
}

static int local_get_carry(struct facts *f, const struct message_id *run, uint8_t **ret,
			   size_t *ret_len, struct error *e)
{
	CLEANUP(facts_db) struct facts_db *d = NULL;
	sqlite3_stmt *s;
	int r = facts_db_open(&d, of(f)->path, false, e);

	if (r < 0)
		return r;
	s = facts_db_use(d, FACTS_ST_GET_CARRY, NULL, 0);
	if (s)
		facts_db_bind_id(s, 1, run);
	r = facts_db_step(d, s, e);
	if (r == 0)
		return error_set(e, ENOENT, "%s remembers nothing of the run", of(f)->path);
	r = r < 0 ? r : copy_carry(s, ret, ret_len);
	return r;
}

/* --- opening --- */

static void local_free(struct facts *f)
{
	struct facts_local *l = of(f);

	facts_db_free(l->writer);
	pthread_mutex_destroy(&l->lock);
	free(l->path);
	free(l);
}

static const struct facts_ops local_ops = {
	.put = local_put,
	.get_carry = local_get_carry,
	.drop_carry = local_drop_carry,
	.roll = facts_local_roll,
	.retain = facts_local_retain,
	.scan = facts_local_scan,
	.keys = facts_local_keys,
	.top = facts_local_top,
	.tree = facts_local_tree,
	.trend = facts_local_trend,
	.label = facts_local_label,
	.labels = facts_local_labels,
	.free = local_free,
};

int facts_local_open(struct facts **ret, const char *dir, bool is_reader, struct error *e)
{
	CLEANUP(facts) struct facts *f = NULL;
	struct facts_db *d = NULL;
	struct facts_local *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return error_set(e, ENOMEM, "cannot open the facts: out of memory");
	l->facts.ops = &local_ops;
	pthread_mutex_init(&l->lock, NULL);
	f = &l->facts;
	if (asprintf(&l->path, "%s/" FILE_NAME, dir) < 0) {
		l->path = NULL;
		return error_set(e, ENOMEM, "cannot open the facts: out of memory");
	}
	r = facts_db_open(&d, l->path, !is_reader, e);
	if (r < 0)
		return r;
	if (is_reader)
		facts_db_free(d);
	else
		l->writer = d;
	*ret = take_ptr(f);
	return 0;
}

int facts_set_aside(const char *dir, struct error *e)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	char from[4096], to[4096];
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(from, sizeof(from), "%s/" FILE_NAME "%s", dir, ends[i]);
		snprintf(to, sizeof(to), "%s/" FILE_NAME ".damaged%s", dir, ends[i]);
		if (rename(from, to) < 0 && errno != ENOENT)
			return error_set(e, errno, "cannot rename %s: %s", from, strerror(errno));
	}
	return 0;
}
