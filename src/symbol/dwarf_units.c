/* SPDX-License-Identifier: MIT */
/* dwarf_units: see dwarf_units.h; DWARF 5, sections 7.5.1 to 7.5.3. */
#include "symbol/dwarf_units.h"

#include <errno.h>
#include <stdlib.h>

enum {
	AT_STMT_LIST = 0x10,
	AT_COMP_DIR = 0x1b,
	FORM_IMPLICIT_CONST = 0x21,
	UNIT_COMPILE = 0x01,
	UNIT_PARTIAL = 0x03,
	UNIT_SKELETON = 0x04,
};

#define ATTRIBUTES_MAX 256U
#define ATTRIBUTES_LOOK_MAX (1U << 28) /* passed over in search of abbreviations, by all units */

void dwarf_units_done(struct dwarf_units *u)
{
	free(u->units);
	free(u->info.bytes);
	free(u->abbreviations.bytes);
	memset(u, 0, sizeof(*u));
}

/* Moves to where the abbreviation with this code lists its attributes. */
static bool find_abbreviation(struct dwarf_units *u, struct dwarf_cursor *c, uint64_t code)
{
	uint64_t found, name, form;

	while (u->looked_at < ATTRIBUTES_LOOK_MAX) {
		found = dwarf_get_uleb(c);
		if (found == 0 || c->bad)
			return false;
		dwarf_get_uleb(c); /* tag */
		dwarf_get(c, 1);   /* children */
		if (found == code)
			return !c->bad;
		do {
			name = dwarf_get_uleb(c);
			form = dwarf_get_uleb(c);
			if (form == FORM_IMPLICIT_CONST)
				dwarf_get_sleb(c);
			u->looked_at++;
		} while ((name || form) && !c->bad);
	}
	return false;
}

/* The first entry of a unit: `c` is at it, `a` at its attributes. */
static bool read_entry(struct dwarf_cursor *c, struct dwarf_cursor *a,
		       const struct dwarf_context *x, struct dwarf_unit *ret)
{
	bool has_lines = false;
	uint64_t name, form;
	uint32_t i;

	ret->folder = NULL;
	for (i = 0; i < ATTRIBUTES_MAX && !c->bad && !a->bad; i++) {
		struct dwarf_value v;

		name = dwarf_get_uleb(a);
		form = dwarf_get_uleb(a);
		if (form == FORM_IMPLICIT_CONST)
			dwarf_get_sleb(a);
		if (name == 0 && form == 0)
			break;
		v = dwarf_form_get(c, form, x);
		if (name == AT_COMP_DIR && !c->bad)
			ret->folder = v.string;
		if (name == AT_STMT_LIST && !c->bad) {
			ret->lines = v.number;
			has_lines = true;
		}
	}
	return has_lines && ret->folder;
}

/* A unit's header; `c` ends where the unit does. */
static bool read_unit(struct dwarf_units *u, struct dwarf_cursor *c, struct dwarf_context *x,
		      struct dwarf_unit *ret)
{
	struct dwarf_cursor a = { .file = c->file,
				  .p = u->abbreviations.bytes,
				  .end = u->abbreviations.bytes + u->abbreviations.len };
	uint64_t abbreviations, type = UNIT_COMPILE;

	x->version = (unsigned)dwarf_get(c, 2);
	if (x->version < 2 || x->version > 5)
		return false;
	if (x->version == 5) {
		type = dwarf_get(c, 1);
		x->address_size = (unsigned)dwarf_get(c, 1);
	}
	abbreviations = dwarf_get(c, x->offset_size);
	if (x->version < 5)
		x->address_size = (unsigned)dwarf_get(c, 1);
	if (type == UNIT_SKELETON)
		dwarf_get(c, 8);
	if (c->bad || x->address_size > 8 ||
	    (type != UNIT_COMPILE && type != UNIT_PARTIAL && type != UNIT_SKELETON))
		return false;
	return dwarf_take(&a, abbreviations) && find_abbreviation(u, &a, dwarf_get_uleb(c)) &&
	       read_entry(c, &a, x, ret);
}

static int push(struct dwarf_units *u, size_t *room, const struct dwarf_unit *unit)
{
	struct dwarf_unit *moved;

	if (u->n == *room) {
		*room = *room ? *room * 2 : 64;
		moved = realloc(u->units, *room * sizeof(*moved));
		if (!moved)
			return -ENOMEM;
		u->units = moved;
	}
	u->units[u->n++] = *unit;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct dwarf_unit *a = left, *b = right;

	return a->lines < b->lines ? -1 : a->lines > b->lines;
}

static int read_units(struct dwarf_units *u, const struct elf_file *f, struct dwarf_context *x)
{
	struct dwarf_cursor c = { .file = f,
				  .p = u->info.bytes,
				  .end = u->info.bytes + u->info.len };
	size_t room = 0;

	while (dwarf_left(&c) && u->n < DWARF_UNITS_MAX && u->looked_at < ATTRIBUTES_LOOK_MAX) {
		uint64_t length = dwarf_get_length(&c, &x->offset_size);
		struct dwarf_cursor unit = c;
		struct dwarf_unit found;

		if (!dwarf_take(&c, length))
			break;
		unit.end = c.p;
		if (read_unit(u, &unit, x, &found) && push(u, &room, &found) < 0)
			return -ENOMEM;
	}
	if (u->n)
		qsort(u->units, u->n, sizeof(*u->units), compare);
	return 0;
}

static int load(const struct elf_file *f, const char *name, struct dwarf_bytes *ret)
{
	const struct elf_section *s = elf_file_get_section(f, name);

	return s ? elf_file_dup_section(f, s, &ret->bytes, &ret->len) : -ENODATA;
}

int dwarf_units_init(struct dwarf_units *u, const struct elf_file *f,
		     const struct dwarf_bytes *strings, const struct dwarf_bytes *line_strings)
{
	struct dwarf_context x = { .strings = strings, .line_strings = line_strings };
	int r;

	memset(u, 0, sizeof(*u));
	r = load(f, ".debug_info", &u->info);
	if (r == 0)
		r = load(f, ".debug_abbrev", &u->abbreviations);
	if (r == 0)
		r = read_units(u, f, &x);
	return r == -ENOMEM ? r : 0;
}

const char *dwarf_units_get_folder(const struct dwarf_units *u, uint64_t lines)
{
	struct dwarf_unit key = { .lines = lines }, *found;

	if (u->n == 0)
		return NULL;
	found = bsearch(&key, u->units, u->n, sizeof(key), compare);
	return found ? found->folder : NULL;
}
