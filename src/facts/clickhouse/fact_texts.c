/* SPDX-License-Identifier: MIT */
/* fact_texts: see fact_texts.h. */
#include "facts/clickhouse/fact_texts.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "facts/fact_name.h"
#include "store/array.h"
#include "store/clickhouse/clickhouse_row.h"
#include "store/hashtable.h"

#define TEXT_MAX 65536U /* of a name in the table */

struct entry {
	struct fact_text text; /* whose texts stand behind it */
	bool is_stored;
};

struct fact_texts {
	struct clickhouse_link *link;
	pthread_mutex_t lock; /* of all below */
	struct hashtable known;
	uint64_t *fresh; /* not in the table, as far as this process knows */
	size_t n_fresh, room_fresh;
};

static bool has_hash(const void *entry, const void *key)
{
	return ((const struct entry *)entry)->text.hash == *(const uint64_t *)key;
}

static int no_memory(struct error *e)
{
	return error_set(e, ENOMEM, "cannot use the names of facts: out of memory");
}

int fact_texts_new(struct fact_texts **ret, struct clickhouse_link *l, struct error *e)
{
	struct fact_texts *t = calloc(1, sizeof(*t));

	if (!t)
		return no_memory(e);
	t->link = l;
	pthread_mutex_init(&t->lock, NULL);
	hashtable_init(&t->known, FACTS_NAMES_MAX);
	*ret = t;
	return 0;
}

void fact_texts_free(struct fact_texts *t)
{
	size_t at = 0;
	void *entry;

	if (!t)
		return;
	while ((entry = hashtable_next(&t->known, &at)))
		free(entry);
	hashtable_done(&t->known);
	pthread_mutex_destroy(&t->lock);
	free(t->fresh);
	free(t);
}

/* --- what is known; the lock is held --- */

static struct entry *find(struct fact_texts *t, uint64_t hash)
{
	return hashtable_get(&t->known, hash, has_hash, &hash);
}

struct span {
	const char *object, *name;
	size_t object_len, name_len;
};

static int add(struct fact_texts *t, uint64_t hash, const struct span *s, struct entry **ret)
{
	struct entry *made = malloc(sizeof(*made) + s->object_len + s->name_len + 2);
	char *text;
	int r;

	if (!made)
		return -ENOMEM;
	text = (char *)(made + 1);
	memcpy(text, s->object, s->object_len);
	text[s->object_len] = '\0';
	made->text.object = text;
	text += s->object_len + 1;
	memcpy(text, s->name, s->name_len);
	text[s->name_len] = '\0';
	made->text.name = text;
	made->text.hash = hash;
	made->is_stored = false;
	r = hashtable_add(&t->known, hash, made);
	if (r < 0) {
		free(made);
		return r;
	}
	*ret = made;
	return 0;
}

static int add_fresh(struct fact_texts *t, const struct fact_text *like)
{
	struct span s = { like->object, like->name, strlen(like->object), strlen(like->name) };
	struct entry *made;
	int r = array_grow(&t->fresh, t->n_fresh, &t->room_fresh, sizeof(*t->fresh),
			   FACTS_NAMES_MAX);

	if (r == 0)
		r = add(t, like->hash, &s, &made);
	if (r == 0)
		t->fresh[t->n_fresh++] = like->hash;
	return r;
}

static int put(struct fact_texts *t, const char *object, const char *name, uint64_t *ret,
	       struct error *e)
{
	struct fact_text like = { .object = object, .name = name };
	const struct entry *known;
	int r = fact_name_hash(object, name, &like.hash);

	if (r < 0)
		return no_memory(e);
	*ret = like.hash;
	known = find(t, like.hash);
	if (!known) {
		r = add_fresh(t, &like);
		return r < 0 ? error_set(e, -r, "cannot keep a name: %s", strerror(-r)) : 0;
	}
	if (strcmp(known->text.object, object) || strcmp(known->text.name, name))
		return error_set(e, EEXIST, "%s of %s has the number of %s of %s", name, object,
				 known->text.name, known->text.object);
	return 0;
}

/* --- the names of a set --- */

void fact_hashes_done(struct fact_hashes *h)
{
	free(h->list);
	free(h->numbers.functions);
	free(h->numbers.objects);
	memset(h, 0, sizeof(*h));
}

