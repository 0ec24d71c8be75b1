/* SPDX-License-Identifier: MIT */
/*
 * symbols: see symbols.h. Objects are numbered as they come and found again by a hash of path and
 * build-id; they are opened when the first address is asked of, because most that a process maps have
 * no function in a trace.
 */
#include "symbol/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "symbol/kallsyms.h"
#include "symbol/object.h"

#define FOLDERS_MAX 256U
#define FIRST_SLOTS 64U
#define DELETED " (deleted)"

struct entry {
	char *path;
	char *base; /* its name without folders */
	uint8_t build_id[SYMBOLS_BUILD_ID_MAX];
	size_t build_id_len;
	bool opened;
	bool lines_told;       /* what is wrong with its lines, if anything, was said */
	struct object *object; /* NULL: not opened yet */
};

struct symbols {
	char *sysroot, *kallsyms_path;
	char **folders;
	struct search search;
	struct symcache *cache; /* NULL: none */
	bool cache_failed;	/* and that was said */
	bool mangled;
	struct entry *entries;
	size_t n, room;
	uint32_t *slots; /* number plus one; 0: empty */
	size_t n_slots;	 /* a power of two */
	char **problems;
	size_t n_problems;
	bool kernel_tried;
	struct kallsyms *kernel;
};

DEFINE_CLEANUP(symbols, symbols_free)

void symbols_free(struct symbols *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->n; i++) {
		object_close(s->entries[i].object);
		free(s->entries[i].path);
		free(s->entries[i].base);
	}
	for (i = 0; i < s->n_problems; i++)
		free(s->problems[i]);
	for (i = 0; s->folders && s->folders[i]; i++)
		free(s->folders[i]);
	kallsyms_free(s->kernel);
	symcache_close(s->cache);
	free(s->problems);
	free(s->folders);
	free(s->entries);
	free(s->slots);
	free(s->sysroot);
	free(s->kallsyms_path);
	free(s);
}

/* What a user names must be there: a typing error is not the same as no names. */
static int dup_folder(const char *what, const char *path, char **ret, struct error *e)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t len = strlen(path);

	if (fd < 0)
		return error_set(e, errno, "cannot open %s %s: %s", what, path, strerror(errno));
	while (len > 1 && path[len - 1] == '/')
		len--;
	*ret = strndup(path, len);
	return *ret ? 0
		    : error_set(e, ENOMEM, "cannot open %s %s: %s", what, path, strerror(ENOMEM));
}

static int dup_folders(struct symbols *s, const char *const *folders, struct error *e)
{
	size_t i, n = 0;
	int r = 0;

	while (folders && folders[n])
		n++;
	if (n > FOLDERS_MAX)
		return error_set(e, E2BIG, "cannot search %zu folders: more than %u", n,
				 FOLDERS_MAX);
	s->folders = calloc(n + 1, sizeof(*s->folders));
	if (!s->folders)
		return error_set(e, ENOMEM, "cannot search folders: %s", strerror(ENOMEM));
	for (i = 0; i < n && r == 0; i++)
		r = dup_folder("folder", folders[i], &s->folders[i], e);
	return r;
}

/* Takes the text. */
static int add_problem(struct symbols *s, char *text)
{
	char **moved = realloc(s->problems, (s->n_problems + 1) * sizeof(*moved));

	if (!moved) {
		free(text);
		return -ENOMEM;
	}
	s->problems = moved;
	s->problems[s->n_problems++] = text;
	return 0;
}

const char *symbols_get_problem(const struct symbols *s, size_t n)
{
	return n < s->n_problems ? s->problems[n] : NULL;
}

/* Names are found without it, only later. It is said once. */
static int say_cache_failed(struct symbols *s, const char *why)
{
	char *text;

	if (s->cache_failed)
		return 0;
	s->cache_failed = true;
	if (asprintf(&text, "tables of symbols are not kept: %s", why) < 0)
		return -ENOMEM;
	return add_problem(s, text);
}

static int open_cache(struct symbols *s, const struct symbols_options *o)
{
	struct error why = ERROR_INIT;

	if (symcache_open(o->cache, o->cache_bytes, &s->cache, &why) == 0)
		return 0;
	return say_cache_failed(s, why.text);
}

