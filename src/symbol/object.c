/* SPDX-License-Identifier: MIT */
/* object: see object.h. */
#include "symbol/object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "symbol/demangle.h"
#include "symbol/dwarf_lines.h"
#include "symbol/elf_symbols.h"
#include "symbol/linetab.h"
#include "symbol/object_reader.h"

#define DELETED " (deleted)"

struct object {
	struct search search; /* what it points to outlives us */
	char *path;	      /* on the device */
	uint8_t build_id[ELF_BUILD_ID_MAX];
	size_t build_id_len;
	bool found;
	struct search_hit code; /* or a debug file that stands for it; its file is closed */
	struct symtab *table;
	struct symfile *kept; /* in place of the table */
	bool mangled;
	bool partial, damaged; /* as in struct opening, for who writes the table */
	char *cache_problem;
	bool lines_tried;
	uint64_t lines_bias; /* added to addresses of the lines' file gives ours */
	struct dwarf_lines *lines;
	char *lines_problem; /* why their reader has brought none; NULL: it has, or there are none */
	struct symcache *cache;	    /* for tables of lines; outlives us */
	struct symfile *kept_lines; /* in place of the lines; with our own addresses */
};

/* What opening needs beside the object. */
struct opening {
	const struct search *search;
	struct object *object;
	struct symcache *cache;
	bool without_names;
	char **problem;
	bool partial; /* only what a stripped object exports */
	bool damaged;
};

/* In tables: an id that no object has stands for none. */
static const uint8_t no_id[1];

DEFINE_CLEANUP(object, object_close)

void object_close(struct object *o)
{
	if (!o)
		return;
	if (o->found)
		search_hit_done(&o->code);
	dwarf_lines_free(o->lines);
	symfile_close(o->kept_lines);
	symtab_free(o->table);
	symfile_close(o->kept);
	free(o->cache_problem);
	free(o->lines_problem);
	free(o->path);
	free(o);
}

/* "<object>: <what>" */
static char *dup_problem(const struct object *o, const char *what)
{
	const char *name = strrchr(o->path, '/');
	struct error text = ERROR_INIT;

	error_set(&text, 0, "%s: %s", name && name[1] ? name + 1 : o->path, what);
	return strdup(text.text);
}

/* The first thing that is said about an object stays. */
__attribute__((format(printf, 2, 3))) static int say(struct opening *op, const char *fmt, ...)
{
	va_list ap;
	char what[400];

	if (*op->problem)
		return 0;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	*op->problem = dup_problem(op->object, what);
	return *op->problem ? 0 : -ENOMEM;
}

static struct search_query make_query(const struct object *o, enum search_kind kind)
{
	struct search_query q = { .path = o->path,
				  .build_id = o->build_id,
				  .build_id_len = o->build_id_len,
				  .kind = kind,
				  .code = o->found ? &o->code : NULL };

	return q;
}

static uint64_t first_address(const struct elf_file *f)
{
	size_t i;

	for (i = 0; i < f->n_segments; i++)
		if (f->segments[i].type == PT_LOAD)
			return f->segments[i].address;
	return 0;
}

/* `strip` leaves the debug file's segments at their addresses, but where they were in the object's file
 * survives in two cases only: the tool kept the headers as they were (sizes tell), or the code's segment
 * began with the file itself. Elsewhere an offset would lead to a wrong name. */
static bool restore_segments(struct elf_file *f)
{
	bool restored = false;
	size_t i;

	for (i = 0; i < f->n_segments; i++) {
		struct elf_segment *s = &f->segments[i];
		bool kept = s->file_size == s->memory_size || (s->offset == 0 && s->file_size > 0);

		if (s->type != PT_LOAD || !(s->flags & PF_X))
			continue;
		s->file_size = kept ? s->memory_size : 0;
		restored = restored || kept;
	}
	return restored;
}

