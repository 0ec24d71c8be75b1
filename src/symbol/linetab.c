/* SPDX-License-Identifier: MIT */
/*
 * linetab: see linetab.h. Neighbours of one line are one piece: compilers write a row wherever a statement
 * begins again.
 */
#include "symbol/linetab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define FIRST_ROOM 4096U

struct gathering {
	struct symtab *table;
	uint64_t bias;
	struct symtab_item last; /* not pushed yet; end 0: none */
	struct symfile_place last_place;
	struct symfile_place *places; /* of each item */
	size_t n, room;
	const char **files; /* by number; NULL: no piece has it */
	size_t n_files, room_files;
};

/* Room for one more; what is new is zeros. */
static void *grow(void *list, size_t *room, size_t wanted, size_t size)
{
	size_t to = *room ? *room : FIRST_ROOM;
	char *moved;

	if (wanted <= *room)
		return list;
	while (to < wanted)
		to *= 2;
	moved = reallocarray(list, to, size);
	if (!moved)
		return NULL;
	memset(moved + *room * size, 0, (to - *room) * size);
	*room = to;
	return moved;
}

static int push_last(struct gathering *g)
{
	struct symfile_place *places;
	int r;

	if (!g->last.end)
		return 0;
	places = grow(g->places, &g->room, g->n + 1, sizeof(*places));
	if (!places)
		return -ENOMEM;
	g->places = places;
	r = symtab_push(g->table, &g->last);
	g->places[g->n++] = g->last_place;
	g->last.end = 0;
	return r;
}

static int keep_file(struct gathering *g, const struct dwarf_piece *p)
{
	const char **files;

	if (p->file_number >= LINETAB_FILES_MAX)
		return -E2BIG;
	files = grow(g->files, &g->room_files, (size_t)p->file_number + 1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	g->files = files;
	g->files[p->file_number] = p->file;
	if (g->n_files <= p->file_number)
		g->n_files = (size_t)p->file_number + 1;
	return 0;
}

static int take(void *context, const struct dwarf_piece *p)
{
	struct gathering *g = context;
	const struct symfile_place place = { p->file_number, p->line };
	int r;

	if (g->last.end == p->from + g->bias && g->last_place.file == place.file &&
	    g->last_place.line == place.line) {
		g->last.end = p->to + g->bias;
		return 0;
	}
	r = push_last(g);
	if (r == 0)
		r = keep_file(g, p);
	g->last = (struct symtab_item){ .start = p->from + g->bias,
					.end = p->to + g->bias,
					.name = "" };
	g->last_place = place;
	/* A bias of garbage may wrap. */
	if (g->last.end <= g->last.start)
		g->last.end = 0;
	return r;
}

static int write_gathered(int fd, struct gathering *g, const struct linetab_owner *o)
{
	struct symfile_lines lines = { .places = g->places,
				       .files = g->files,
				       .n_files = g->n_files };
	const struct symfile_source source = { .kind = SYMFILE_LINES,
					       .id = o->id,
					       .id_len = o->id_len,
					       .table = g->table,
					       .file = o->file,
					       .lines = &lines };
	int r = g->n ? symtab_index(g->table) : -ENODATA;

	/* Places are found by their number, so none may have been joined to another. */
	if (r == 0 && symtab_count(g->table) != g->n)
		r = -EBADMSG;
	return r < 0 ? r : symfile_write(fd, &source);
}

int linetab_write(int fd, struct dwarf_lines *lines, const struct linetab_owner *o)
{
	struct gathering g = { .table = symtab_new(), .bias = o->bias };
	int r = g.table ? dwarf_lines_walk(lines, take, &g) : -ENOMEM;

	if (r == 0)
		r = push_last(&g);
	if (r == 0)
		r = write_gathered(fd, &g, o);
	symtab_free(g.table);
	free(g.places);
	free(g.files);
	return r;
}
