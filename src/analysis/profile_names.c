/* SPDX-License-Identifier: MIT */
/*
 * profile_names: see profile_names.h.
 *
 * Addresses (of a process, with the ticks for which the answer holds) are asked for at every frame of every sample;
 * places and functions only when an address is new.
 */
#include "analysis/profile_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

#define DELETED " (deleted)"

struct address {
	int32_t pid; /* of the kernel 0 */
	bool kernel;
	uint64_t address;
	struct sample_span span;
	uint32_t place;
};

struct place {
	struct profile_place shown;
	uint32_t id;
};

struct profile_names {
	const struct sample_source *source;
	struct symbols *symbols;
	struct functions functions;
	struct hashtable addresses, places;
	struct place **list;
	size_t n, room;
};

int profile_names_new(struct profile_names **ret, const struct sample_source *source,
		      struct symbols *symbols, struct error *e)
{
	struct profile_names *n = calloc(1, sizeof(*n));

	if (!n)
		return error_set(e, ENOMEM, "cannot name functions: out of memory");
	n->source = source;
	n->symbols = symbols;
	functions_init(&n->functions);
	hashtable_init(&n->addresses, PROFILE_ADDRESSES_MAX);
	hashtable_init(&n->places, PROFILE_PLACES_MAX);
	*ret = n;
	return 0;
}

void profile_names_free(struct profile_names *n)
{
	size_t at = 0, i;
	void *entry;

	if (!n)
		return;
	while ((entry = hashtable_next(&n->addresses, &at)))
		free(entry);
	for (i = 0; i < n->n; i++)
		free(n->list[i]);
	free(n->list);
	hashtable_done(&n->addresses);
	hashtable_done(&n->places);
	functions_done(&n->functions);
	free(n);
}

/* --- places --- */

static bool is_place(const void *entry, const void *key)
{
	const struct profile_place *a = &((const struct place *)entry)->shown, *b = key;

	return a->function == b->function && a->at == b->at;
}

static int get_place(struct profile_names *n, const struct profile_place *like, uint32_t *ret)
{
	uint64_t hash = hashtable_hash_number(like->at ^ (uint64_t)like->function << 40);
	struct place *p = hashtable_get(&n->places, hash, is_place, like);
	int r;

	if (p) {
		*ret = p->id;
		return 0;
	}
	r = array_grow(&n->list, n->n, &n->room, sizeof(*n->list), PROFILE_PLACES_MAX);
	if (r < 0)
		return r;
	p = malloc(sizeof(*p));
	if (!p)
		return -ENOMEM;
	*p = (struct place){ .shown = *like, .id = (uint32_t)n->n };
	r = hashtable_add(&n->places, hash, p);
	if (r < 0) {
		free(p);
		return r;
	}
	n->list[n->n++] = p;
	*ret = p->id;
	return 0;
}

/* Where a return would go to may be behind the function that was left; the call is in front of it. */
int profile_names_find_frame(struct profile_names *n, const struct sample_event *ev, uint32_t i,
			     uint32_t *ret_place, struct sample_span *span)
{
	bool kernel = i < ev->n_kernel, exact = i == 0 || i == ev->n_kernel;
	struct profile_address a = {
		.pid = ev->task.pid, .tick = ev->tick, .address = ev->chain[i], .kernel = kernel
	};

	if (!exact && a.address)
		a.address--;
	return profile_names_find_span(n, &a, ret_place, span);
}

int profile_names_find_chain(struct profile_names *n, const struct sample_event *ev, uint32_t i,
			     uint32_t *ret_place)
{
	struct sample_span span = SAMPLE_SPAN_ALL;

	return profile_names_find_frame(n, ev, i, ret_place, &span);
}

int profile_names_label(struct profile_names *n, const char *name, const char *object,
			uint32_t *ret_place)
{
	struct profile_place p = { .at = 0 };
	int r = functions_find_label(&n->functions, name, object, &p.function);

	return r < 0 ? r : get_place(n, &p, ret_place);
}

/* --- addresses --- */

