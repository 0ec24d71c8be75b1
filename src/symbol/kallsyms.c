/* SPDX-License-Identifier: MIT */
/*
 * kallsyms: see kallsyms.h.
 *
 * The text stays in memory and names point into it; the tab behind a module's symbol becomes its end,
 * so that the module is what stands there. The kernel and its modules have tables of their own, since
 * they lie far apart and the page index wants symbols close together. Symbols that are no code only end
 * the function before them. Tables of the cache take the place of both, and of the text.
 */
#include "symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "base/hex.h"
#include "symbol/object_reader.h"
#include "wire/crc32c.h"

#define READ_FIRST (1U << 20)
#define PAGE 4096U
#define NO_CODE UINT8_MAX
#define ID_LEN 16U

struct kallsyms {
	char *text;
	struct symtab *kernel, *modules;
	struct symfile *kept_kernel, *kept_modules; /* both or none */
	uint8_t id[ID_LEN];			    /* of the text, for who writes its tables */
};

DEFINE_CLEANUP(kallsyms, kallsyms_free)

/* Names end at white space until the text is known to be read. */
struct line {
	uint64_t address;
	const char *name, *module; /* "[ext4]", NULL: the kernel's own */
	uint32_t name_len, module_len;
	uint8_t rank; /* NO_CODE: it is none */
};

struct lines {
	struct line *line;
	size_t n, room;
	size_t without_address;
	struct line last; /* in the text */
};

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	symtab_free(k->kernel);
	symtab_free(k->modules);
	symfile_close(k->kept_kernel);
	symfile_close(k->kept_modules);
	free(k->text);
	free(k);
}

static bool ends_with(const struct line *l, const char *end)
{
	size_t n = strlen(end);

	return l->name_len >= n && memcmp(l->name + l->name_len - n, end, n) == 0;
}

/* Names that linker scripts give to where a section begins or ends. */
static bool is_section_mark(const struct line *l)
{
	return l->name[0] == '_' &&
	       (ends_with(l, "text_start") || ends_with(l, "text_end") || ends_with(l, "_text") ||
		ends_with(l, "_stext") || ends_with(l, "_etext") || ends_with(l, "_sinittext") ||
		ends_with(l, "_einittext") || ends_with(l, "text_begin"));
}

static uint8_t get_rank(const struct line *l, char type)
{
	uint8_t rank = type == 'T' ? SYMTAB_GLOBAL : type == 't' ? SYMTAB_LOCAL : SYMTAB_WEAK;

	if (!strchr("tTwW", type) || l->name[0] == '$')
		return NO_CODE;
	return (uint8_t)(is_section_mark(l) ? rank + SYMTAB_LABEL : rank);
}

