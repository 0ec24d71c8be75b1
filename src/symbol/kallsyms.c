/* SPDX-License-Identifier: MIT */
/*
 * kallsyms: see kallsyms.h.
 *
 * The text stays in memory and names point into it; the tab behind a module's symbol becomes its end,
 * so that the module is what stands there. The kernel and its modules have tables of their own, since
 * they lie far apart and the page index wants symbols close together. Symbols that are no code are
 * pushed without a name: they only end the function before them.
 */
#include "symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hex.h"

#define READ_FIRST (1U << 20)

struct kallsyms {
	char *text;
	struct symtab *kernel, *modules;
};

DEFINE_CLEANUP(kallsyms, kallsyms_free)

struct line {
	uint64_t address;
	char type;
	char *name;
	size_t name_len;
	char *module; /* with brackets, NULL: none */
	size_t module_len;
};

/* What the first pass learns. */
struct survey {
	size_t lines, addresses;
	uint64_t low[2], high[2]; /* of code: kernel, modules */
};

void kallsyms_free(struct kallsyms *k)
{
	if (!k)
		return;
	symtab_free(k->kernel);
	symtab_free(k->modules);
	free(k->text);
	free(k);
}

/* "ffffffc008010000 T name\t[module]", without its end. */
static bool parse_line(char *p, char *end, struct line *ret)
{
	char *first = p;
	uint64_t v = 0;

	for (; p < end && hex_digit(*p) >= 0; p++)
		v = v << 4 | (unsigned)hex_digit(*p);
	if (p == first || p - first > 16 || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	ret->address = v;
	ret->type = p[1];
	ret->name = p + 3;
	ret->name_len = strcspn(ret->name, "\t\n ");
	p = ret->name + ret->name_len;
	ret->module = NULL;
	if (p < end && *p == '\t' && end - p > 3 && p[1] == '[' && end[-1] == ']') {
		ret->module = p + 1;
		ret->module_len = (size_t)(end - p) - 1;
	}
	return ret->name_len > 0;
}

static bool is_code(const struct line *l)
{
	return strchr("tTwW", l->type) && l->name[0] != '$';
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

static int push_line(struct kallsyms *k, const struct line *l)
{
	struct symtab_item item = { .start = l->address, .open = true };

	item.end =
		l->address > UINT64_MAX - KALLSYMS_REACH ? UINT64_MAX : l->address + KALLSYMS_REACH;
	if (item.end == item.start)
		return 0;
	item.rank = 2 * SYMTAB_LABEL; /* no code: behind all that is */
	item.name = l->name;
	if (is_code(l)) {
		item.rank = l->type == 'T'   ? SYMTAB_GLOBAL
			    : l->type == 't' ? SYMTAB_LOCAL
					     : SYMTAB_WEAK;
		item.rank = (uint8_t)(item.rank + (is_section_mark(l) ? SYMTAB_LABEL : 0));
		item.name_len = (uint32_t)l->name_len;
	}
	return symtab_push(l->module ? k->modules : k->kernel, &item);
}

static void survey_line(struct survey *s, const struct line *l)
{
	const int in = l->module ? 1 : 0;

	s->lines++;
	if (l->address == 0)
		return;
	s->addresses++;
	if (!is_code(l))
		return;
	if (l->address < s->low[in])
		s->low[in] = l->address;
	if (l->address > s->high[in])
		s->high[in] = l->address;
}

/* Data far from all code (what is kept for each CPU starts at 0) would only stretch the table. */
static bool is_wanted(const struct survey *s, const struct line *l)
{
	const int in = l->module ? 1 : 0;

	return l->address && l->address >= s->low[in] &&
	       (l->address <= s->high[in] || l->address - s->high[in] <= KALLSYMS_REACH);
}

/* One pass over the lines; the first one (k NULL) looks, the second one pushes. */
static int read_lines(struct kallsyms *k, char *text, size_t len, struct survey *s)
{
	char *end = text + len, *stop, *p;
	struct line l;
	int r = 0;

	for (p = text; p < end && r == 0; p = stop + 1) {
		stop = memchr(p, '\n', (size_t)(end - p));
		if (!stop)
			break; /* cut: half a name is another name */
		if (!parse_line(p, stop, &l))
			continue;
		if (!k) {
			survey_line(s, &l);
			continue;
		}
		if (is_wanted(s, &l))
			r = push_line(k, &l);
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

static int index_text(struct kallsyms *k, size_t len, struct error *e)
{
	struct survey s = { .low = { UINT64_MAX, UINT64_MAX } };
	int r;

	read_lines(NULL, k->text, len, &s);
	if (s.lines == 0)
		return error_set(e, ENODATA, "has no symbols of a kernel");
	if (s.addresses == 0)
		return error_set(e, ENODATA,
				 "hides all addresses (kernel.kptr_restrict); "
				 "read it as root");
	r = read_lines(k, k->text, len, &s);
	end_names(k->text, len);
	if (r == 0)
		r = symtab_index(k->kernel);
	if (r == 0)
		r = symtab_index(k->modules);
	return r < 0 ? error_set(e, -r, "cannot be read: %s", strerror(-r)) : 0;
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

int kallsyms_open(const char *path, struct kallsyms **ret, struct error *e)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t len = 0;
	char *text = NULL;
	int r = fd < 0 ? -errno : read_all(fd, &text, &len);

	if (r < 0)
		return error_set(e, -r, "cannot be read: %s", strerror(-r));
	return parse_taken(text, len, ret, e);
}

struct symtab_symbol *kallsyms_find(const struct kallsyms *k, uint64_t address,
				    const char **ret_module)
{
	struct symtab_symbol *s = symtab_find(k->kernel, address);

	*ret_module = NULL;
	if (s && s->name_len)
		return s;
	s = symtab_find(k->modules, address);
	if (!s || !s->name_len)
		return NULL;
	*ret_module = s->name + s->name_len + 1; /* behind the NUL that was a tab */
	return s;
}