/* No object, perhaps its debug file. 1: it stands for the object. */
static int find_stand_in(struct opening *op, const struct error *why)
{
	struct search_query q = make_query(op->object, SEARCH_SYMBOLS);
	struct object *o = op->object;
	char hex[2 * ELF_BUILD_ID_MAX + 1] = "";
	int r;

	r = o->build_id_len ? search_find(op->search, &q, &o->code, NULL) : 0;
	if (r < 0)
		return r;
	o->found = r == 1;
	if (r == 1 && restore_segments(&o->code.file))
		return 1;
	hex_format(o->build_id, o->build_id_len, hex);
	if (r == 1)
		r = say(op,
			"only the debug file %s was found, which does not tell where the code "
			"was in the object; its functions have no names",
			o->code.path);
	else if (why->text[0])
		r = say(op, "%s; its functions have no names", why->text);
	else
		r = say(op, "no file was found for %s%s%s; its functions have no names", o->path,
			hex[0] ? ", build-id " : "", hex);
	return r;
}

static int find_code(struct opening *op)
{
	struct search_query q = make_query(op->object, SEARCH_CODE);
	struct error why = ERROR_INIT;
	int r = search_find(op->search, &q, &op->object->code, &why);

	if (r == 0)
		return find_stand_in(op, &why);
	op->object->found = r == 1;
	return r;
}

/* Not stripped, or stripped and its debug file is at hand: 1. */
static int push_symtab(struct opening *op, struct error *why)
{
	struct search_query q = make_query(op->object, SEARCH_SYMBOLS);
	struct elf_file *code = &op->object->code.file;
	struct search_hit hit;
	int r;

	if (elf_file_get_typed(code, SHT_SYMTAB)) {
		r = elf_symbols_push(op->object->table, code, SHT_SYMTAB, 0);
		return r < 0 ? r : symtab_count(op->object->table) > 0;
	}
	r = search_find(op->search, &q, &hit, why);
	if (r <= 0)
		return r;
	r = elf_symbols_push(op->object->table, &hit.file, SHT_SYMTAB,
			     first_address(code) - first_address(&hit.file));
	search_hit_done(&hit);
	return r < 0 ? r : 1;
}

static int say_stripped(struct opening *op, const char *path, const struct error *why)
{
	const struct elf_build_id *id = &op->object->code.id;
	char hex[2 * ELF_BUILD_ID_MAX + 1];

	if (why->text[0])
		return say(
			op,
			"%s is stripped, and %s; functions that it does not export have no names",
			path, why->text);
	return say(op,
		   "%s is stripped, and no debug file was found%s%s; functions that it does not "
		   "export have no names",
		   path, id->len ? " for build-id " : "", hex_format(id->bytes, id->len, hex));
}

/* What a stripped object still has; if that is in the cache, it need not be read. */
static int push_remains(struct opening *op, const struct error *why)
{
	const struct elf_file *code = &op->object->code.file;
	struct symtab *t = op->object->table;
	int packed = 0, r = 0;

	op->partial = true;
	if (!op->object->kept) {
		packed = elf_symbols_push_packed(t, code, 0);
		r = elf_symbols_push(t, code, SHT_DYNSYM, 0);
	}
	if (r < 0 || packed == -ENOMEM)
		return r < 0 ? r : packed;
	op->partial = packed <= 0;
	return op->partial ? say_stripped(op, op->object->code.path, why) : 0;
}

static int push_symbols(struct opening *op)
{
	struct error why = ERROR_INIT;
	struct object *o = op->object;
	int r = push_symtab(op, &why);

	if (r > 0) {
		/* There is more than the cache has. */
		symfile_close(o->kept);
		o->kept = NULL;
	}
	if (r == 0)
		r = push_remains(op, &why);
	if (r >= 0 && !o->kept)
		r = elf_symbols_push_plt(o->table, &o->code.file);
	return r;
}

static int load_symbols(struct opening *op)
{
	struct object *o = op->object;
	int r = push_symbols(op);

	if (r < 0 && r != -ENOMEM) {
		/* Half a table would give names to what the other half has. */
		symtab_free(o->table);
		o->table = symtab_new();
		op->damaged = true;
		r = say(op, "the symbols of %s are damaged; its functions have no names",
			o->code.path);
	}
	if (r >= 0 && o->build_id_len == 0)
		r = say(op, "the device told no build-id; names are those of %s, unchecked",
			o->code.path);
	if (r >= 0 && !o->table)
		r = -ENOMEM;
	return r < 0 ? r : symtab_index(o->table);
}