static int compare_hashes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint32_t place_of(const struct fact_hashes *h, uint64_t hash)
{
	const uint64_t *at = bsearch(&hash, h->list, h->n, sizeof(hash), compare_hashes);

	return (uint32_t)(at - h->list);
}

/* From the hashes by key of the set, which are functions and objects in turn. */
static int number(struct fact_hashes *h, const uint64_t *hashes, size_t n)
{
	size_t i, kept = 0;

	h->list = malloc((2 * n + 1) * sizeof(*h->list));
	h->numbers.functions = calloc(n + 1, sizeof(*h->numbers.functions));
	h->numbers.objects = calloc(n + 1, sizeof(*h->numbers.objects));
	if (!h->list || !h->numbers.functions || !h->numbers.objects)
		return -ENOMEM;
	if (n) {
		memcpy(h->list, hashes, 2 * n * sizeof(*hashes));
		qsort(h->list, 2 * n, sizeof(*h->list), compare_hashes);
	}
	for (i = 0; i < 2 * n; i++)
		if (!i || h->list[i] != h->list[kept - 1])
			h->list[kept++] = h->list[i];
	h->n = kept;
	for (i = 0; i < n; i++) {
		h->numbers.functions[i] = place_of(h, hashes[2 * i]);
		h->numbers.objects[i] = place_of(h, hashes[2 * i + 1]);
	}
	return 0;
}

int fact_texts_put_set(struct fact_texts *t, const struct fact_set *s, struct fact_hashes *ret,
		       struct error *e)
{
	_cleanup_free_ uint64_t *hashes = calloc(2 * s->functions.n + 1, sizeof(*hashes));
	const struct function *f;
	uint32_t i;
	int r = 0;

	memset(ret, 0, sizeof(*ret));
	if (!hashes)
		return no_memory(e);
	pthread_mutex_lock(&t->lock);
	for (i = 0; r == 0 && i < s->functions.n; i++) {
		f = functions_get(&s->functions, i);
		r = put(t, f->object, f->name, &hashes[2 * i], e);
		if (r == 0)
			r = put(t, f->object, "", &hashes[2 * i + 1], e);
	}
	pthread_mutex_unlock(&t->lock);
	if (r == 0 && number(ret, hashes, s->functions.n) < 0)
		r = no_memory(e);
	if (r < 0)
		fact_hashes_done(ret);
	return r;
}

static int encode_fresh(struct fact_texts *t, struct clickhouse_rows *rows)
{
	const struct entry *entry;
	size_t i, object, name;
	int r = 0;

	for (i = 0; r == 0 && i < t->n_fresh; i++) {
		entry = find(t, t->fresh[i]);
		if (!entry || entry->is_stored)
			continue;
		object = strlen(entry->text.object);
		name = strlen(entry->text.name);
		r = clickhouse_rows_reserve(rows, object + name + 64);
		if (r < 0)
			break;
		clickhouse_rows_u64(rows, entry->text.hash);
		clickhouse_rows_string(rows, entry->text.object, object);
		clickhouse_rows_string(rows, entry->text.name, name);
	}
	return r;
}

static void mark_stored(struct fact_texts *t)
{
	struct entry *entry;
	size_t i;

	for (i = 0; i < t->n_fresh; i++) {
		entry = find(t, t->fresh[i]);
		if (entry)
			entry->is_stored = true;
	}
	t->n_fresh = 0;
}

/* Under the lock: who puts a set with a name that another thread is inserting must wait for that. */
int fact_texts_flush(struct fact_texts *t, struct error *e)
{
	struct clickhouse_rows rows = { 0 };
	int r = 0;

	pthread_mutex_lock(&t->lock);
	if (t->n_fresh && encode_fresh(t, &rows) < 0)
		r = no_memory(e);
	if (r == 0 && rows.len)
		r = clickhouse_link_insert(t->link, "fact_names (hash, object, name)", rows.data,
					   rows.len, e);
	if (r == 0)
		mark_stored(t);
	pthread_mutex_unlock(&t->lock);
	clickhouse_rows_done(&rows);
	return r;
}

/* --- looking up --- */

