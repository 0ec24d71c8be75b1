/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lines: see dwarf_lines.h.
 *
 * Opening runs all programs once and keeps where each sequence of rows lies, in the section and in
 * memory; a question runs one sequence again. Sequences that do not begin in code are those of
 * functions that the linker has thrown away, and left at address 0.
 */
#include "symbol/dwarf_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbol/dwarf_line_unit.h"
#include "symbol/dwarf_units.h"

#define NESTED_MAX                                                                                 \
	16U /* sequences that may lie over each other; more deeply no compiler puts any */

struct sequence {
	uint64_t low, high;
	size_t unit, program; /* offsets in the section */
	uint32_t outer; /* 1 + the number of the last that is not over where this begins; 0: none */
	uint32_t depth; /* how many are open then, with this */
};

struct path {
	size_t unit;
	uint64_t file;
	uint32_t number; /* how many were made before it */
	char *text;
};

struct dwarf_lines {
	struct elf_file order; /* nothing but word size and byte order */
	struct dwarf_bytes lines, line_strings, strings;
	struct dwarf_units units;
	struct sequence *sequences; /* by `low` */
	size_t n, room;
	struct path *paths; /* those that were asked for, sorted */
	size_t n_paths;
};

DEFINE_CLEANUP(dwarf_lines, dwarf_lines_free)

void dwarf_lines_free(struct dwarf_lines *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->n_paths; i++)
		free(l->paths[i].text);
	free(l->paths);
	free(l->sequences);
	dwarf_units_done(&l->units);
	free(l->lines.bytes);
	free(l->line_strings.bytes);
	free(l->strings.bytes);
	free(l);
}

static int push_sequence(struct dwarf_lines *l, const struct sequence *s)
{
	size_t room = l->room ? l->room * 2 : 256;
	struct sequence *moved;

	if (l->n >= DWARF_SEQUENCES_MAX)
		return -E2BIG;
	if (l->n == l->room) {
		moved = realloc(l->sequences, room * sizeof(*moved));
		if (!moved)
			return -ENOMEM;
		l->sequences = moved;
		l->room = room;
	}
	l->sequences[l->n++] = *s;
	return 0;
}

static int index_unit(struct dwarf_lines *l, const struct elf_file *f, size_t offset,
		      const struct dwarf_line_unit *u)
{
	struct dwarf_cursor at = u->program;
	struct sequence s = { .unit = offset };
	struct dwarf_row row;
	bool inside = false;
	int r = 0;

	dwarf_row_init(&row);
	s.program = (size_t)(at.p - l->lines.bytes);
	while (r == 0 && dwarf_line_unit_next(u, &at, &row)) {
		if (!inside)
			s.low = row.address;
		inside = !row.is_end;
		if (inside)
			continue;
		s.high = row.address;
		if (s.high > s.low && elf_file_find_code(f, s.low))
			r = push_sequence(l, &s);
		s.program = (size_t)(at.p - l->lines.bytes);
	}
	return r;
}

static int compare_sequences(const void *left, const void *right)
{
	const struct sequence *a = left, *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return (a->program > b->program) - (a->program < b->program);
}

/* Finds what each sequence lies in; those that lie too deep are left out. */
static void nest_sequences(struct dwarf_lines *l)
{
	struct sequence *const all = l->sequences;
	size_t i, n = 0;

	for (i = 0; i < l->n; i++) {
		struct sequence s = all[i];

		s.outer = (uint32_t)n;
		while (s.outer && all[s.outer - 1].high <= s.low)
			s.outer = all[s.outer - 1].outer;
		s.depth = s.outer ? all[s.outer - 1].depth + 1 : 1;
		if (s.depth <= NESTED_MAX)
			all[n++] = s;
	}
	l->n = n;
}

static struct dwarf_cursor cursor_at(const struct dwarf_lines *l, size_t offset)
{
	struct dwarf_cursor c = { .file = &l->order,
				  .p = l->lines.bytes + offset,
				  .end = l->lines.bytes + l->lines.len };

	return c;
}

static int index_lines(struct dwarf_lines *l, const struct elf_file *f, bool *ret_old)
{
	struct dwarf_cursor c = cursor_at(l, 0);
	int is, r = 0;

	*ret_old = false;
	while (r == 0 && dwarf_left(&c)) {
		struct dwarf_line_unit u = { .context = { .strings = &l->strings,
							  .line_strings = &l->line_strings } };
		size_t offset = (size_t)(c.p - l->lines.bytes);

		is = dwarf_line_unit_parse(&c, &u);
		if (is < 0)
			break;
		if (is == 1)
			r = index_unit(l, f, offset, &u);
		*ret_old = *ret_old || (is == 1 && u.context.version < 5);
	}
	if (l->n)
		qsort(l->sequences, l->n, sizeof(*l->sequences), compare_sequences);
	nest_sequences(l);
	return r;
}

