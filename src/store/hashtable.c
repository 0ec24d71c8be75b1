/* SPDX-License-Identifier: MIT */
/* hashtable: see hashtable.h. Removal moves later entries up, so that no search ends too early. */
#include "store/hashtable.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_LEAST 16U

void hashtable_init(struct hashtable *t, size_t most)
{
	memset(t, 0, sizeof(*t));
	t->most = most;
}

void hashtable_done(struct hashtable *t)
{
	free(t->slots);
	t->slots = NULL;
	t->n = t->room = 0;
}

void *hashtable_get(const struct hashtable *t, uint64_t hash, hashtable_is_fn is, const void *key)
{
	size_t at;

	if (!t->room)
		return NULL;
	for (at = hash & (t->room - 1); t->slots[at].entry; at = (at + 1) & (t->room - 1))
		if (t->slots[at].hash == hash && is(t->slots[at].entry, key))
			return t->slots[at].entry;
	return NULL;
}

static void insert(struct hashtable *t, uint64_t hash, void *entry)
{
	size_t at = hash & (t->room - 1);

	while (t->slots[at].entry)
		at = (at + 1) & (t->room - 1);
	t->slots[at] = (struct hashtable_slot){ entry, hash };
}

static int grow(struct hashtable *t)
{
	struct hashtable wider = *t;
	size_t i;

	wider.room = t->room ? t->room * 2 : ROOM_LEAST;
	wider.slots = calloc(wider.room, sizeof(*wider.slots));
	if (!wider.slots)
		return -ENOMEM;
	for (i = 0; i < t->room; i++)
		if (t->slots[i].entry)
			insert(&wider, t->slots[i].hash, t->slots[i].entry);
	free(t->slots);
	*t = wider;
	return 0;
}

int hashtable_add(struct hashtable *t, uint64_t hash, void *entry)
{
	int r = 0;

	if (t->n >= t->most)
		return -E2BIG;
	if ((t->n + 1) * 4 > t->room * 3)
		r = grow(t);
	if (r < 0)
		return r;
	insert(t, hash, entry);
	t->n++;
	return 0;
}

void hashtable_remove(struct hashtable *t, uint64_t hash, const void *entry)
{
	size_t mask = t->room - 1, at, next;

	if (!t->room)
		return;
	for (at = hash & mask; t->slots[at].entry != entry; at = (at + 1) & mask)
		if (!t->slots[at].entry)
			return;
	t->n--;
	for (next = (at + 1) & mask; t->slots[next].entry; next = (next + 1) & mask) {
		size_t home = t->slots[next].hash & mask;

		/* It may move up to the hole unless its home lies behind that. */
		if (((next - home) & mask) < ((next - at) & mask))
			continue;
		t->slots[at] = t->slots[next];
		at = next;
	}
	t->slots[at].entry = NULL;
}

void *hashtable_next(const struct hashtable *t, size_t *at)
{
	while (*at < t->room)
		if (t->slots[(*at)++].entry)
			return t->slots[*at - 1].entry;
	return NULL;
}