/* --- the cache --- */

static int get_kept(struct opening *op, const uint8_t *id, size_t id_len)
{
	if (!op->cache || id_len == 0 || op->object->kept)
		return 0;
	return symcache_get(op->cache, SYMFILE_OBJECT, id, id_len, &op->object->kept);
}

static bool is_whole(const struct symfile *f)
{
	return f && !(symfile_get_head(f)->flags & SYMFILE_PARTIAL);
}

/* The object as its table remembers it, without any file. */
static int use_kept(struct opening *op)
{
	struct object *o = op->object;
	const struct symfile_head *h = symfile_get_head(o->kept);
	const struct error none = ERROR_INIT;
	int r = symfile_dup_segments(o->kept, &o->code.file.segments, &o->code.file.n_segments);

	if (r < 0)
		return r;
	free(*op->problem);
	*op->problem = NULL;
	o->found = true;
	o->code.file.machine = h->machine;
	memcpy(o->code.id.bytes, h->id, h->id_len);
	o->code.id.len = h->id_len;
	return is_whole(o->kept) ? 0 : say_stripped(op, o->path, &none);
}

/* What was read is kept, and from now on used from there. That it cannot be is no reason to go without
 * names. */
static int keep(struct opening *op)
{
	struct object *o = op->object;
	const struct symfile_source source = { .kind = SYMFILE_OBJECT,
					       .flags = op->partial ? SYMFILE_PARTIAL : 0,
					       .id = o->code.id.bytes,
					       .id_len = o->code.id.len,
					       .table = o->table,
					       .file = &o->code.file };
	struct error why = ERROR_INIT;

	if (!op->cache || o->code.id.len == 0 || op->damaged || o->kept)
		return 0;
	if (symcache_put(op->cache, &source, &o->kept, &why) == 1) {
		symtab_free(o->table);
		o->table = NULL;
		return 0;
	}
	o->cache_problem = strdup(why.text);
	return o->cache_problem ? 0 : -ENOMEM;
}

static int load_files(struct opening *op)
{
	struct object *o = op->object;
	int r = find_code(op);

	if (r == 0 && o->kept) {
		if (o->found)
			search_hit_done(&o->code);
		o->code = (struct search_hit){ .file = { .fd = -1 } };
		return use_kept(op);
	}
	op->damaged = r == 0; /* nothing to make a table of */
	if (r <= 0)
		return r;
	r = op->without_names ? 0 : get_kept(op, o->code.id.bytes, o->code.id.len);
	if (r >= 0 && !op->without_names)
		r = load_symbols(op);
	if (r >= 0)
		r = keep(op);
	close(o->code.file.fd); /* there may be more objects than descriptors */
	o->code.file.fd = -1;
	return r;
}

/* --- read by another process --- */

/* Whether the table is of the object that was asked for: a reader that went astray must not replace another one's. */
static bool is_of(const struct object *o, const struct symfile_head *h)
{
	if (h->kind != SYMFILE_OBJECT)
		return false;
	if (o->build_id_len == 0)
		return true;
	return (h->id_len == o->build_id_len || (o->build_id_len == 20 && h->id_len > 20)) &&
	       memcmp(h->id, o->build_id, o->build_id_len) == 0;
}

/* Of a table whose build-id nobody told before only a reader of this machine's own files is believed. */
static bool may_keep(const struct object *o, const struct symfile_head *h)
{
	if (o->build_id_len)
		return true;
	return object_reader_get_reach() == OBJECT_READER_THIS_MACHINE &&
	       !(h->id_len == sizeof(no_id) && h->id[0] == no_id[0]);
}

