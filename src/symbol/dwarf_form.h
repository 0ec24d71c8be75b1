/* SPDX-License-Identifier: MIT */
/*
 * dwarf_form: a value in any of the forms that DWARF 2 to 5 write values in.
 *
 * Strings and numbers are given; everything else is passed over, which needs its size. A form that is
 * not known makes the cursor bad, since what follows cannot be found.
 */
#ifndef KISEKI_SYMBOL_DWARF_FORM_H
#define KISEKI_SYMBOL_DWARF_FORM_H

#include "symbol/dwarf_cursor.h"

struct dwarf_bytes {
	uint8_t *bytes; /* with a NUL behind; NULL: there is no such section */
	size_t len;
};

/* Where strings lie that stand apart, and how wide things are in this unit. */
struct dwarf_context {
	const struct dwarf_bytes *strings, *line_strings;
	unsigned offset_size, address_size, version;
};

struct dwarf_value {
	uint64_t number;
	const char *string; /* NULL: it is none */
};

struct dwarf_value dwarf_form_get(struct dwarf_cursor *c, uint64_t form,
				  const struct dwarf_context *x);

#endif
