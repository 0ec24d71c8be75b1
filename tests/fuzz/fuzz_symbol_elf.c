/* SPDX-License-Identifier: MIT */
/* symbol_elf: any bytes as an object: its identity, all its symbols, its lines. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/demangle.h"
#include "symbol/dwarf_lines.h"
#include "symbol/elf_identity.h"
#include "symbol/elf_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find_names(const struct elf_file *f, const struct symtab *t)
{
	size_t i, step;

	for (i = 0; i < f->n_code && i < 64; i++)
		for (step = 0; step < 256; step++) {
			uint64_t at =
				f->code[i].from + (f->code[i].to - f->code[i].from) / 256 * step;
			const struct symtab_symbol *s = symtab_find(t, at);

			assert(!s || (s->start <= at && s->name_len && !s->shown));
			if (s && !s->name[s->name_len])
				free(demangle_dup_entry(s->name));
		}
}

struct walk {
	struct dwarf_lines *lines;
	uint64_t end;
	uint32_t searches; /* yet to make: each takes as long as a sequence */
};

static void check_found(struct dwarf_lines *l, uint64_t address, const struct dwarf_piece *p)
{
	const char *file = NULL;
	uint32_t line = 0;
	int r = dwarf_lines_find(l, address, &file, &line);

	assert(r == -ENOMEM || (r == 1 && line == p->line && strcmp(file, p->file) == 0));
}

/* By rising addresses, none over another, and what a search says. */
static int take_piece(void *context, const struct dwarf_piece *p)
{
	struct walk *w = context;

	assert(p->from >= w->end && p->to > p->from && p->line && *p->file);
	w->end = p->to;
	if (!w->searches)
		return 0;
	w->searches--;
	check_found(w->lines, p->from, p);
	check_found(w->lines, p->to - 1, p);
	return 0;
}

static void find_lines(const struct elf_file *f)
{
	struct dwarf_lines *l = NULL;
	struct walk w = { .searches = 256 };
	const char *file = NULL;
	uint32_t line = 0;
	uint64_t at;
	size_t i;
	int r;

	if (dwarf_lines_open(f, &l) < 0)
		return;
	for (i = 0; i < f->n_code && i < 8; i++)
		for (at = f->code[i].from; at < f->code[i].to && at - f->code[i].from < 128; at++)
			if (dwarf_lines_find(l, at, &file, &line) == 1)
				assert(*file && line);
	w.lines = l;
	r = dwarf_lines_walk(l, take_piece, &w);
	assert(r == 0 || r == -ENOMEM);
	dwarf_lines_free(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_debug_link link;
	struct elf_build_id id;
	struct elf_file f;
	struct symtab *t;
	uint64_t address;
	uint32_t crc;
	int r;

	if (elf_file_open_memory(&f, data, size, NULL) < 0)
		return 0;
	elf_identity_get_build_id(&f, &id);
	elf_identity_get_link(&f, &link);
	r = elf_identity_get_crc(&f, &crc);
	assert(r == 0 || r == -ENOMEM);
	elf_file_find_address(&f, size / 2, &address);
	t = symtab_new();
	if (t) {
		elf_symbols_push(t, &f, SHT_SYMTAB, 0);
		elf_symbols_push(t, &f, SHT_DYNSYM, 0);
		elf_symbols_push_packed(t, &f, 4096);
		elf_symbols_push_plt(t, &f);
		r = symtab_index(t);
		assert(r == 0 || r == -ENOMEM);
		if (r == 0)
			find_names(&f, t);
	}
	find_lines(&f);
	symtab_free(t);
	elf_file_close(&f);
	return 0;
}
