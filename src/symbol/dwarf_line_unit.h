/* SPDX-License-Identifier: MIT */
/*
 * dwarf_line_unit: the head of a unit of .debug_line, with its files, and its program.
 *
 * Nothing is kept of a unit but where it lies: its files are looked through when one is asked for,
 * its program is run again from the start of a sequence. Both take microseconds, where a table of
 * all rows would take several times the memory of the section.
 */
#ifndef KISEKI_SYMBOL_DWARF_LINE_UNIT_H
#define KISEKI_SYMBOL_DWARF_LINE_UNIT_H

#include "symbol/dwarf_form.h"

struct dwarf_line_unit {
	uint64_t offset; /* in the section */
	struct dwarf_context context;
	uint8_t min_length, max_ops, line_range, opcode_base;
	int8_t line_base;
	const uint8_t *opcode_lengths;
	struct dwarf_cursor files;   /* at the table of folders */
	struct dwarf_cursor program; /* from its first to its last byte */
};

/* A row of the matrix that a program stands for. */
struct dwarf_row {
	uint64_t address;
	uint64_t file;
	uint32_t line;
	unsigned op;
	bool is_end; /* the first address behind the sequence */
};

/* Reads the unit at the cursor, and moves it behind. 1; 0: it cannot be read, and the cursor is behind
 * it; < 0: nor can what follows. context.strings and line_strings are to be set before. */
int dwarf_line_unit_parse(struct dwarf_cursor *c, struct dwarf_line_unit *ret);

/* Runs up to the next row: 1; 0: the end, or damage. A row is all zero, but line and file 1, at the
 * start of a sequence: dwarf_row_init. */
int dwarf_line_unit_next(const struct dwarf_line_unit *u, struct dwarf_cursor *at,
			 struct dwarf_row *row);
void dwarf_row_init(struct dwarf_row *row);

/* The name and the folder of a file, as they are written; *ret_folder is NULL for the folder in which
 * the unit was compiled, *ret_base what a relative folder is relative to, if the unit says so. */
bool dwarf_line_unit_get_file(const struct dwarf_line_unit *u, uint64_t number,
			      const char **ret_name, const char **ret_folder,
			      const char **ret_base);

#endif
