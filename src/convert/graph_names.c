/* SPDX-License-Identifier: MIT */
/* graph_names: see graph_names.h. Entries of the table are numbers, from 1 so that none is NULL. */
#include "convert/graph_names.h"

#include <stdlib.h>

#include "store/array.h"
#include "trace/func_source.h"

struct text_key {
	const struct graph_names *names;
	const char *text;
	size_t len;
};

void graph_names_init(struct graph_names *names)
{
	memset(names, 0, sizeof(*names));
	hashtable_init(&names->by_text, FUNC_NAMES_MAX);
}

void graph_names_done(struct graph_names *names)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		free(names->list[i]);
	free(names->list);
	names->list = NULL;
	names->n = names->room = 0;
	hashtable_done(&names->by_text);
}

static bool is_text(const void *entry, const void *key)
{
	const struct text_key *k = key;
	const char *name = k->names->list[(uintptr_t)entry - 1];

	return strlen(name) == k->len && !memcmp(name, k->text, k->len);
}

static uint64_t hash_text(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ (uint8_t)text[i]) * 0x100000001b3ULL;
	return hashtable_hash_number(h);
}

int graph_names_get(struct graph_names *names, const char *text, size_t len, uint32_t *ret)
{
	struct text_key key = { names, text,
				strnlen(text, len < GRAPH_NAME_MAX ? len : GRAPH_NAME_MAX) };
	uint64_t hash = hash_text(text, key.len);
	void *found = hashtable_get(&names->by_text, hash, is_text, &key);
	int r;

	if (!found) {
		r = array_grow(&names->list, names->n, &names->room, sizeof(*names->list),
			       FUNC_NAMES_MAX);
		if (r < 0)
			return r;
		names->list[names->n] = strndup(text, key.len);
		if (!names->list[names->n])
			return -ENOMEM;
		found = (void *)(uintptr_t)++names->n;
		r = hashtable_add(&names->by_text, hash, found);
		if (r < 0)
			return r;
	}
	*ret = (uint32_t)((uintptr_t)found - 1);
	return 0;
}

char **graph_names_take(struct graph_names *names, size_t *ret_n)
{
	char **list = names->list;

	*ret_n = names->n;
	names->list = NULL;
	names->n = names->room = 0;
	hashtable_done(&names->by_text);
	return list;
}
