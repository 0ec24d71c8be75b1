/* SPDX-License-Identifier: MIT */
/*
 * call_names: see call_names.h.
 *
 * A table of addresses (process, address, and the generations of the maps for which the answer holds), asked at every
 * call; the functions (functions.h) are asked when an address is new.
 */
#include "analysis/call_names.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "store/hashtable.h"
#include "trace/maps.h"

struct address {
	uint32_t process;
	uint32_t since, until; /* generations */
	uint32_t function;
	uint64_t address;
};

struct call_names {
	const struct func_source *source;
	struct symbols *symbols;
	struct hashtable addresses;
	struct functions functions;
};

int call_names_new(struct call_names **ret, const struct func_source *source,
		   struct symbols *symbols, struct error *e)
{
	struct call_names *n = calloc(1, sizeof(*n));

	if (!n)
		return error_set(e, ENOMEM, "cannot name functions: out of memory");
	n->source = source;
	n->symbols = symbols;
	hashtable_init(&n->addresses, CALL_ADDRESSES_MAX);
	functions_init(&n->functions);
	*ret = n;
	return 0;
}

void call_names_free(struct call_names *n)
{
	size_t at = 0;
	void *entry;

	if (!n)
		return;
	while ((entry = hashtable_next(&n->addresses, &at)))
		free(entry);
	hashtable_done(&n->addresses);
	functions_done(&n->functions);
	free(n);
}

/* --- addresses --- */

static bool is_address(const void *entry, const void *key)
{
	const struct address *a = entry, *b = key;

	return a->address == b->address && a->process == b->process && a->since <= b->since &&
	       b->since < a->until;
}

static uint64_t hash_address(const struct address *a)
{
	return hashtable_hash_number(a->address ^ (uint64_t)a->process << 48);
}

static int find_text(struct call_names *n, const struct func_process *p, uint64_t address,
		     uint32_t *ret)
{
	struct function_like like = { .object = FUNCTION_OF_TEXT,
				      .shown = { .number = FUNCTION_NO_OBJECT, .known = true } };

	like.shown.name = like.text = p->names[address];
	like.shown.object = p->kernel ? "[kernel]" : "";
	return functions_find(&n->functions, &like, 0, ret);
}

static int find_mapped(struct call_names *n, const struct func_mapping *m, uint64_t address,
		       uint32_t *ret)
{
	struct symbol_object o = { m->path, m->build_id, m->build_id_len };

	return functions_find_mapped(&n->functions, n->symbols, &o, address - m->from + m->offset,
				     ret);
}

/* Finds what is new, and the generations for which that holds. Only the mappings of that time are asked: one of
 * another time may have the address, too, and be another object. */
static int find_new(struct call_names *n, struct address *a)
{
	const struct func_process *p = &n->source->processes[a->process];
	const struct func_mapping *m = maps_get(p->mappings, p->n_mappings, a->since, a->address);

	if (a->address < p->n_names) {
		a->since = 0;
		a->until = UINT32_MAX;
		return find_text(n, p, a->address, &a->function);
	}
	if (m) {
		a->since = m->since;
		a->until = m->until;
		return find_mapped(n, m, a->address, &a->function);
	}
	a->until = a->since + 1;
	if (p->kernel) {
		a->since = 0;
		a->until = UINT32_MAX;
		return functions_find_kernel(&n->functions, n->symbols, a->address,
					     &a->function);
	}
	return functions_find_nobody(&n->functions, a->address, &a->function);
}

int call_names_find(struct call_names *n, uint32_t process, uint32_t generation, uint64_t address,
		    uint32_t *ret_function)
{
	struct address key = { .process = process, .since = generation, .address = address };
	uint64_t hash = hash_address(&key);
	struct address *a = hashtable_get(&n->addresses, hash, is_address, &key);
	int r;

	if (!a) {
		r = find_new(n, &key);
		if (r < 0)
			return r;
		a = malloc(sizeof(*a));
		if (!a)
			return -ENOMEM;
		*a = key;
		r = hashtable_add(&n->addresses, hash, a);
		if (r < 0) {
			free(a);
			return r;
		}
	}
	*ret_function = a->function;
	return 0;
}

/* --- what they are --- */

size_t call_names_count(const struct call_names *n)
{
	return n->functions.n;
}

const struct function *call_names_get(const struct call_names *n, uint32_t function)
{
	return functions_get(&n->functions, function);
}

bool call_names_fits(const struct call_names *n, uint32_t function, const char *pattern)
{
	return !pattern || !fnmatch(pattern, call_names_get(n, function)->name, 0);
}

int call_names_line(struct call_names *n, uint32_t function, const char **ret_file,
		    uint32_t *ret_line)
{
	const struct function *f = call_names_get(n, function);

	if (!n->symbols || f->number == FUNCTION_NO_OBJECT)
		return 0;
	return symbols_find_line(n->symbols, f->number, f->place, ret_file, ret_line);
}