/* "ffffffc008010000 T name\t[module]", without its end. */
static bool parse_line(const char *p, const char *end, struct line *ret)
{
	const char *first = p;
	uint64_t v = 0;
	char type;

	for (; p < end && hex_digit(*p) >= 0; p++)
		v = v << 4 | (unsigned)hex_digit(*p);
	if (p == first || p - first > 16 || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	type = p[1];
	ret->address = v;
	ret->name = p + 3;
	ret->name_len = (uint32_t)strcspn(ret->name, "\t\n ");
	p = ret->name + ret->name_len;
	ret->module = NULL;
	ret->module_len = 0;
	if (p < end && *p == '\t' && end - p > 3 && p[1] == '[' && end[-1] == ']') {
		ret->module = p + 1;
		ret->module_len = (uint32_t)(end - p) - 1;
	}
	ret->rank = ret->name_len ? get_rank(ret, type) : NO_CODE;
	return ret->name_len > 0;
}

static int push_line(struct lines *l, const struct line *line)
{
	size_t room = l->room ? l->room * 2 : 4096;
	struct line *moved;

	l->last = *line;
	if (line->address == 0) {
		l->without_address++;
		return 0;
	}
	if (l->n >= SYMTAB_SYMBOLS_MAX)
		return -E2BIG;
	if (l->n == l->room) {
		moved = realloc(l->line, room * sizeof(*moved));
		if (!moved)
			return -ENOMEM;
		l->line = moved;
		l->room = room;
	}
	l->line[l->n++] = *line;
	return 0;
}

static int read_lines(struct lines *l, const char *text, size_t len)
{
	const char *end = text + len, *stop, *p;
	struct line line;
	int r = 0;

	for (p = text; p < end && r == 0; p = stop + 1) {
		stop = memchr(p, '\n', (size_t)(end - p));
		if (!stop)
			break; /* cut: half a name is another name */
		if (parse_line(p, stop, &line))
			r = push_line(l, &line);
	}
	return r;
}

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static bool same_module(const struct line *a, const struct line *b)
{
	return a->module_len == b->module_len &&
	       (!a->module || memcmp(a->module, b->module, a->module_len) == 0);
}

/* Where line i is over, `next` being the first one with a higher address, or n. */
static uint64_t get_end(const struct lines *l, size_t i, size_t next)
{
	const struct line *line = &l->line[i];
	uint64_t page = line->address | (PAGE - 1);

	if (next < l->n && same_module(line, &l->line[next]) &&
	    l->line[next].address - line->address <= KALLSYMS_REACH)
		return l->line[next].address;
	if (same_module(line, &l->last))
		return line->address + 1;
	page = page < UINT64_MAX ? page + 1 : page;
	return next < l->n && l->line[next].address < page ? l->line[next].address : page;
}

/* There is one at least. */
static int push_lines(struct kallsyms *k, struct lines *l)
{
	size_t i, next = 0;
	int r = 0;

	qsort(l->line, l->n, sizeof(*l->line), compare_lines);
	for (i = 0; i < l->n && r == 0; i++) {
		const struct line *line = &l->line[i];
		struct symtab_item item = { .start = line->address,
					    .name = line->name,
					    .name_len = line->name_len,
					    .rank = line->rank };

		while (next < l->n && l->line[next].address <= line->address)
			next++;
		item.end = get_end(l, i, next);
		if (line->rank != NO_CODE && item.end > item.start)
			r = symtab_push(line->module ? k->modules : k->kernel, &item);
	}
	return r;
}

/* Ends each name and module in place, for whoever is given them as strings. */
static void end_names(char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (text[i] == '\n' || text[i] == '\t' || text[i] == ' ')
			text[i] = 0;
}

static int index_lines(struct kallsyms *k, struct lines *l, size_t len, struct error *e)
{
	int r = read_lines(l, k->text, len);

	if (r == 0 && l->n == 0)
		return error_set(e, ENODATA,
				 l->without_address ? "hides all addresses (kernel.kptr_restrict); "
						      "read it as root"
						    : "has no symbols of a kernel");
	if (r == 0)
		r = push_lines(k, l);
	end_names(k->text, len);
	if (r == 0)
		r = symtab_index(k->kernel);
	if (r == 0)
		r = symtab_index(k->modules);
	return r < 0 ? error_set(e, -r, "cannot be read: %s", strerror(-r)) : 0;
}

static int index_text(struct kallsyms *k, size_t len, struct error *e)
{
	struct lines l = { 0 };
	int r = index_lines(k, &l, len, e);

	free(l.line);
	return r;
}

/* Takes the text, which has a NUL behind it. */
static int parse_taken(char *text, size_t len, struct kallsyms **ret, struct error *e)
{
	CLEANUP(kallsyms) struct kallsyms *k = calloc(1, sizeof(*k));
	int r;

	if (!k) {
		free(text);
		return error_set(e, ENOMEM, "cannot be read: %s", strerror(ENOMEM));
	}
	k->text = text;
	k->kernel = symtab_new();
	k->modules = symtab_new();
	if (!k->kernel || !k->modules)
		return error_set(e, ENOMEM, "cannot be read: %s", strerror(ENOMEM));
	/* A NUL inside would end strings where lines do not. */
	r = index_text(k, strlen(text) < len ? strlen(text) : len, e);
	if (r == 0)
		*ret = take_ptr(k);
	return r;
}

int kallsyms_parse(const char *text, size_t len, struct kallsyms **ret, struct error *e)
{
	char *copy = len < KALLSYMS_TEXT_MAX ? malloc(len + 1) : NULL;

	if (!copy)
		return error_set(e, ENOMEM, "cannot be read: %s", strerror(ENOMEM));
	memcpy(copy, text, len);
	copy[len] = 0;
	return parse_taken(copy, len, ret, e);
}

/* Files of procfs do not know their size. */
static int read_all(int fd, char **ret, size_t *ret_len)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0, room = 0;
	ssize_t n = 1;
	char *moved;

	while (n > 0) {
		if (room - len < 2) {
			room = room ? room * 2 : READ_FIRST;
			moved = room > KALLSYMS_TEXT_MAX ? NULL : realloc(text, room);
			if (!moved)
				return room > KALLSYMS_TEXT_MAX ? -E2BIG : -ENOMEM;
			text = moved;
		}
		n = read(fd, text + len, room - len - 1);
		if (n < 0 && errno != EINTR)
			return -errno;
		len += n > 0 ? (size_t)n : 0;
		n = n < 0 ? 1 : n;
	}
	text[len] = 0;
	*ret = take_ptr(text);
	*ret_len = len;
	return 0;
}

