/* SPDX-License-Identifier: MIT */
/*
 * symfile_write: the table file of an object or of a kernel, from its symbols or lines.
 *
 * Spec: docs/format/symbols.md. Here is done what a search shall not have to do: C++ names are made
 * readable, all of them, and names are ended.
 */
#ifndef KISEKI_SYMBOL_SYMFILE_WRITE_H
#define KISEKI_SYMBOL_SYMFILE_WRITE_H

#include "symbol/symfile.h"
#include "symbol/symtab.h"

/* Where a piece of code comes from. */
struct symfile_place {
	uint32_t file; /* its number */
	uint32_t line; /* at least 1 */
};

struct symfile_lines {
	const struct symfile_place *places; /* of each symbol of the table */
	const char *const *files;	    /* by number; NULL: nobody has it */
	size_t n_files;
};

struct symfile_source {
	enum symfile_kind kind;
	uint8_t flags; /* SYMFILE_PARTIAL */
	const uint8_t *id;
	size_t id_len;		     /* at least 1, at most SYMFILE_ID_MAX */
	const struct symtab *table;  /* indexed */
	const struct elf_file *file; /* whose loaded segments and machine; NULL: no object */
	/* Whose a symbol is, where the kind is SYMFILE_MODULES. */
	const char *(*get_module)(const struct symtab_symbol *s);
	const struct symfile_lines *lines; /* where it is SYMFILE_LINES; names do not count then */
};

/* Writes from the descriptor's start. -E2BIG: beyond SYMFILE_BYTES_MAX; -ENOMEM, -EIO, -ENOSPC, … */
int symfile_write(int fd, const struct symfile_source *s);

#endif
