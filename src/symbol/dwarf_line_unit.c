/* SPDX-License-Identifier: MIT */
/* dwarf_line_unit: see dwarf_line_unit.h; DWARF 5, section 6.2, and what DWARF 2 to 4 do otherwise. */
#include "symbol/dwarf_line_unit.h"

enum {
	LNS_COPY = 1,
	LNS_ADVANCE_PC = 2,
	LNS_ADVANCE_LINE = 3,
	LNS_SET_FILE = 4,
	LNS_CONST_ADD_PC = 8,
	LNS_FIXED_ADVANCE_PC = 9,
	LNE_END_SEQUENCE = 1,
	LNE_SET_ADDRESS = 2,
	LNCT_PATH = 1,
	LNCT_DIRECTORY_INDEX = 2,
};

#define FORMATS_MAX 32U
#define ENTRIES_MAX (1U << 20) /* folders or files of one unit */

static bool read_head(struct dwarf_cursor *c, struct dwarf_line_unit *u)
{
	const uint8_t *program;
	uint64_t length;

	u->context.version = (unsigned)dwarf_get(c, 2);
	if (u->context.version < 2 || u->context.version > 5)
		return false;
	u->context.address_size = c->file->wide ? 8 : 4;
	if (u->context.version == 5) {
		u->context.address_size = (unsigned)dwarf_get(c, 1);
		dwarf_get(c, 1); /* segment selectors */
	}
	if (u->context.address_size > 8)
		return false;
	length = dwarf_get(c, u->context.offset_size);
	u->files = *c;
	u->program = *c;
	program = dwarf_take(&u->program, length) ? u->program.p : NULL;
	if (!program)
		return false;
	u->files.end = program;
	u->min_length = (uint8_t)dwarf_get(&u->files, 1);
	u->max_ops = u->context.version >= 4 ? (uint8_t)dwarf_get(&u->files, 1) : 1;
	dwarf_get(&u->files, 1); /* is_stmt */
	u->line_base = (int8_t)(uint8_t)dwarf_get(&u->files, 1);
	u->line_range = (uint8_t)dwarf_get(&u->files, 1);
	u->opcode_base = (uint8_t)dwarf_get(&u->files, 1);
	u->opcode_lengths = u->opcode_base ? dwarf_take(&u->files, u->opcode_base - 1U) : NULL;
	return u->opcode_lengths && u->line_range && u->max_ops;
}

int dwarf_line_unit_parse(struct dwarf_cursor *c, struct dwarf_line_unit *ret)
{
	uint64_t length = dwarf_get_length(c, &ret->context.offset_size);
	struct dwarf_cursor unit = *c;

	if (!dwarf_take(c, length))
		return -1;
	unit.end = c->p;
	return read_head(&unit, ret);
}

void dwarf_row_init(struct dwarf_row *row)
{
	memset(row, 0, sizeof(*row));
	row->file = 1;
	row->line = 1;
}

static void advance(const struct dwarf_line_unit *u, struct dwarf_row *row, uint64_t operations)
{
	uint64_t ops = row->op + operations;

	row->address += u->min_length * (ops / u->max_ops);
	row->op = (unsigned)(ops % u->max_ops);
}

/* What has a length in front, so that the unknown can be passed over. True: a row. */
static bool run_extended(struct dwarf_cursor *at, struct dwarf_row *row)
{
	uint64_t length = dwarf_get_uleb(at);
	struct dwarf_cursor inner = *at;
	uint64_t opcode;

	if (length == 0 || !dwarf_take(at, length))
		return false;
	inner.end = at->p;
	opcode = dwarf_get(&inner, 1);
	if (opcode == LNE_END_SEQUENCE) {
		row->is_end = true;
		return true;
	}
	if (opcode == LNE_SET_ADDRESS && (length == 5 || length == 9 || length == 3)) {
		row->address = dwarf_get(&inner, (unsigned)length - 1);
		row->op = 0;
	}
	return false;
}

/* True: a row. */
static bool run_standard(const struct dwarf_line_unit *u, struct dwarf_cursor *at, uint8_t opcode,
			 struct dwarf_row *row)
{
	uint8_t i;

	switch (opcode) {
	case LNS_COPY:
		return true;
	case LNS_ADVANCE_PC:
		advance(u, row, dwarf_get_uleb(at));
		return false;
	case LNS_ADVANCE_LINE:
		row->line += (uint32_t)dwarf_get_sleb(at);
		return false;
	case LNS_SET_FILE:
		row->file = dwarf_get_uleb(at);
		return false;
	case LNS_CONST_ADD_PC:
		advance(u, row, (255U - u->opcode_base) / u->line_range);
		return false;
	case LNS_FIXED_ADVANCE_PC:
		row->address += dwarf_get(at, 2);
		row->op = 0;
		return false;
	default:
		for (i = 0; i < u->opcode_lengths[opcode - 1]; i++)
			dwarf_get_uleb(at);
		return false;
	}
}

