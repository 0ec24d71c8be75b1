/* SPDX-License-Identifier: MIT */
/*
 * graph_symbols: see graph_symbols.h.
 *
 * A function has the name of the last symbol of code that does not lie above it, because the traced
 * address may be a few bytes into it. Of several names for one address the first in kallsyms is taken, as
 * the kernel does. Where addresses are hidden from who recorded it (kptr_restrict) all are zero, and
 * nothing is named.
 */
#include "convert/graph_symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "convert/graph_names.h"
#include "store/array.h"
#include "trace/func_source.h"

struct symbol {
	uint64_t address;
	uint32_t at; /* of the name in the text */
};

struct symbol_list {
	struct symbol *list;
	size_t n, room;
};

struct address_key {
	const struct graph_symbols *symbols;
	uint64_t address;
};

void graph_symbols_init(struct graph_symbols *s)
{
	memset(s, 0, sizeof(*s));
	hashtable_init(&s->by_address, FUNC_NAMES_MAX);
}

void graph_symbols_done(struct graph_symbols *s)
{
	free(s->addresses);
	free(s->kallsyms);
	s->addresses = NULL;
	s->kallsyms = NULL;
	s->n = s->room = s->len = 0;
	hashtable_done(&s->by_address);
}

int graph_symbols_set_kallsyms(struct graph_symbols *s, const char *text, size_t len)
{
	char *copy;

	if (len > GRAPH_KALLSYMS_MAX)
		return -E2BIG;
	copy = malloc(len + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, len);
	copy[len] = 0;
	free(s->kallsyms);
	s->kallsyms = copy;
	s->len = len;
	return 0;
}

static bool is_address(const void *entry, const void *key)
{
	const struct address_key *k = key;

	return k->symbols->addresses[(uintptr_t)entry - 1] == k->address;
}

int graph_symbols_get(struct graph_symbols *s, uint64_t address, uint32_t *ret)
{
	struct address_key key = { s, address };
	uint64_t hash = hashtable_hash_number(address);
	void *found = hashtable_get(&s->by_address, hash, is_address, &key);
	int r;

	if (!found) {
		r = array_grow(&s->addresses, s->n, &s->room, sizeof(*s->addresses),
			       FUNC_NAMES_MAX);
		if (r == 0)
			r = hashtable_add(&s->by_address, hash, (void *)(uintptr_t)(s->n + 1));
		if (r < 0)
			return r;
		s->addresses[s->n] = address;
		found = (void *)(uintptr_t)++s->n;
	}
	*ret = (uint32_t)((uintptr_t)found - 1);
	return 0;
}

/* "ffff800008010000 t name": the address, if it is code and has a name. */
static bool parse_symbol(const char *at, const char *end, uint64_t *ret, const char **ret_name)
{
	uint64_t address = 0;
	const char *start = at;

	for (; at < end && hex_digit(*at) >= 0 && at - start < 16; at++)
		address = address << 4 | (uint64_t)hex_digit(*at);
	if (at == start || end - at < 4 || at[0] != ' ' || at[2] != ' ' ||
	    !memchr("tTwW", at[1], 4))
		return false;
	*ret = address;
	*ret_name = at + 3;
	/* Marks of where code and data begin on ARM are no functions. */
	return address && **ret_name != '$';
}

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int read_symbols(const struct graph_symbols *s, struct symbol_list *ret)
{
	const char *at = s->len ? s->kallsyms : "", *end = at + s->len, *eol, *name;
	uint64_t address;
	int r;

	for (; at < end; at = eol + (eol < end)) {
		eol = memchr(at, '\n', (size_t)(end - at));
		eol = eol ? eol : end;
		if (!parse_symbol(at, eol, &address, &name))
			continue;
		r = array_grow(&ret->list, ret->n, &ret->room, sizeof(*ret->list),
			       GRAPH_SYMBOLS_MAX);
		if (r < 0)
			return r;
		ret->list[ret->n++] = (struct symbol){ address, (uint32_t)(name - s->kallsyms) };
	}
	if (ret->n)
		qsort(ret->list, ret->n, sizeof(*ret->list), compare_symbols);
	return 0;
}

/* The name up to the end of its line, with a blank before the module instead of a tab. */
static char *dup_name(const struct graph_symbols *s, uint32_t at)
{
	const char *text = s->kallsyms + at;
	size_t len = strcspn(text, "\r\n"), i;
	char *name = strndup(text, len < GRAPH_NAME_MAX ? len : GRAPH_NAME_MAX);

	for (i = 0; name && name[i]; i++)
		if (name[i] == '\t')
			name[i] = ' ';
	return name;
}

static char *dup_address(uint64_t address)
{
	char *name;

	return asprintf(&name, "0x%llx", (unsigned long long)address) < 0 ? NULL : name;
}

static char *find_name(const struct graph_symbols *s, const struct symbol_list *symbols,
		       uint64_t address)
{
	size_t lo = 0, hi = symbols->n, mid;

	/* Invariant: symbols below lo are not above the address, those from hi on are. */
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (symbols->list[mid].address <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return dup_address(address);
	for (lo--; lo && symbols->list[lo - 1].address == symbols->list[lo].address; lo--)
		;
	return dup_name(s, symbols->list[lo].at);
}

int graph_symbols_dup_names(const struct graph_symbols *s, char ***ret)
{
	struct symbol_list symbols = { .n = 0 };
	char **names = calloc(s->n ? s->n : 1, sizeof(*names));
	size_t i;
	int r = names ? read_symbols(s, &symbols) : -ENOMEM;

	for (i = 0; i < s->n && r == 0; i++) {
		names[i] = find_name(s, &symbols, s->addresses[i]);
		r = names[i] ? 0 : -ENOMEM;
	}
	free(symbols.list);
	if (r < 0) {
		for (i = 0; names && i < s->n; i++)
			free(names[i]);
		free(names);
		return r;
	}
	*ret = names;
	return 0;
}
