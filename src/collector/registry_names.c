/* SPDX-License-Identifier: MIT */
/*
 * registry_names: which device has which name.
 *
 * Thousands of devices may come at once, after the collector was away, and all of them may call themselves the same: so a name
 * is found by its hash, and what was the last number behind a name is remembered by the one that has it without.
 * The table has slots, one higher, instead of pointers, since entries move.
 */
#include "collector/registry_inside.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_FIRST 2U

struct name_key {
	const struct registry *registry;
	const char *name;
};

static uint64_t hash_name(const char *name)
{
	uint64_t h = 0;

	while (*name)
		h = hashtable_hash_number(h ^ (uint8_t)*name++);
	return h;
}

static void *entry_of(uint32_t slot)
{
	return (void *)((uintptr_t)slot + 1);
}

static uint32_t slot_of(const void *entry)
{
	return (uint32_t)((uintptr_t)entry - 1);
}

static bool has_name(const void *entry, const void *key)
{
	const struct name_key *k = key;

	return !strcmp(k->registry->entries[slot_of(entry)].row.device.name, k->name);
}

uint32_t registry_names_get(const struct registry *r, const char *name)
{
	const struct name_key key = { r, name };
	const void *entry =
		name[0] ? hashtable_get(&r->names, hash_name(name), has_name, &key) : NULL;

	return entry ? slot_of(entry) : REGISTRY_NEVER;
}

int registry_names_add(struct registry *r, uint32_t slot)
{
	const char *name = r->entries[slot].row.device.name;

	if (!name[0] || registry_names_get(r, name) != REGISTRY_NEVER)
		return 0;
	return hashtable_add(&r->names, hash_name(name), entry_of(slot));
}

static bool is_taken(const struct registry *r, const char *name, uint32_t but)
{
	uint32_t slot = registry_names_get(r, name);

	return slot != REGISTRY_NEVER && slot != but;
}

/* Whether a shown name is what the device says, with or without our number behind it. */
static bool is_form_of(const char *shown, const char *said)
{
	size_t len = strlen(said);

	if (strncmp(shown, said, len))
		return false;
	return !shown[len] || (shown[len] == '-' && isdigit((unsigned char)shown[len + 1]) &&
			       !shown[len + 1 + strspn(shown + len + 1, "0123456789")]);
}

/* The name with a number that no other device has. */
static void set_numbered(struct registry *r, uint32_t slot, const char *said)
{
	char *shown = r->entries[slot].row.device.name;
	uint32_t plain = registry_names_get(r, said);
	uint32_t number = r->entries[plain].last_number + 1;

	number = number < NUMBER_FIRST ? NUMBER_FIRST : number;
	for (;; number++) {
		snprintf(shown, STORE_NAME_MAX, "%.50s-%u", said, number);
		if (!is_taken(r, shown, slot))
			break;
	}
	r->entries[plain].last_number = number;
}

int registry_names_set(struct registry *r, uint32_t slot, const char *said)
{
	char *shown = r->entries[slot].row.device.name;

	if (shown[0] && is_form_of(shown, said) && !is_taken(r, shown, slot))
		return 0;
	if (registry_names_get(r, shown) == slot)
		hashtable_remove(&r->names, hash_name(shown), entry_of(slot));
	if (is_taken(r, said, slot))
		set_numbered(r, slot, said);
	else
		snprintf(shown, STORE_NAME_MAX, "%s", said);
	return registry_names_add(r, slot) < 0 ? -ENOMEM : 0;
}