int dwarf_line_unit_next(const struct dwarf_line_unit *u, struct dwarf_cursor *at,
			 struct dwarf_row *row)
{
	bool is_row = false;
	uint8_t opcode;

	if (row->is_end)
		dwarf_row_init(row);
	while (!is_row && dwarf_left(at)) {
		opcode = (uint8_t)dwarf_get(at, 1);
		if (opcode >= u->opcode_base) {
			opcode = (uint8_t)(opcode - u->opcode_base);
			advance(u, row, opcode / u->line_range);
			row->line += (uint32_t)(u->line_base + opcode % u->line_range);
			is_row = true;
		} else if (opcode == 0) {
			is_row = run_extended(at, row);
		} else {
			is_row = run_standard(u, at, opcode, row);
		}
	}
	return is_row;
}

/* Folders and files of DWARF 2 to 4: strings, ended by an empty one. */
static bool get_file_4(const struct dwarf_line_unit *u, uint64_t number, const char **ret_name,
		       const char **ret_folder)
{
	struct dwarf_cursor c = u->files, folders = u->files;
	const char *name = "";
	uint64_t folder = 0, i;

	while (*dwarf_get_string(&c))
		;
	for (i = 0; i < number && !c.bad; i++) {
		name = dwarf_get_string(&c);
		if (!*name)
			return false;
		folder = dwarf_get_uleb(&c);
		dwarf_get_uleb(&c); /* time */
		dwarf_get_uleb(&c); /* length */
	}
	*ret_name = name;
	*ret_folder = NULL;
	for (i = 0; i < folder; i++) {
		*ret_folder = dwarf_get_string(&folders);
		if (!**ret_folder)
			return false;
	}
	return number && *name && !c.bad;
}

struct formats {
	uint64_t content[FORMATS_MAX], form[FORMATS_MAX];
	uint64_t n, entries;
};

static bool get_formats(struct dwarf_cursor *c, struct formats *ret)
{
	uint64_t i;

	ret->n = dwarf_get(c, 1);
	for (i = 0; i < ret->n && i < FORMATS_MAX; i++) {
		ret->content[i] = dwarf_get_uleb(c);
		ret->form[i] = dwarf_get_uleb(c);
	}
	ret->entries = dwarf_get_uleb(c);
	if (ret->n > FORMATS_MAX || ret->entries > ENTRIES_MAX)
		dwarf_give_up(c);
	return !c->bad;
}

static void get_entry(const struct dwarf_line_unit *u, struct dwarf_cursor *c,
		      const struct formats *f, const char **ret_path, uint64_t *ret_folder)
{
	struct dwarf_value v;
	uint64_t i;

	*ret_path = NULL;
	*ret_folder = 0;
	for (i = 0; i < f->n; i++) {
		v = dwarf_form_get(c, f->form[i], &u->context);
		if (f->content[i] == LNCT_PATH)
			*ret_path = v.string;
		if (f->content[i] == LNCT_DIRECTORY_INDEX)
			*ret_folder = v.number;
	}
}

/* Entry `number` of the table at the cursor, which is moved behind the table. */
static const char *get_numbered(const struct dwarf_line_unit *u, struct dwarf_cursor *c,
				uint64_t number, uint64_t *ret_folder)
{
	const char *path, *found = NULL;
	struct formats f;
	uint64_t i, folder;

	if (!get_formats(c, &f))
		return NULL;
	for (i = 0; i < f.entries && !c->bad; i++) {
		get_entry(u, c, &f, &path, &folder);
		if (i == number && !c->bad) {
			found = path;
			*ret_folder = folder;
		}
	}
	return found;
}

/* DWARF 5: tables that say themselves what they have; folder 0 is that of the compilation. */
static bool get_file_5(const struct dwarf_line_unit *u, uint64_t number, const char **ret_name,
		       const char **ret_folder, const char **ret_base)
{
	struct dwarf_cursor c = u->files, again = u->files;
	uint64_t folder = 0, ignored;

	*ret_base = get_numbered(u, &c, 0, &ignored);
	*ret_name = c.bad ? NULL : get_numbered(u, &c, number, &folder);
	*ret_folder = folder ? get_numbered(u, &again, folder, &ignored) : NULL;
	return *ret_name && **ret_name;
}

bool dwarf_line_unit_get_file(const struct dwarf_line_unit *u, uint64_t number,
			      const char **ret_name, const char **ret_folder, const char **ret_base)
{
	*ret_base = NULL;
	if (u->context.version == 5)
		return get_file_5(u, number, ret_name, ret_folder, ret_base);
	return get_file_4(u, number, ret_name, ret_folder);
}