static int load(const struct elf_file *f, const char *name, struct dwarf_bytes *ret)
{
	const struct elf_section *s = elf_file_get_section(f, name);
	int r = s ? elf_file_dup_section(f, s, &ret->bytes, &ret->len) : -ENODATA;

	return r;
}

int dwarf_lines_open(const struct elf_file *f, struct dwarf_lines **ret)
{
	CLEANUP(dwarf_lines) struct dwarf_lines *l = calloc(1, sizeof(*l));
	bool old = false;
	int r;

	if (!l)
		return -ENOMEM;
	l->order = (struct elf_file){ .fd = -1, .wide = f->wide, .big = f->big };
	r = load(f, ".debug_line", &l->lines);
	if (r == 0 && load(f, ".debug_line_str", &l->line_strings) == -ENOMEM)
		r = -ENOMEM;
	if (r == 0 && load(f, ".debug_str", &l->strings) == -ENOMEM)
		r = -ENOMEM;
	if (r == 0)
		r = index_lines(l, f, &old);
	if (r == 0 && old)
		r = dwarf_units_init(&l->units, f, &l->strings, &l->line_strings);
	if (r < 0)
		return r;
	*ret = take_ptr(l);
	return 0;
}

/* The last row at or before the address, within one sequence; its line is 0 where there is none. */
static void find_row(struct dwarf_lines *l, const struct sequence *s, uint64_t address,
		     struct dwarf_row *ret)
{
	struct dwarf_line_unit u = { .context = { .strings = &l->strings,
						  .line_strings = &l->line_strings } };
	struct dwarf_cursor c = cursor_at(l, s->unit), at;
	struct dwarf_row row;

	memset(ret, 0, sizeof(*ret));
	if (dwarf_line_unit_parse(&c, &u) != 1)
		return;
	at = u.program;
	at.p = l->lines.bytes + s->program;
	dwarf_row_init(&row);
	while (dwarf_line_unit_next(&u, &at, &row) && !row.is_end && row.address <= address)
		*ret = row;
}