int symbols_new(const struct symbols_options *o, struct symbols **ret, struct error *e)
{
	CLEANUP(symbols) struct symbols *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return error_set(e, ENOMEM, "cannot read symbols: %s", strerror(ENOMEM));
	s->mangled = o->mangled;
	if (o->sysroot && strcmp(o->sysroot, "/") != 0)
		r = dup_folder("sysroot", o->sysroot, &s->sysroot, e);
	if (r == 0)
		r = dup_folders(s, o->folders, e);
	if (r < 0)
		return r;
	if (o->kallsyms) {
		s->kallsyms_path = strdup(o->kallsyms);
		if (!s->kallsyms_path)
			return error_set(e, ENOMEM, "cannot read symbols: %s", strerror(ENOMEM));
	}
	if (o->cache && *o->cache)
		r = open_cache(s, o);
	if (r < 0)
		return error_set(e, ENOMEM, "cannot read symbols: %s", strerror(ENOMEM));
	s->search.sysroot = s->sysroot;
	s->search.folders = (const char *const *)s->folders;
	*ret = take_ptr(s);
	return 0;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ p[i]) * 1099511628211ULL;
	return hash;
}

/* The slot of this object, or the empty one where it belongs. */
static size_t find_slot(const struct symbols *s, const struct symbol_object *o)
{
	uint64_t hash = hash_bytes(14695981039346656037ULL, o->path, strlen(o->path));
	size_t i;

	if (o->build_id_len)
		hash = hash_bytes(hash, o->build_id, o->build_id_len);
	for (i = (size_t)(hash ^ hash >> 32) & (s->n_slots - 1); s->slots[i];
	     i = (i + 1) & (s->n_slots - 1)) {
		const struct entry *e = &s->entries[s->slots[i] - 1];

		if (strcmp(e->path, o->path) == 0 && e->build_id_len == o->build_id_len &&
		    (e->build_id_len == 0 ||
		     memcmp(e->build_id, o->build_id, e->build_id_len) == 0))
			break;
	}
	return i;
}

static int grow_slots(struct symbols *s)
{
	size_t i, n = s->n_slots ? s->n_slots * 2 : FIRST_SLOTS;
	uint32_t *old = s->slots, *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	s->slots = slots;
	s->n_slots = n;
	free(old);
	for (i = 0; i < s->n; i++) {
		const struct entry *e = &s->entries[i];
		struct symbol_object o = { e->path, e->build_id, e->build_id_len };

		s->slots[find_slot(s, &o)] = (uint32_t)i + 1;
	}
	return 0;
}