/* --- the cache --- */

/* What a text is known by. A kernel has no build-id in it, and names of two boots differ. */
static void make_id(const char *text, size_t len, uint8_t id[ID_LEN])
{
	put_le64(id, len);
	put_le32(id + 8, (uint32_t)crc32_z(crc32_z(0, NULL, 0), (const Bytef *)text, len));
	put_le32(id + 12, crc32c_add(0, text, len));
}

static const char *get_module(const struct symtab_symbol *s)
{
	return s->name + s->name_len + 1; /* behind the NUL that was a tab */
}

static bool get_kept(struct symcache *c, const uint8_t *id, struct kallsyms *k)
{
	return symcache_get(c, SYMFILE_KERNEL, id, ID_LEN, &k->kept_kernel) == 1 &&
	       symcache_get(c, SYMFILE_MODULES, id, ID_LEN, &k->kept_modules) == 1;
}

static struct symfile_source source_of(const struct kallsyms *k, enum symfile_kind kind)
{
	const bool is_kernel = kind == SYMFILE_KERNEL;
	struct symfile_source s = { .kind = kind,
				    .id = k->id,
				    .id_len = ID_LEN,
				    .table = is_kernel ? k->kernel : k->modules,
				    .get_module = is_kernel ? NULL : get_module };

	return s;
}

/* From now on they are used from there. That they cannot be kept takes nothing away; whoever opens
 * objects says why. */
static void keep(struct symcache *c, struct kallsyms *k)
{
	struct symfile_source s = source_of(k, SYMFILE_KERNEL);
	struct symfile *kernel = NULL;

	if (symcache_put(c, &s, &kernel, NULL) < 0)
		return;
	s = source_of(k, SYMFILE_MODULES);
	if (symcache_put(c, &s, &k->kept_modules, NULL) == 1)
		k->kept_kernel = kernel;
	else
		symfile_close(kernel);
}

int kallsyms_write_tables(const struct kallsyms *k, int kernel, int modules)
{
	struct symfile_source s = source_of(k, SYMFILE_KERNEL);
	int r = symfile_write(kernel, &s);

	s = source_of(k, SYMFILE_MODULES);
	return r < 0 ? r : symfile_write(modules, &s);
}

static int open_kept(struct symcache *c, const uint8_t *id, struct kallsyms **ret)
{
	CLEANUP(kallsyms) struct kallsyms *k = calloc(1, sizeof(*k));

	if (!k || !get_kept(c, id, k))
		return k ? 0 : -ENOMEM;
	*ret = take_ptr(k);
	return 1;
}

/* --- read by another process --- */