static const struct sequence *find_sequence(const struct dwarf_lines *l, uint64_t address)
{
	size_t low = 0, high = l->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (l->sequences[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low && address >= l->sequences[low - 1].high)
		low = l->sequences[low - 1].outer;
	return low ? &l->sequences[low - 1] : NULL;
}

/* NULL: no memory. */
static char *make_path(const struct dwarf_lines *l, size_t unit, uint64_t file)
{
	struct dwarf_line_unit u = { .context = { .strings = &l->strings,
						  .line_strings = &l->line_strings } };
	struct dwarf_cursor c = cursor_at(l, unit);
	const char *name, *folder, *base;
	char *path;

	if (dwarf_line_unit_parse(&c, &u) != 1 ||
	    !dwarf_line_unit_get_file(&u, file, &name, &folder, &base))
		return strdup("");
	if (name[0] == '/')
		return strdup(name);
	if (!base)
		base = dwarf_units_get_folder(&l->units, unit);
	if (!folder || !folder[0]) {
		folder = base;
		base = NULL;
	}
	if (!folder)
		return strdup(name);
	if (folder[0] == '/' || !base)
		return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
	return asprintf(&path, "%s/%s/%s", base, folder, name) < 0 ? NULL : path;
}

static int compare_paths(const struct path *a, const struct path *b)
{
	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return a->file < b->file ? -1 : a->file > b->file;
}

/* Where this path is among those that were made, or belongs. */
static size_t find_path(const struct dwarf_lines *l, const struct path *key)
{
	size_t low = 0, high = l->n_paths, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_paths(&l->paths[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The path of a unit's file, made once, and valid until the next. NULL: no memory. */
static const struct path *get_path(struct dwarf_lines *l, size_t unit, uint64_t file)
{
	struct path key = { .unit = unit, .file = file, .number = (uint32_t)l->n_paths }, *moved;
	const size_t at = find_path(l, &key);

	if (at < l->n_paths && compare_paths(&l->paths[at], &key) == 0)
		return &l->paths[at];
	moved = realloc(l->paths, (l->n_paths + 1) * sizeof(*moved));
	if (!moved)
		return NULL;
	l->paths = moved;
	key.text = make_path(l, unit, file);
	if (!key.text)
		return NULL;
	memmove(&l->paths[at + 1], &l->paths[at], (l->n_paths - at) * sizeof(*moved));
	l->paths[at] = key;
	l->n_paths++;
	return &l->paths[at];
}

int dwarf_lines_find(struct dwarf_lines *l, uint64_t address, const char **ret_file,
		     uint32_t *ret_line)
{
	const struct sequence *s = find_sequence(l, address);
	const struct path *path;
	struct dwarf_row row;

	if (!s)
		return 0;
	find_row(l, s, address, &row);
	if (!row.line)
		return 0;
	path = get_path(l, s->unit, row.file);
	if (!path)
		return -ENOMEM;
	if (!path->text[0])
		return 0;
	*ret_file = path->text;
	*ret_line = row.line;
	return 1;
}

/* --- all lines --- */

/* A sequence on its way: `row` is the line of where we are, `next` the row behind it. */
struct walker {
	const struct sequence *sequence;
	struct dwarf_line_unit unit;
	struct dwarf_cursor at;
	struct dwarf_row row, next;
	bool is_last;	  /* no row behind it */
	struct path path; /* of row.file, if has_path */
	bool has_path;
};

/* Sequences that have begun and are not over, the innermost last: it has the address, as in a search. */
struct walk {
	struct dwarf_lines *lines;
	int (*take)(void *context, const struct dwarf_piece *p);
	void *context;
	struct walker open[NESTED_MAX];
	size_t depth;
	uint64_t at;
};

static void read_next(struct walker *w)
{
	w->is_last = !dwarf_line_unit_next(&w->unit, &w->at, &w->next) || w->next.is_end;
}

static void begin_walker(const struct dwarf_lines *l, const struct sequence *s, struct walker *w)
{
	struct dwarf_cursor c = cursor_at(l, s->unit);

	*w = (struct walker){ .sequence = s,
			      .unit.context = { .strings = &l->strings,
						.line_strings = &l->line_strings },
			      .is_last = true };
	if (dwarf_line_unit_parse(&c, &w->unit) != 1)
		return;
	w->at = w->unit.program;
	w->at.p = l->lines.bytes + s->program;
	dwarf_row_init(&w->next);
	read_next(w);
}

static int take_piece(struct walk *k, struct walker *w, uint64_t from, uint64_t to)
{
	struct dwarf_piece piece = { .from = from, .to = to, .line = w->row.line };
	const struct path *path;

	if (!w->row.line)
		return 0;
	if (!w->has_path || w->path.file != w->row.file) {
		path = get_path(k->lines, w->sequence->unit, w->row.file);
		if (!path)
			return -ENOMEM;
		w->path = *path;
		w->has_path = true;
	}
	piece.file = w->path.text;
	piece.file_number = w->path.number;
	return piece.file[0] ? k->take(k->context, &piece) : 0;
}

/* Gives the innermost sequence's pieces up to here. */
static int walk_to(struct walk *k, struct walker *w, uint64_t to)
{
	uint64_t end;
	int r = 0;

	while (r == 0 && k->at < to) {
		while (!w->is_last && w->next.address <= k->at) {
			w->row = w->next;
			read_next(w);
		}
		end = !w->is_last && w->next.address < to ? w->next.address : to;
		r = take_piece(k, w, k->at, end);
		k->at = end;
	}
	return r;
}

/* Ends the sequences that are over before an address, which the rest has up to there. */
static int end_sequences(struct walk *k, uint64_t before)
{
	int r = 0;

	while (r == 0 && k->depth) {
		struct walker *w = &k->open[k->depth - 1];
		const uint64_t high = w->sequence->high;

		r = walk_to(k, w, high < before ? high : before);
		if (high > before)
			break;
		k->depth--;
	}
	return r;
}

int dwarf_lines_walk(struct dwarf_lines *l, int (*take)(void *context, const struct dwarf_piece *p),
		     void *context)
{
	_cleanup_free_ struct walk *k = calloc(1, sizeof(*k));
	size_t i;
	int r = 0;

	if (!k)
		return -ENOMEM;
	k->lines = l;
	k->take = take;
	k->context = context;
	for (i = 0; i < l->n && r == 0; i++) {
		r = end_sequences(k, l->sequences[i].low);
		begin_walker(l, &l->sequences[i], &k->open[k->depth++]);
		k->at = l->sequences[i].low;
	}
	return r < 0 ? r : end_sequences(k, UINT64_MAX);
}