static int reserve_entry(struct symbols *s)
{
	size_t room = s->room ? s->room * 2 : FIRST_SLOTS;
	struct entry *moved;

	if (s->n >= SYMBOLS_OBJECTS_MAX)
		return -E2BIG;
	if (2 * s->n >= s->n_slots && grow_slots(s) < 0)
		return -ENOMEM;
	if (s->n < s->room)
		return 0;
	moved = realloc(s->entries, room * sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	s->entries = moved;
	s->room = room;
	return 0;
}

/* "[vdso]" and the like keep theirs; what has no name at all is [unknown]. */
static char *dup_base(const char *path)
{
	size_t len = strlen(path), end = sizeof(DELETED) - 1;
	const char *slash;

	if (len > end && strcmp(path + len - end, DELETED) == 0)
		len -= end;
	slash = path[0] == '/' ? memrchr(path, '/', len) : NULL;
	if (slash) {
		len -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	return len ? strndup(path, len) : strdup("[unknown]");
}

int symbols_add(struct symbols *s, const struct symbol_object *o, uint32_t *ret_object)
{
	struct entry e = { .build_id_len = o->build_id_len };
	int r;

	if (e.build_id_len > sizeof(e.build_id))
		return -E2BIG;
	if (s->n_slots && s->slots[find_slot(s, o)]) {
		*ret_object = s->slots[find_slot(s, o)] - 1;
		return 0;
	}
	r = reserve_entry(s);
	if (r < 0)
		return r;
	if (e.build_id_len)
		memcpy(e.build_id, o->build_id, e.build_id_len);
	e.path = strdup(o->path);
	e.base = dup_base(o->path);
	if (!e.path || !e.base) {
		free(e.path);
		free(e.base);
		return -ENOMEM;
	}
	s->slots[find_slot(s, o)] = (uint32_t)s->n + 1;
	*ret_object = (uint32_t)s->n;
	s->entries[s->n++] = e;
	return 0;
}

static int open_entry(struct symbols *s, struct entry *e)
{
	const struct object_wanted w = { e->path, e->build_id, e->build_id_len, s->cache,
					 s->mangled };
	char *problem = NULL;
	int r;

	e->opened = true;
	r = object_open(&s->search, &w, &e->object, &problem);
	if (r == 0 && problem)
		r = add_problem(s, problem);
	if (r == 0 && object_get_cache_problem(e->object))
		r = say_cache_failed(s, object_get_cache_problem(e->object));
	return r;
}

int symbols_find(struct symbols *s, uint32_t object, uint64_t file_offset, struct symbol *ret)
{
	struct object_symbol symbol;
	struct entry *e;
	int r = 0;

	if (object >= s->n)
		return -EINVAL;
	e = &s->entries[object];
	if (!e->opened)
		r = open_entry(s, e);
	if (r == 0 && e->object)
		r = object_find(e->object, file_offset, &symbol);
	if (r < 0)
		return r;
	*ret = (struct symbol){ .object = e->base, .offset = file_offset };
	if (r == 1) {
		ret->name = symbol.name;
		ret->start = symbol.start;
		ret->offset = symbol.address - symbol.start;
	}
	return 0;
}

static int open_kernel(struct symbols *s)
{
	struct error why = ERROR_INIT, text = ERROR_INIT;
	char *problem;
	int r;

	s->kernel_tried = true;
	if (s->kallsyms_path) {
		r = kallsyms_open(s->kallsyms_path, s->cache, &s->kernel, &why);
		if (r == 0 || r == -ENOMEM)
			return r;
		error_set(&text, 0, "[kernel]: %s %s; its functions have no names",
			  s->kallsyms_path, why.text);
	} else {
		error_set(&text, 0,
			  "[kernel]: there is no file of the kernel's symbols (kallsyms); "
			  "its functions have no names");
	}
	problem = strdup(text.text);
	return problem ? add_problem(s, problem) : -ENOMEM;
}

int symbols_find_kernel(struct symbols *s, uint64_t address, struct symbol *ret)
{
	struct kallsyms_symbol symbol = { 0 };
	int r = s->kernel_tried ? 0 : open_kernel(s);

	if (r < 0)
		return r;
	*ret = (struct symbol){ .object = "[kernel]", .offset = address };
	if (!s->kernel || !kallsyms_find(s->kernel, address, &symbol))
		return 0;
	if (symbol.module)
		ret->object = symbol.module;
	ret->name = symbol.name;
	ret->start = symbol.start;
	ret->offset = address - symbol.start;
	return 0;
}

/* Once, after the first line that was asked for; gives back what was found. */
static int tell_lines(struct symbols *s, struct entry *e, int found)
{
	const char *why = object_get_lines_problem(e->object);
	char *problem = why ? strdup(why) : NULL;
	int r = why && !problem ? -ENOMEM : 0;

	e->lines_told = true;
	if (problem)
		r = add_problem(s, problem);
	return r < 0 ? r : found;
}

int symbols_find_line(struct symbols *s, uint32_t object, uint64_t file_offset,
		      const char **ret_file, uint32_t *ret_line)
{
	struct entry *e;
	int r = 0;

	if (object >= s->n)
		return -EINVAL;
	e = &s->entries[object];
	if (!e->opened)
		r = open_entry(s, e);
	if (r < 0 || !e->object)
		return r;
	r = object_find_line(e->object, file_offset, ret_file, ret_line);
	return r < 0 || e->lines_told ? r : tell_lines(s, e, r);
}
