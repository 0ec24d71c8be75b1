/* SPDX-License-Identifier: MIT */
/*
 * func_rules: see func_rules.h.
 *
 * The functions of a file are found by asking for the name of each place of its code, in order: a
 * table look-up each, which costs less than reading the table did.
 */
#include "cli/func_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbol/elf_file.h"
#include "symbol/elf_identity.h"

#define WORD_MAX 1024U

struct text {
	char *bytes;
	size_t len;
	bool full;
};

struct scan {
	struct symbols *symbols;
	const char *pattern, *prefix, *path;
	uint32_t object;
	uint64_t last;	/* start of the function that the last place was in */
	uint64_t from;	/* of the functions that fit and lie side by side */
	bool in, known; /* from is set; last is set */
	uint64_t found;
	struct text *out;
};

static void put_word(struct text *t, const char *prefix, const char *word)
{
	int n = snprintf(t->bytes + t->len, FUNC_RULES_TEXT_MAX - t->len, "%s%s%s",
			 t->len ? "," : "", prefix, word);

	if (n < 0 || (size_t)n >= FUNC_RULES_TEXT_MAX - t->len)
		t->full = true;
	else
		t->len += (size_t)n;
}

/* The functions from `from` on, up to this place. */
static void put_range(struct scan *s, uint64_t to)
{
	char word[WORD_MAX + 64];

	snprintf(word, sizeof(word), "%.1000s+0x%" PRIx64 "-0x%" PRIx64, s->path, s->from, to);
	put_word(s->out, s->prefix, word);
	s->in = false;
}

static int see_place(struct scan *s, uint64_t place)
{
	struct symbol name = { 0 };
	int r = symbols_find(s->symbols, s->object, place, &name);
	bool fits;

	if (r < 0 || !name.name || (s->known && name.start == s->last))
		return r;
	s->last = name.start;
	s->known = true;
	fits = !fnmatch(s->pattern, name.name, 0);
	s->found += fits;
	if (fits && !s->in)
		s->from = place;
	else if (!fits && s->in)
		put_range(s, place);
	s->in = fits;
	return 0;
}

static int see_segments(struct scan *s, const struct elf_file *f)
{
	/* Instructions are at even places on all machines but x86. */
	uint64_t step = f->machine == EM_386 || f->machine == EM_X86_64 ? 1 : 2, at;
	const struct elf_segment *g;
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < f->n_segments; i++) {
		g = &f->segments[i];
		if (g->type != PT_LOAD || !(g->flags & PF_X) || g->offset > f->size ||
		    g->file_size > f->size - g->offset)
			continue;
		for (at = 0; r >= 0 && at < g->file_size; at += step)
			r = see_place(s, g->offset + at);
		if (s->in)
			put_range(s, g->offset + g->file_size);
	}
	return r;
}

static int scan_file(struct scan *s, struct error *e)
{
	struct symbol_object o = { .path = s->path };
	struct elf_file f;
	struct error why = ERROR_INIT;
	int fd = open(s->path, O_RDONLY | O_CLOEXEC), r;

	if (fd < 0)
		return error_set(e, errno, "cannot read %s: %s", s->path, strerror(errno));
	r = elf_file_open(&f, fd, &why);
	if (r < 0)
		return error_set(e, -r, "cannot find functions in %s: it %s", s->path, why.text);
	r = symbols_add(s->symbols, &o, &s->object);
	if (r >= 0)
		r = see_segments(s, &f);
	elf_file_close(&f);
	if (r < 0)
		return error_set(e, -r, "cannot find functions in %s: %s", s->path, strerror(-r));
	if (!s->found)
		return error_set(e, ENOENT, "cannot find a function '%s' in %s", s->pattern,
				 s->path);
	return 0;
}

static int resolve_word(struct scan *s, char *word, const char *program, struct error *e)
{
	char *name = word, *at, real[4096];

	s->prefix = "";
	if (!strncmp(word, "entry:", 6))
		s->prefix = "entry:";
	else if (!strncmp(word, "exit:", 5))
		s->prefix = "exit:";
	name += strlen(s->prefix);
	at = strrchr(name, '@');
	if (!at && (strstr(name, "+0x") || strstr(name, ".so") || strchr(name, '/'))) {
		put_word(s->out, s->prefix, name);
		return 0;
	}
	if (at)
		*at = 0;
	s->pattern = name;
	s->path = realpath(at ? at + 1 : program, real) ? real : at ? at + 1 : program;
	s->in = s->known = false;
	s->found = 0;
	return scan_file(s, e);
}

int func_rules_resolve(const char *list, const char *program, struct symbols *symbols, char **ret,
		       struct error *e)
{
	_cleanup_free_ char *copy = strdup(list), *bytes = calloc(1, FUNC_RULES_TEXT_MAX);
	struct text out = { .bytes = bytes };
	struct scan s = { .symbols = symbols, .out = &out };
	char *at = copy, *word;
	int r = 0;

	if (!copy || !bytes)
		return error_set(e, ENOMEM, "cannot find functions: out of memory");
	while (r >= 0 && (word = strsep(&at, ",")))
		if (*word)
			r = resolve_word(&s, word, program, e);
	if (r >= 0 && out.full)
		r = error_set(e, E2BIG, "cannot select '%s': it means too many functions", list);
	if (r >= 0)
		*ret = take_ptr(bytes);
	return r;
}
