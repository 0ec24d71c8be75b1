/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lines: source file and line of an address, from .debug_line.
 *
 * Our own reader instead of libdw, for the reason given in elf_file.h: debug files are the largest and
 * least checked input there is, and a crash in a library takes the whole report with it. The line
 * tables are a small part of DWARF (versions 2 to 5 are read here), they need nothing of the rest but the
 * folder of a compilation, and this way they can be fuzzed with everything else.
 */
#ifndef KISEKI_SYMBOL_DWARF_LINES_H
#define KISEKI_SYMBOL_DWARF_LINES_H

#include "symbol/elf_file.h"

#define DWARF_SEQUENCES_MAX (1U << 22)

struct dwarf_lines;

/* The file is not needed any more afterwards. -ENODATA: no lines; -EBADMSG, -ENOMEM. */
int dwarf_lines_open(const struct elf_file *f, struct dwarf_lines **ret);
void dwarf_lines_free(struct dwarf_lines *l);

/* 1: found, *ret_file is borrowed until the lines are freed; 0: not known; -ENOMEM. */
int dwarf_lines_find(struct dwarf_lines *l, uint64_t address, const char **ret_file,
		     uint32_t *ret_line);

/* A piece of code that one line was made into. */
struct dwarf_piece {
	uint64_t from, to;
	const char *file;     /* borrowed as above */
	uint32_t file_number; /* of this text; small, but two may have the same */
	uint32_t line;
};

/* Gives all of them, by rising addresses, none over another: what dwarf_lines_find() says of each address. Ends with what the
 * function returns, if that is not 0. */
int dwarf_lines_walk(struct dwarf_lines *l, int (*take)(void *context, const struct dwarf_piece *p),
		     void *context);

#endif
