/* SPDX-License-Identifier: MIT */
/* facts_names: see facts_names.h. */
#include "facts/facts_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "facts/fact_name.h"
#include "facts/facts_db.h"
#include "store/hashtable.h"

#define OTHERS_NUMBER 0

struct facts_names {
	struct facts_db *db;
	struct hashtable by_hash, by_number; /* struct facts_name, owned by the first */
};

static bool has_hash(const void *entry, const void *key)
{
	return ((const struct facts_name *)entry)->hash == *(const uint64_t *)key;
}

static bool has_number(const void *entry, const void *key)
{
	return ((const struct facts_name *)entry)->number == *(const uint32_t *)key;
}

int facts_names_new(struct facts_names **ret, struct facts_db *d, struct error *e)
{
	struct facts_names *n = calloc(1, sizeof(*n));

	if (!n)
		return error_set(e, ENOMEM, "cannot use the names of facts: out of memory");
	n->db = d;
	hashtable_init(&n->by_hash, FACTS_NAMES_MAX);
	hashtable_init(&n->by_number, FACTS_NAMES_MAX);
	*ret = n;
	return 0;
}

void facts_names_forget(struct facts_names *n)
{
	size_t at = 0;
	void *entry;

	if (!n)
		return;
	while ((entry = hashtable_next(&n->by_hash, &at)))
		free(entry);
	hashtable_done(&n->by_hash);
	hashtable_done(&n->by_number);
	hashtable_init(&n->by_hash, FACTS_NAMES_MAX);
	hashtable_init(&n->by_number, FACTS_NAMES_MAX);
}

void facts_names_free(struct facts_names *n)
{
	if (!n)
		return;
	facts_names_forget(n);
	free(n);
}

/* Remembers it; the texts stand behind it. */
static int keep(struct facts_names *n, const struct facts_name *like, const struct facts_name **ret)
{
	size_t object = strlen(like->object) + 1, name = strlen(like->name) + 1;
	struct facts_name *kept = malloc(sizeof(*kept) + object + name);
	char *text;
	int r;

	if (!kept)
		return -ENOMEM;
	text = (char *)(kept + 1);
	*kept = *like;
	memcpy(text, like->object, object);
	memcpy(text + object, like->name, name);
	kept->object = text;
	kept->name = text + object;
	r = hashtable_add(&n->by_hash, kept->hash, kept);
	if (r < 0) {
		free(kept);
		return r;
	}
	r = hashtable_add(&n->by_number, hashtable_hash_number(kept->number), kept);
	if (r < 0) {
		hashtable_remove(&n->by_hash, kept->hash, kept);
		free(kept);
		return r;
	}
	*ret = kept;
	return 0;
}

static const char *text_of(sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);

	return text ? text : "";
}

int facts_names_count(struct facts_names *n, uint32_t *ret, struct error *e)
{
	sqlite3_stmt *s = facts_db_use(n->db, FACTS_ST_NAME_MOST, NULL, 0);
	int r = facts_db_step(n->db, s, e);
	uint64_t most = r == 1 ? facts_db_get_number(s, 0) : 0;

	if (r < 0)
		return r;
	sqlite3_reset(s);
	if (most >= FACTS_NAMES_MAX)
		return error_set(e, EBADMSG, "%s: a name has the number %llu", n->db->path,
				 (unsigned long long)most);
	*ret = (uint32_t)most + 1;
	return 0;
}

/* By hash, from the file; NULL in *ret: there is none. */
static int load(struct facts_names *n, uint64_t hash, const struct facts_name **ret,
		struct error *e)
{
	int64_t key = (int64_t)hash;
	sqlite3_stmt *s = facts_db_use(n->db, FACTS_ST_NAME_BY_HASH, &key, 1);
	struct facts_name like = { .hash = hash };
	int r = facts_db_step(n->db, s, e);

	*ret = NULL;
	if (r <= 0)
		return r;
	like.number = (uint32_t)sqlite3_column_int64(s, 0);
	like.object = text_of(s, 1);
	like.name = text_of(s, 2);
	r = keep(n, &like, ret);
	sqlite3_reset(s);
	return r;
}

