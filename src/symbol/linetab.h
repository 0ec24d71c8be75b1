/* SPDX-License-Identifier: MIT */
/*
 * linetab: the lines of an object as a table file, beside that of its names.
 *
 * Reading DWARF takes the memory and the time that its tables take, and is done where it can do no harm
 * (object_reader.h). What comes out is a table like that of names (symfile.h), in which an address has a file
 * and a line in place of a function: searched as it lies there, whoever asks, as often as he likes.
 */
#ifndef KISEKI_SYMBOL_LINETAB_H
#define KISEKI_SYMBOL_LINETAB_H

#include "symbol/dwarf_lines.h"
#include "symbol/symfile_write.h"

#define LINETAB_FILES_MAX (1U << 22)

/* Whose lines they are. */
struct linetab_owner {
	const uint8_t *id;
	size_t id_len;
	const struct elf_file *file; /* the object, for its machine */
	uint64_t bias;		     /* added to addresses of the lines gives the object's */
};

/* Writes from the descriptor's start. -ENODATA: there are no lines; -E2BIG: more than SYMTAB_SYMBOLS_MAX pieces;
 * else as symfile_write(). */
int linetab_write(int fd, struct dwarf_lines *lines, const struct linetab_owner *o);

#endif
