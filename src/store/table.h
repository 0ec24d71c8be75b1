/* SPDX-License-Identifier: MIT */
/*
 * table: pointers by hash, in one array with open addressing.
 *
 * The caller has the hash and says what equals what; the table owns nothing. It doubles at three
 * quarters, up to a ceiling that its owner names.
 */
#ifndef KISEKI_STORE_TABLE_H
#define KISEKI_STORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct table {
	void **slots; /* NULL: free */
	uint64_t *hashes;
	size_t n, room; /* room is 0 or a power of two */
	size_t most;
};

typedef bool (*table_is_fn)(const void *entry, const void *key);

void table_init(struct table *t, size_t most);
void table_done(struct table *t);

void *table_get(const struct table *t, uint64_t hash, table_is_fn is, const void *key);
/* 0, -ENOMEM, or -E2BIG beyond the ceiling. The entry must not be there. */
int table_add(struct table *t, uint64_t hash, void *entry);
void table_remove(struct table *t, uint64_t hash, const void *entry);

/* All entries, in no order: *at starts at 0; NULL at the end. */
void *table_next(const struct table *t, size_t *at);

static inline uint64_t table_hash_number(uint64_t v)
{
	v *= 0x9e3779b97f4a7c15ULL;
	return v ^ v >> 32;
}

/* 16 bytes that are random by their nature; a peer that chooses them gets the same mixing. */
static inline uint64_t table_hash_id(const uint8_t id[16])
{
	uint64_t a, b;

	memcpy(&a, id, 8);
	memcpy(&b, id + 8, 8);
	return table_hash_number(a ^ table_hash_number(b));
}

#endif