/* Keeps what came, and uses that; a table that cannot be kept is used as it is. */
static int keep_came(struct opening *op, struct symfile *came, int from)
{
	struct object *o = op->object;
	const struct symfile_head *h = symfile_get_head(came);
	struct symfile *kept = NULL;
	struct error why = ERROR_INIT;

	symfile_close(o->kept);
	o->kept = came;
	if (!op->cache || !may_keep(o, h))
		return 0;
	if (symcache_put_copy(op->cache, h, from, &kept, &why) == 1) {
		symfile_close(came);
		o->kept = kept;
		return 0;
	}
	o->cache_problem = strdup(why.text);
	return o->cache_problem ? 0 : -ENOMEM;
}

/* 1: it is used, or no more than what is there; takes the descriptor. */
static int take_table(struct opening *op, int fd)
{
	_cleanup_close_ int from = fd;
	struct object *o = op->object;
	struct symfile *came = NULL;
	int copy = dup(from), r = 0;

	if (copy < 0 || symfile_open(copy, &came, NULL) < 0 || !is_of(o, symfile_get_head(came))) {
		symfile_close(came);
		return say(op, "its reader is out of order; its functions have no names");
	}
	if (is_whole(o->kept) || (o->kept && !is_whole(came)))
		symfile_close(came);
	else
		r = keep_came(op, came, from);
	if (r == 0)
		r = use_kept(op);
	return r < 0 ? r : 1;
}

/* What the reader said of the file, in place of what its table tells. */
static int take_problem(struct opening *op, const struct object_answer *a)
{
	struct error line = ERROR_INIT;

	error_set(&line, 0, "%s", a->problem);
	free(*op->problem);
	*op->problem = strdup(line.text);
	return *op->problem ? 0 : -ENOMEM;
}

static int load_elsewhere(struct opening *op)
{
	struct object *o = op->object;
	const struct object_wanted w = { .path = o->path,
					 .build_id = o->build_id,
					 .build_id_len = o->build_id_len };
	struct object_answer a;
	int table, r = object_reader_ask(OBJECT_NAMES, op->search, &w, &a, &table);

	if (r == -ENOMEM)
		return r;
	if (r == -ENAMETOOLONG)
		return say(op, "more folders are to be searched than its reader takes; its "
			       "functions have no names");
	if (r < 0)
		return say(op, "the reader of objects is gone; its functions have no names");
	if (a.code == -ENOMEM)
		return a.code;
	if (a.code < 0 && !a.problem[0])
		return say(op, "its table cannot be made: %s; its functions have no names",
			   strerror(-a.code));
	if (table >= 0)
		r = take_table(op, table);
	else if (o->kept)
		return use_kept(op);
	if (r < 0 || !a.problem[0] || (*op->problem && r == 0))
		return r < 0 ? r : 0;
	return is_whole(o->kept) && o->build_id_len ? 0 : take_problem(op, &a);
}

int object_write_table(const struct object *o, int fd)
{
	const struct symfile_source source = { .kind = SYMFILE_OBJECT,
					       .flags = o->partial ? SYMFILE_PARTIAL : 0,
					       .id = o->code.id.len ? o->code.id.bytes : no_id,
					       .id_len = o->code.id.len ? o->code.id.len
									: sizeof(no_id),
					       .table = o->table,
					       .file = &o->code.file };

	return o->found && o->table && !o->damaged ? symfile_write(fd, &source) : -ENODATA;
}

static int load(struct opening *op, bool deleted)
{
	struct object *o = op->object;
	int r;

	if (o->path[0] != '/')
		return say(op, "is no file; what runs there has no names");
	if (deleted && o->build_id_len == 0)
		return say(op, "was deleted or replaced while the process ran, and its build-id is "
			       "not known; its functions have no names");
	r = get_kept(op, o->build_id, o->build_id_len);
	if (r < 0)
		return r;
	if (is_whole(o->kept))
		return use_kept(op);
	return object_reader_is_there() ? load_elsewhere(op) : load_files(op);
}

/* The kernel says so behind the path of a file that is no longer there. */
static bool cut_deleted(char *path)
{
	size_t len = strlen(path), end = sizeof(DELETED) - 1;

	if (len <= end || strcmp(path + len - end, DELETED) != 0)
		return false;
	path[len - end] = 0;
	return true;
}

