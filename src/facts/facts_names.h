/* SPDX-License-Identifier: MIT */
/*
 * facts_names: the texts of functions and the numbers that stand for them in one facts.sqlite.
 *
 * What a function is called everywhere is a hash of 64 bits (fact_name.h); in this file it has a small number as well, in the order in
 * which they came, so that rows are short and sums are arrays. Number 0 is [others] of nothing: what comes when there are FACTS_NAMES_MAX.
 * Names are never removed. Each connection remembers those it has met.
 */
#ifndef KISEKI_FACTS_FACTS_NAMES_H
#define KISEKI_FACTS_FACTS_NAMES_H

#include "base/cleanup.h"
#include "base/error.h"
#include "facts/fact_flat.h"

struct facts_db;
struct facts_names;

struct facts_name {
	uint64_t hash;
	uint32_t number;
	const char *object, *name;
};

int facts_names_new(struct facts_names **ret, struct facts_db *d, struct error *e);
void facts_names_free(struct facts_names *n);
void facts_names_forget(struct facts_names *n); /* of the cache */

/* The number of a name, which is new if there was none: in a transaction that writes. -EEXIST: another text has the same hash. */
int facts_names_put(struct facts_names *n, const char *object, const char *name, uint32_t *ret,
		    struct error *e);
/* Borrowed. -EBADMSG: there is none. */
int facts_names_get(struct facts_names *n, uint32_t number, const struct facts_name **ret,
		    struct error *e);
/* One more than the highest. */
int facts_names_count(struct facts_names *n, uint32_t *ret, struct error *e);

/* Of all functions of a set; arrays to be freed. */
int facts_names_put_set(struct facts_names *n, const struct fact_set *s, struct fact_numbers *ret,
			struct error *e);

#endif