/* "name [module]", as the device wrote it. */
static int find_told(struct profile_names *n, const struct sample_kernel_name *k, uint32_t *ret)
{
	char name[SAMPLE_PATH_MAX + 1];
	struct function_like like = {
		.object = FUNCTION_OF_KERNEL,
		.start = k->from,
		.copied = true,
		.shown = { .known = true, .object = "[kernel]", .number = FUNCTION_NO_OBJECT }
	};
	char *module;

	strncpy(name, k->name, sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	module = strstr(name, " [");
	if (module) {
		*module = '\0';
		like.shown.object = module + 1;
	}
	like.shown.name = name;
	return functions_find(&n->functions, &like, 0, ret);
}

static int find_kernel(struct profile_names *n, struct address *a)
{
	const struct sample_kernel_name *k =
		sample_spaces_get_kernel(n->source->spaces, a->address);
	struct profile_place p = { .kernel = true, .at = a->address };
	int r;

	a->span = (struct sample_span){ 0, UINT64_MAX };
	r = k ? find_told(n, k, &p.function)
	      : functions_find_kernel(&n->functions, n->symbols, a->address, &p.function);
	return r < 0 ? r : get_place(n, &p, &a->place);
}

/* No file: whatever is in it is one function. */
static bool is_file(const char *path)
{
	return path[0] == '/' && path[1] != '/' && strncmp(path, "/memfd:", 7) != 0;
}

static int find_in_file(struct profile_names *n, const struct sample_mapping *m, uint64_t at,
			uint32_t *ret)
{
	char path[SAMPLE_PATH_MAX + 1];
	struct symbol_object o = { m->path, m->build_id, m->build_id_len };
	size_t len = strlen(m->path), tail = strlen(DELETED);

	/* A file that was replaced meanwhile: its build-id says whether what is there now is the same. */
	if (n->symbols && len > tail && len < sizeof(path) &&
	    !strcmp(m->path + len - tail, DELETED)) {
		memcpy(path, m->path, len - tail);
		path[len - tail] = '\0';
		o.path = path;
	}
	return functions_find_mapped(&n->functions, n->symbols, &o, at, ret);
}

static int find_user(struct profile_names *n, struct address *a, uint64_t tick)
{
	const struct sample_mapping *m =
		sample_spaces_find(n->source->spaces, a->pid, tick, a->address, &a->span);
	struct profile_place p = { .mapping = m };
	const char *name;
	int r;

	if (!m)
		return profile_names_label(n, "[unknown]", "[unknown]", &a->place);
	if (!is_file(m->path)) {
		name = m->path[0] == '[' ? m->path : "[anonymous memory]";
		return profile_names_label(n, name, name, &a->place);
	}
	p.at = a->address - m->from + m->offset;
	r = find_in_file(n, m, p.at, &p.function);
	return r < 0 ? r : get_place(n, &p, &a->place);
}

static bool is_address(const void *entry, const void *key)
{
	const struct address *a = entry, *b = key;

	return a->address == b->address && a->pid == b->pid && a->kernel == b->kernel &&
	       a->span.since <= b->span.since && b->span.since < a->span.until;
}

static int find_new(struct profile_names *n, struct address *key, uint64_t hash)
{
	struct address *a;
	int r = key->kernel ? find_kernel(n, key) : find_user(n, key, key->span.since);

	if (r < 0)
		return r;
	a = malloc(sizeof(*a));
	if (!a)
		return -ENOMEM;
	*a = *key;
	r = hashtable_add(&n->addresses, hash, a);
	if (r < 0)
		free(a);
	return r;
}

int profile_names_find_span(struct profile_names *n, const struct profile_address *a,
			    uint32_t *ret_place, struct sample_span *span)
{
	struct address key = { .pid = a->kernel ? 0 : a->pid,
			       .kernel = a->kernel,
			       .address = a->address,
			       .span = { .since = a->tick } };
	uint64_t hash = hashtable_hash_number(key.address ^ (uint64_t)(uint32_t)key.pid << 40);
	struct address *known = hashtable_get(&n->addresses, hash, is_address, &key);
	int r = 0;

	if (known)
		key = *known;
	else
		r = find_new(n, &key, hash);
	if (r < 0)
		return r;
	*ret_place = key.place;
	sample_span_cut(span, key.span.since, key.span.until);
	return 0;
}

int profile_names_find(struct profile_names *n, const struct profile_address *a,
		       uint32_t *ret_place)
{
	struct sample_span span = SAMPLE_SPAN_ALL;

	return profile_names_find_span(n, a, ret_place, &span);
}

/* --- what they are --- */

size_t profile_names_places(const struct profile_names *n)
{
	return n->n;
}

const struct profile_place *profile_names_get(const struct profile_names *n, uint32_t place)
{
	return &n->list[place]->shown;
}

struct functions *profile_names_functions(struct profile_names *n)
{
	return &n->functions;
}

int profile_names_line(struct profile_names *n, uint32_t place, const char **ret_file,
		       uint32_t *ret_line)
{
	const struct profile_place *p = profile_names_get(n, place);
	const struct function *f = functions_get(&n->functions, p->function);

	if (!n->symbols || f->number == FUNCTION_NO_OBJECT)
		return 0;
	return symbols_find_line(n->symbols, f->number, p->at, ret_file, ret_line);
}