static int insert(struct facts_names *n, struct facts_name *like, const struct facts_name **ret,
		  struct error *e)
{
	sqlite3_stmt *s;
	int r = facts_names_count(n, &like->number, e);
	int64_t numbers[2] = { like->number, (int64_t)like->hash };

	if (r < 0)
		return r;
	if (like->number >= FACTS_NAMES_MAX)
		return 0;
	s = facts_db_use(n->db, FACTS_ST_PUT_NAME, numbers, 2);
	if (s) {
		sqlite3_bind_text(s, 3, like->object, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 4, like->name, -1, SQLITE_STATIC);
	}
	r = facts_db_run(n->db, s, e);
	return r < 0 ? r : keep(n, like, ret);
}

int facts_names_put(struct facts_names *n, const char *object, const char *name, uint32_t *ret,
		    struct error *e)
{
	struct facts_name like = { .object = object, .name = name };
	const struct facts_name *known;
	int r = fact_name_hash(object, name, &like.hash);

	if (r < 0)
		return error_set(e, -r, "cannot number a name: %s", strerror(-r));
	known = hashtable_get(&n->by_hash, like.hash, has_hash, &like.hash);
	if (!known)
		r = load(n, like.hash, &known, e);
	if (r >= 0 && !known)
		r = insert(n, &like, &known, e);
	if (r < 0)
		return r;
	if (known && (strcmp(known->object, object) || strcmp(known->name, name)))
		return error_set(e, EEXIST, "%s of %s has the number of %s of %s", name, object,
				 known->name, known->object);
	*ret = known ? known->number : OTHERS_NUMBER;
	return 0;
}

int facts_names_get(struct facts_names *n, uint32_t number, const struct facts_name **ret,
		    struct error *e)
{
	static const struct facts_name others = { .object = "", .name = "[others]" };
	struct facts_name like = { .number = number };
	int64_t key = number;
	uint64_t hash;
	sqlite3_stmt *s;
	int r;

	*ret = number == OTHERS_NUMBER ? &others
				       : hashtable_get(&n->by_number, hashtable_hash_number(number),
						       has_number, &number);
	if (*ret)
		return 0;
	s = facts_db_use(n->db, FACTS_ST_NAME_BY_NUMBER, &key, 1);
	r = facts_db_step(n->db, s, e);
	if (r == 0)
		return error_set(e, EBADMSG, "%s: there is no name with the number %u", n->db->path,
				 number);
	if (r < 0)
		return r;
	like.hash = facts_db_get_number(s, 0);
	like.object = text_of(s, 1);
	like.name = text_of(s, 2);
	r = fact_name_hash(like.object, like.name, &hash);
	if (r == 0 && hash != like.hash)
		r = error_set(e, EBADMSG, "%s: the name with the number %u is damaged", n->db->path,
			      number);
	if (r == 0)
		r = keep(n, &like, ret);
	sqlite3_reset(s);
	return r;
}

int facts_names_put_set(struct facts_names *n, const struct fact_set *s, struct fact_numbers *ret,
			struct error *e)
{
	size_t all = s->functions.n + 1;
	_cleanup_free_ uint32_t *functions = calloc(all, sizeof(*functions));
	_cleanup_free_ uint32_t *objects = calloc(all, sizeof(*objects));
	const struct function *f;
	uint32_t i;
	int r = 0;

	if (!functions || !objects)
		return error_set(e, ENOMEM, "cannot number names: out of memory");
	for (i = 0; r >= 0 && i < s->functions.n; i++) {
		f = functions_get(&s->functions, i);
		r = facts_names_put(n, f->object, f->name, &functions[i], e);
		if (r >= 0)
			r = facts_names_put(n, f->object, "", &objects[i], e);
	}
	if (r < 0)
		return r;
	ret->functions = take_ptr(functions);
	ret->objects = take_ptr(objects);
	return 0;
}