int object_open(const struct search *s, const struct object_wanted *w, struct object **ret,
		char **ret_problem)
{
	CLEANUP(object) struct object *o = calloc(1, sizeof(*o));
	_cleanup_free_ char *problem = NULL;
	struct opening op = { .search = s,
			      .object = o,
			      .cache = w->cache,
			      .without_names = w->without_names,
			      .problem = &problem };
	int r;

	if (!o || w->build_id_len > sizeof(o->build_id))
		return o ? -EINVAL : -ENOMEM;
	o->code.file.fd = -1;
	o->search = *s;
	o->mangled = w->mangled;
	o->cache = w->cache;
	o->path = strdup(w->path);
	o->table = symtab_new();
	if (!o->path || !o->table)
		return -ENOMEM;
	if (w->build_id_len)
		memcpy(o->build_id, w->build_id, w->build_id_len);
	o->build_id_len = w->build_id_len;
	r = load(&op, cut_deleted(o->path));
	if (r < 0)
		return r;
	o->partial = op.partial;
	o->damaged = op.damaged;
	*ret = take_ptr(o);
	*ret_problem = take_ptr(problem);
	return 0;
}

/* A name is made readable when it is first shown. NULL: no memory. */
static const char *show(const struct object *o, struct symtab_symbol *symbol)
{
	char *name, *readable;

	if (symbol->shown)
		return symbol->name;
	name = strndup(symbol->name, symbol->name_len);
	readable = name && !o->mangled ? demangle_dup_entry(name) : NULL;
	if (readable) {
		free(name);
		name = readable;
	}
	if (!name || symtab_take(o->table, name) < 0) {
		free(name);
		return NULL;
	}
	symbol->name = name;
	symbol->shown = true;
	return name;
}

static int find_kept(const struct object *o, struct object_symbol *ret)
{
	struct symfile_symbol symbol;

	if (!symfile_find(o->kept, ret->address, &symbol))
		return 0;
	ret->name = o->mangled ? symbol.name : symbol.other;
	ret->start = symbol.start;
	return 1;
}

int object_find(const struct object *o, uint64_t file_offset, struct object_symbol *ret)
{
	struct symtab_symbol *symbol;

	*ret = (struct object_symbol){ 0 };
	if (!o->found || !elf_file_find_address(&o->code.file, file_offset, &ret->address))
		return 0;
	ret->address = elf_symbols_code_address(&o->code.file, ret->address);
	if (o->kept)
		return find_kept(o, ret);
	symbol = symtab_find(o->table, ret->address);
	if (!symbol)
		return 0;
	ret->name = show(o, symbol);
	ret->start = symbol->start;
	return ret->name ? 1 : -ENOMEM;
}

bool object_is_found(const struct object *o)
{
	return o->found;
}

const struct symfile_head *object_get_kept(const struct object *o)
{
	return o->kept ? symfile_get_head(o->kept) : NULL;
}

const char *object_get_cache_problem(const struct object *o)
{
	return o->cache_problem;
}

/* --- lines --- */

const char *object_get_lines_problem(const struct object *o)
{
	return o->lines_problem;
}

static int read_lines(struct object *o, const struct search_query *q)
{
	struct search_hit hit;
	int r = search_find(&o->search, q, &hit, NULL);

	if (r <= 0)
		return r;
	o->lines_bias = first_address(&o->code.file) - first_address(&hit.file);
	r = dwarf_lines_open(&hit.file, &o->lines);
	search_hit_done(&hit);
	return r == -ENOMEM ? r : 0;
}

static bool is_same_object(const struct object *o, const struct symfile_head *h)
{
	const size_t len = o->code.id.len ? o->code.id.len : sizeof(no_id);

	return h->kind == SYMFILE_LINES && h->id_len == len &&
	       memcmp(h->id, o->code.id.len ? o->code.id.bytes : no_id, len) == 0;
}

