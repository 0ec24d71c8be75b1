/* SPDX-License-Identifier: MIT */
/*
 * dwarf_units: in which folder each unit was compiled.
 *
 * Up to DWARF 4 the line tables name files relative to a folder that only .debug_info knows: the
 * first entry of a unit has it, beside the place of the unit's line table. Nothing else is read.
 */
#ifndef KISEKI_SYMBOL_DWARF_UNITS_H
#define KISEKI_SYMBOL_DWARF_UNITS_H

#include "symbol/dwarf_form.h"

#define DWARF_UNITS_MAX (1U << 20)

struct dwarf_unit {
	uint64_t lines; /* offset in .debug_line */
	const char *folder;
};

/* `looked_at` counts attributes, so that a file made for it cannot make us look for ever. */
struct dwarf_units {
	struct dwarf_unit *units; /* by `lines` */
	size_t n;
	struct dwarf_bytes info, abbreviations;
	uint32_t looked_at;
};

/* `strings` and `line_strings` stay as long as the units. What cannot be read is left out. -ENOMEM. */
int dwarf_units_init(struct dwarf_units *u, const struct elf_file *f,
		     const struct dwarf_bytes *strings, const struct dwarf_bytes *line_strings);
void dwarf_units_done(struct dwarf_units *u);

/* NULL: not known. */
const char *dwarf_units_get_folder(const struct dwarf_units *u, uint64_t lines);

#endif