/* Opens a table that came, and keeps it if it can be. Takes the descriptor. */
static struct symfile *take_table(struct symcache *c, enum symfile_kind kind, const uint8_t *id,
				  int fd)
{
	_cleanup_close_ int from = fd;
	struct symfile *came = NULL, *kept = NULL;
	const struct symfile_head *h;
	int copy = dup(from);

	if (symfile_open(copy, &came, NULL) < 0)
		return NULL;
	h = symfile_get_head(came);
	if (h->kind != kind || h->id_len != ID_LEN || memcmp(h->id, id, ID_LEN) != 0) {
		symfile_close(came);
		return NULL;
	}
	if (!c || symcache_put_copy(c, h, from, &kept, NULL) != 1)
		return came;
	symfile_close(came);
	return kept;
}

static int open_elsewhere(const char *text, size_t len, struct symcache *c, struct kallsyms **ret,
			  struct error *e)
{
	CLEANUP(kallsyms) struct kallsyms *k = calloc(1, sizeof(*k));
	struct object_answer a;
	int tables[OBJECT_TABLES_MAX];
	int r = k ? object_reader_ask_kernel(text, len, &a, tables) : -ENOMEM;

	if (r < 0)
		return error_set(e, -r, "cannot be read: %s", strerror(-r));
	if (tables[0] < 0)
		return error_set(e, a.code < 0 ? -a.code : EBADMSG, "%s",
				 a.problem[0] ? a.problem : "cannot be read");
	make_id(text, len, k->id);
	k->kept_kernel = take_table(c, SYMFILE_KERNEL, k->id, tables[0]);
	k->kept_modules = take_table(c, SYMFILE_MODULES, k->id, tables[1]);
	if (!k->kept_kernel || !k->kept_modules)
		return error_set(e, EBADMSG, "cannot be read: its reader is out of order");
	*ret = take_ptr(k);
	return 0;
}

/* Takes the text. */
static int parse_here(char *text, size_t len, struct kallsyms **ret, struct error *e)
{
	uint8_t id[ID_LEN];
	int r;

	make_id(text, len, id);
	r = parse_taken(text, len, ret, e);
	if (r == 0)
		memcpy((*ret)->id, id, ID_LEN);
	return r;
}

int kallsyms_open_fd(int fd, struct kallsyms **ret, struct error *e)
{
	size_t len = 0;
	char *text = NULL;
	int r = read_all(fd, &text, &len);

	return r < 0 ? error_set(e, -r, "cannot be read: %s", strerror(-r))
		     : parse_here(text, len, ret, e);
}

int kallsyms_open(const char *path, struct symcache *cache, struct kallsyms **ret, struct error *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	_cleanup_free_ char *text = NULL;
	uint8_t id[ID_LEN] = { 0 };
	size_t len = 0;
	int r = fd < 0 ? -errno : read_all(fd, &text, &len);

	if (r < 0)
		return error_set(e, -r, "cannot be read: %s", strerror(-r));
	if (cache)
		make_id(text, len, id);
	if (cache && open_kept(cache, id, ret) == 1)
		return 0;
	if (object_reader_is_there())
		return open_elsewhere(text, len, cache, ret, e);
	r = parse_here(take_ptr(text), len, ret, e);
	if (r == 0 && cache)
		keep(cache, *ret);
	return r;
}

const struct symfile_head *kallsyms_get_kept(const struct kallsyms *k)
{
	return k->kept_kernel ? symfile_get_head(k->kept_kernel) : NULL;
}

static bool find_kept(const struct kallsyms *k, uint64_t address, struct kallsyms_symbol *ret)
{
	struct symfile_symbol s;

	*ret = (struct kallsyms_symbol){ 0 };
	if (!symfile_find(k->kept_kernel, address, &s)) {
		if (!symfile_find(k->kept_modules, address, &s))
			return false;
		ret->module = s.other;
	}
	ret->name = s.name;
	ret->start = s.start;
	return true;
}

bool kallsyms_find(const struct kallsyms *k, uint64_t address, struct kallsyms_symbol *ret)
{
	const struct symtab_symbol *s;

	if (k->kept_kernel)
		return find_kept(k, address, ret);
	s = symtab_find(k->kernel, address);
	*ret = (struct kallsyms_symbol){ 0 };
	if (!s) {
		s = symtab_find(k->modules, address);
		if (!s)
			return false;
		ret->module = get_module(s);
	}
	ret->name = s->name;
	ret->start = s->start;
	return true;
}
