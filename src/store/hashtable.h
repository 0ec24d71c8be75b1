/* SPDX-License-Identifier: MIT */
/*
 * hashtable: pointers by hash, in one array with open addressing.
 *
 * The caller has the hash and says what equals what; the table owns nothing. It doubles at three
 * quarters, up to a ceiling that its owner names.
 */
#ifndef KISEKI_STORE_HASHTABLE_H
#define KISEKI_STORE_HASHTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hashtable_slot {
	void *entry; /* NULL: free */
	uint64_t hash;
};

struct hashtable {
	struct hashtable_slot *slots; /* side by side: a search mostly looks at one */
	size_t n, room;		      /* room is 0 or a power of two */
	size_t most;
};

typedef bool (*hashtable_is_fn)(const void *entry, const void *key);

void hashtable_init(struct hashtable *t, size_t most);
void hashtable_done(struct hashtable *t);

void *hashtable_get(const struct hashtable *t, uint64_t hash, hashtable_is_fn is, const void *key);
/* 0, -ENOMEM, or -E2BIG beyond the ceiling. The entry must not be there. */
int hashtable_add(struct hashtable *t, uint64_t hash, void *entry);
void hashtable_remove(struct hashtable *t, uint64_t hash, const void *entry);

/* All entries, in no order: *at starts at 0; NULL at the end. */
void *hashtable_next(const struct hashtable *t, size_t *at);

static inline uint64_t hashtable_hash_number(uint64_t v)
{
	v *= 0x9e3779b97f4a7c15ULL;
	return v ^ v >> 32;
}

/* 16 bytes that are random by their nature; a peer that chooses them gets the same mixing. */
static inline uint64_t hashtable_hash_id(const uint8_t id[16])
{
	uint64_t a, b;

	memcpy(&a, id, 8);
	memcpy(&b, id + 8, 8);
	return hashtable_hash_number(a ^ hashtable_hash_number(b));
}

#endif
