/* SPDX-License-Identifier: MIT */
/*
 * call_names: see call_names.h.
 *
 * Two tables: addresses (process, address, and the generations of the maps for which the answer holds)
 * to functions, asked at every call; and functions by what makes them one (object and start, or a text),
 * asked when an address is new.
 */
#include "analysis/call_names.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/array.h"
#include "store/hashtable.h"
#include "trace/maps.h"

struct address {
	uint32_t process;
	uint32_t since, until; /* generations */
	uint32_t function;
	uint64_t address;
};

/* What makes two addresses the same function. */
struct identity {
	uint32_t object;  /* its number in `symbols`, or one of those below */
	uint64_t start;	  /* in the object; 0 of OBJECT_TEXT */
	const char *text; /* OBJECT_TEXT */
};

#define OBJECT_KERNEL (UINT32_MAX - 1)
#define OBJECT_TEXT (UINT32_MAX - 2) /* the source has names instead of addresses */
#define OBJECT_LOST (UINT32_MAX - 3) /* in no mapping; start is the address */

struct function {
	struct call_function shown;
	struct identity identity;
	uint32_t id;
	char *text; /* owned: the name, where no table has it */
};

struct call_names {
	const struct func_source *source;
	struct symbols *symbols;
	struct hashtable addresses, functions;
	struct function **list;
	size_t n, room;
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
	hashtable_init(&n->functions, CALL_FUNCTIONS_MAX);
	*ret = n;
	return 0;
}

static void free_function(struct function *f)
{
	free(f->text);
	free(f);
}

void call_names_free(struct call_names *n)
{
	size_t i, at = 0;
	void *entry;

	if (!n)
		return;
	while ((entry = hashtable_next(&n->addresses, &at)))
		free(entry);
	for (i = 0; i < n->n; i++)
		free_function(n->list[i]);
	hashtable_done(&n->addresses);
	hashtable_done(&n->functions);
	free(n->list);
	free(n);
}

/* --- functions --- */

static uint64_t hash_identity(const struct identity *i)
{
	uint64_t h = i->start;
	const char *c;

	for (c = i->text; c && *c; c++)
		h = (h ^ (uint8_t)*c) * 0x100000001b3ULL;
	return hashtable_hash_number(h ^ hashtable_hash_number(i->object));
}

static bool is_function(const void *entry, const void *key)
{
	const struct identity *a = &((const struct function *)entry)->identity, *b = key;

	if (a->object != b->object || a->start != b->start)
		return false;
	return a->object != OBJECT_TEXT || !strcmp(a->text, b->text);
}

/* A name that is made of the object and the place in it. */
static int make_text(struct function *f, uint64_t offset)
{
	if (asprintf(&f->text, "%s+0x%" PRIx64, f->shown.object, offset) < 0) {
		f->text = NULL;
		return -ENOMEM;
	}
	f->shown.name = f->text;
	return 0;
}

static int add_function(struct call_names *n, struct function *f)
{
	int r = array_grow(&n->list, n->n, &n->room, sizeof(*n->list), CALL_FUNCTIONS_MAX);

	if (r >= 0)
		r = hashtable_add(&n->functions, hash_identity(&f->identity), f);
	if (r < 0)
		return r;
	f->id = (uint32_t)n->n;
	n->list[n->n++] = f;
	return 0;
}

/* The function of this identity, made as `like` if it is new; `offset` is for those without a name. */
static int get_function(struct call_names *n, const struct function *like, uint64_t offset,
			uint32_t *ret)
{
	struct function *f = hashtable_get(&n->functions, hash_identity(&like->identity),
					   is_function, &like->identity);
	int r = 0;

	if (f) {
		*ret = f->id;
		return 0;
	}
	f = malloc(sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = *like;
	if (!f->shown.name)
		r = make_text(f, offset);
	if (r >= 0)
		r = add_function(n, f);
	if (r < 0) {
		free_function(f);
		return r;
	}
	*ret = f->id;
	return 0;
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

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void take_symbol(struct function *like, const struct symbol *s)
{
	like->shown.known = s->name != NULL;
	like->shown.name = s->name;
	like->shown.object = s->object ? s->object : "[unknown]";
	like->identity.start = s->name ? s->start : s->offset;
}

static int find_mapped(struct call_names *n, const struct func_mapping *m, uint64_t address,
		       uint32_t *ret)
{
	struct symbol_object o = { m->path, m->build_id, m->build_id_len };
	uint64_t place = address - m->from + m->offset;
	struct function like = { .shown = { .place = place, .number = CALL_OBJECT_NONE } };
	struct symbol s = { .object = file_name(m->path), .offset = place };
	int r = 0;

	if (n->symbols)
		r = symbols_add(n->symbols, &o, &like.shown.number);
	if (r >= 0 && n->symbols)
		r = symbols_find(n->symbols, like.shown.number, place, &s);
	if (r < 0)
		return r;
	take_symbol(&like, &s);
	like.identity.object = like.shown.number;
	if (like.shown.number == CALL_OBJECT_NONE) {
		like.identity.object = OBJECT_TEXT;
		like.identity.text = m->path;
	}
	return get_function(n, &like, s.offset, ret);
}

static int find_kernel(struct call_names *n, uint64_t address, uint32_t *ret)
{
	struct function like = { .identity = { .object = OBJECT_KERNEL },
				 .shown = { .number = CALL_OBJECT_NONE } };
	struct symbol s = { .object = "[kernel]", .offset = address };
	int r = n->symbols ? symbols_find_kernel(n->symbols, address, &s) : 0;

	if (r < 0)
		return r;
	take_symbol(&like, &s);
	if (!s.name)
		like.identity.start = address;
	return get_function(n, &like, address, ret);
}

static int find_text(struct call_names *n, const struct func_process *p, uint64_t address,
		     uint32_t *ret)
{
	struct function like = { .identity = { .object = OBJECT_TEXT },
				 .shown = { .number = CALL_OBJECT_NONE, .known = true } };

	like.shown.name = like.identity.text = p->names[address];
	like.shown.object = p->kernel ? "[kernel]" : "";
	return get_function(n, &like, 0, ret);
}

/* Finds what is new, and the generations for which that holds. Only the mappings of that time are asked: one of
 * another time may have the address, too, and be another object. */
static int find_new(struct call_names *n, struct address *a)
{
	const struct func_process *p = &n->source->processes[a->process];
	const struct func_mapping *m = maps_get(p->mappings, p->n_mappings, a->since, a->address);
	struct function lost = { .identity = { .object = OBJECT_LOST, .start = a->address },
				 .shown = { .object = "[unknown]", .number = CALL_OBJECT_NONE } };

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
		return find_kernel(n, a->address, &a->function);
	}
	return get_function(n, &lost, a->address, &a->function);
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
	return n->n;
}

const struct call_function *call_names_get(const struct call_names *n, uint32_t function)
{
	return &n->list[function]->shown;
}

bool call_names_fits(const struct call_names *n, uint32_t function, const char *pattern)
{
	return !pattern || !fnmatch(pattern, call_names_get(n, function)->name, 0);
}

int call_names_line(struct call_names *n, uint32_t function, const char **ret_file,
		    uint32_t *ret_line)
{
	const struct call_function *f = call_names_get(n, function);

	if (!n->symbols || f->number == CALL_OBJECT_NONE)
		return 0;
	return symbols_find_line(n->symbols, f->number, f->place, ret_file, ret_line);
}