/* What the reader said, or what it is known by that it says nothing. */
static int lose_lines(struct object *o, const char *said, const char *why)
{
	struct error line = ERROR_INIT;
	char what[200];

	snprintf(what, sizeof(what), "%s; its source lines are not known", why);
	error_set(&line, 0, "%s", said);
	o->lines_problem = said[0] ? strdup(line.text) : dup_problem(o, what);
	return o->lines_problem ? 0 : -ENOMEM;
}

/* Takes the descriptor. */
static int take_lines(struct object *o, int fd)
{
	_cleanup_close_ int from = fd;
	struct symfile *came = NULL, *kept = NULL;
	int copy = dup(from);

	if (copy < 0 || symfile_open(copy, &came, NULL) < 0 ||
	    !is_same_object(o, symfile_get_head(came))) {
		symfile_close(came);
		return lose_lines(o, "", "its reader is out of order");
	}
	o->kept_lines = came;
	if (o->cache && o->code.id.len &&
	    symcache_put_copy(o->cache, symfile_get_head(came), from, &kept, NULL) == 1) {
		symfile_close(came);
		o->kept_lines = kept;
	}
	return 0;
}

/* From the cache, or by the reader of objects, as names are. That there are none is no problem of anybody's; that their
 * reader crashed is. */
static int open_lines_elsewhere(struct object *o)
{
	const struct object_wanted w = { .path = o->path,
					 .build_id = o->code.id.bytes,
					 .build_id_len = o->code.id.len };
	struct object_answer a;
	int table, r = 0;

	if (o->cache && o->code.id.len)
		r = symcache_get(o->cache, SYMFILE_LINES, o->code.id.bytes, o->code.id.len,
				 &o->kept_lines);
	if (r != 0)
		return r < 0 ? r : 0;
	r = object_reader_ask(OBJECT_LINES, &o->search, &w, &a, &table);
	if (r == 0 && table >= 0)
		return take_lines(o, table);
	if (r == -ENOMEM || (r == 0 && a.code == -ENOMEM))
		return -ENOMEM;
	if (r == -ENAMETOOLONG)
		return lose_lines(o, "", "more folders are to be searched than its reader takes");
	if (r < 0)
		return lose_lines(o, "", "the reader of objects is gone");
	return a.code < 0 ? lose_lines(o, a.problem, strerror(-a.code)) : 0;
}

static int open_lines(struct object *o)
{
	struct search_query q = make_query(o, SEARCH_LINES), code = make_query(o, SEARCH_CODE);
	struct search_hit hit;
	int r;

	o->lines_tried = true;
	if (!o->found)
		return 0;
	if (object_reader_is_there())
		return open_lines_elsewhere(o);
	if (o->code.path)
		return read_lines(o, &q);
	/* Its table was in the cache; the object itself may name its debug file. */
	r = search_find(&o->search, &code, &hit, NULL);
	if (r == 1)
		q.code = &hit;
	if (r >= 0)
		r = read_lines(o, &q);
	if (q.code == &hit)
		search_hit_done(&hit);
	return r;
}

int object_write_lines(struct object *o, int fd)
{
	struct linetab_owner owner = { .id = o->code.id.len ? o->code.id.bytes : no_id,
				       .id_len = o->code.id.len ? o->code.id.len : sizeof(no_id),
				       .file = &o->code.file };
	int r = o->lines_tried ? 0 : open_lines(o);

	owner.bias = o->lines_bias;
	if (r == 0 && !o->lines)
		r = -ENODATA;
	return r < 0 ? r : linetab_write(fd, o->lines, &owner);
}

int object_find_line(struct object *o, uint64_t file_offset, const char **ret_file,
		     uint32_t *ret_line)
{
	uint64_t address;
	int r = o->lines_tried ? 0 : open_lines(o);

	if (r < 0 || (!o->lines && !o->kept_lines) ||
	    !elf_file_find_address(&o->code.file, file_offset, &address))
		return r;
	address = elf_symbols_code_address(&o->code.file, address);
	if (o->kept_lines)
		return symfile_find_line(o->kept_lines, address, ret_file, ret_line);
	return dwarf_lines_find(o->lines, address - o->lines_bias, ret_file, ret_line);
}
