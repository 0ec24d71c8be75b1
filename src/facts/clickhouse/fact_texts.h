/* SPDX-License-Identifier: MIT */
/*
 * fact_texts: the texts behind the hashes of names, in the table fact_names and remembered by this process.
 *
 * Every name is inserted before the first row that has its hash, by every process that does not know that another one did: the table
 * is a set. All calls may be made by several threads at once; what was given stays until the end.
 */
#ifndef KISEKI_FACTS_CLICKHOUSE_FACT_TEXTS_H
#define KISEKI_FACTS_CLICKHOUSE_FACT_TEXTS_H

#include "facts/fact_flat.h"
#include "store/clickhouse/clickhouse_link.h"

struct fact_texts;

struct fact_text {
	uint64_t hash;
	const char *object, *name;
};

int fact_texts_new(struct fact_texts **ret, struct clickhouse_link *l, struct error *e);
void fact_texts_free(struct fact_texts *t);

/* The hashes of the names of a set, and of their objects, by rising hash: numbers are places in this. */
struct fact_hashes {
	uint64_t *list;
	size_t n;
	struct fact_numbers numbers;
};
void fact_hashes_done(struct fact_hashes *h);
#define CLEANUP_FACT_HASHES __attribute__((cleanup(fact_hashes_done)))

/* Makes sure that the names of a set are in the table when fact_texts_flush() returns. -EEXIST: two texts have one hash. */
int fact_texts_put_set(struct fact_texts *t, const struct fact_set *s, struct fact_hashes *ret,
		       struct error *e);
int fact_texts_flush(struct fact_texts *t, struct error *e);

/* Looks all of these up that are not known yet. */
int fact_texts_load(struct fact_texts *t, const uint64_t *hashes, size_t n, struct error *e);
/* Borrowed. -EBADMSG: there is none in the table. */
int fact_texts_get(struct fact_texts *t, uint64_t hash, const struct fact_text **ret,
		   struct error *e);
/* All with that name, or of that object and without a name. Calls fn until it returns non-zero. */
typedef int (*fact_texts_fn)(void *context, const struct fact_text *t);
struct fact_texts_wanted {
	const char *text;
	bool is_object;
	fact_texts_fn fn;
	void *context;
};
int fact_texts_find(struct fact_texts *t, const struct fact_texts_wanted *w, struct error *e);

#endif