/* One row of the table; false: it is not whole yet, or none. */
static bool read_row(struct byte_reader *in, uint64_t *ret_hash, struct span *ret)
{
	*ret_hash = clickhouse_row_u64(in);
	ret->object = (const char *)clickhouse_row_string(in, &ret->object_len);
	ret->name = (const char *)clickhouse_row_string(in, &ret->name_len);
	return !in->bad && ret->object_len <= TEXT_MAX && ret->name_len <= TEXT_MAX;
}

static ssize_t take_rows(void *context, const uint8_t *bytes, size_t len)
{
	struct fact_texts *t = context;
	const uint8_t *at = bytes;
	struct byte_reader in;
	struct entry *entry;
	struct span s;
	uint64_t hash;
	int r = 0;

	reader_init(&in, bytes, len);
	while (r == 0 && read_row(&in, &hash, &s)) {
		at = in.at;
		if (find(t, hash))
			continue;
		r = add(t, hash, &s, &entry);
		if (r == 0)
			entry->is_stored = true;
	}
	return r < 0 ? r : at - bytes;
}

#define SELECT_NAMES "SELECT hash, object, name FROM fact_names WHERE "

int fact_texts_load(struct fact_texts *t, const uint64_t *hashes, size_t n, struct error *e)
{
	struct clickhouse_rows missing = { 0 };
	struct clickhouse_list list = { .type = "UInt64" };
	struct clickhouse_ask ask = { .sql = SELECT_NAMES "hash GLOBAL IN listed",
				      .take = take_rows,
				      .context = t,
				      .list = &list };
	size_t i;
	int r = clickhouse_rows_reserve(&missing, 8 * n + 8);

	if (r < 0)
		return no_memory(e);
	pthread_mutex_lock(&t->lock);
	for (i = 0; i < n; i++)
		if (!find(t, hashes[i]))
			clickhouse_rows_u64(&missing, hashes[i]);
	list.rows = missing.data;
	list.len = missing.len;
	if (list.len)
		r = clickhouse_link_ask(t->link, &ask, e);
	pthread_mutex_unlock(&t->lock);
	clickhouse_rows_done(&missing);
	return r;
}

int fact_texts_get(struct fact_texts *t, uint64_t hash, const struct fact_text **ret,
		   struct error *e)
{
	const struct entry *entry;

	pthread_mutex_lock(&t->lock);
	entry = find(t, hash);
	pthread_mutex_unlock(&t->lock);
	if (!entry)
		return error_set(e, EBADMSG, "there is no name with the number %016llx",
				 (unsigned long long)hash);
	*ret = &entry->text;
	return 0;
}

/* --- finding by text --- */

struct finding {
	struct fact_texts *texts;
	const struct fact_texts_wanted *wanted;
	int code; /* of who was called */
};

static ssize_t take_found(void *context, const uint8_t *bytes, size_t len)
{
	struct finding *f = context;
	ssize_t taken = take_rows(f->texts, bytes, len);
	struct byte_reader in;
	const struct entry *entry;
	struct span s;
	uint64_t hash;

	if (taken < 0)
		return taken;
	reader_init(&in, bytes, (size_t)taken);
	while (!f->code && in.at < bytes + taken && read_row(&in, &hash, &s)) {
		entry = find(f->texts, hash);
		f->code = entry ? f->wanted->fn(f->wanted->context, &entry->text) : 0;
	}
	return taken;
}

int fact_texts_find(struct fact_texts *t, const struct fact_texts_wanted *w, struct error *e)
{
	struct finding f = { .texts = t, .wanted = w };
	struct clickhouse_rows text = { 0 };
	struct clickhouse_list list = { .type = "String" };
	struct clickhouse_ask ask = { .sql = w->is_object ? SELECT_NAMES
						     "object GLOBAL IN listed AND name = ''"
							  : SELECT_NAMES "name GLOBAL IN listed",
				      .take = take_found,
				      .context = &f,
				      .list = &list };
	int r = clickhouse_rows_reserve(&text, strlen(w->text) + 16);

	if (r < 0)
		return no_memory(e);
	clickhouse_rows_string(&text, w->text, strlen(w->text));
	list.rows = text.data;
	list.len = text.len;
	pthread_mutex_lock(&t->lock);
	r = clickhouse_link_ask(t->link, &ask, e);
	pthread_mutex_unlock(&t->lock);
	clickhouse_rows_done(&text);
	return r < 0 ? r : f.code;
}
