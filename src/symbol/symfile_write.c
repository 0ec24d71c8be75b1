/* SPDX-License-Identifier: MIT */
/* symfile_write: see symfile_write.h. Rows and names are made in memory, then all is written once. */
#include "symbol/symfile_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "symbol/demangle.h"
#include "wire/crc32c.h"

#define NAMES_FIRST (64U << 10)

struct writing {
	const struct symfile_source *s;
	int fd;
	uint64_t size; /* written */
	uint32_t crc;
	uint8_t *segments, *rows;
	uint32_t n_segments;
	char *names;
	size_t names_len, names_room;
	const char *last_module; /* as it was given */
	uint32_t last_module_at;
};

static int put_name(struct writing *w, const char *name, size_t len, uint32_t *ret)
{
	size_t room = w->names_room ? w->names_room : NAMES_FIRST;
	char *moved;

	if (len >= UINT32_MAX - w->names_len)
		return -E2BIG;
	while (room - w->names_len <= len)
		room *= 2;
	if (room != w->names_room) {
		moved = realloc(w->names, room);
		if (!moved)
			return -ENOMEM;
		w->names = moved;
		w->names_room = room;
	}
	*ret = (uint32_t)w->names_len;
	memcpy(w->names + w->names_len, name, len);
	w->names_len += len;
	w->names[w->names_len++] = 0;
	return 0;
}

/* Symbols of a module follow each other. */
static int put_module(struct writing *w, const struct symtab_symbol *s, uint32_t *ret)
{
	const char *module = w->s->get_module(s);
	int r = 0;

	if (!w->last_module || strcmp(w->last_module, module) != 0)
		r = put_name(w, module, strlen(module), &w->last_module_at);
	w->last_module = module;
	*ret = w->last_module_at;
	return r;
}

/* The name as it is shown, where that is another one. */
static int put_shown(struct writing *w, uint32_t name, uint32_t *ret)
{
	_cleanup_free_ char *shown = NULL;

	*ret = name;
	errno = 0; /* most names are not mangled: that is no failure */
	shown = demangle_dup_entry(w->names + name);
	if (!shown)
		return errno == ENOMEM ? -ENOMEM : 0;
	return put_name(w, shown, strlen(shown), ret);
}

/* A file's name, and where it was put. */
struct file_name {
	const char *text;
	uint32_t number, at;
};

static int compare_names(const void *left, const void *right)
{
	const struct file_name *a = left, *b = right;

	return strcmp(a->text, b->text);
}

/* Every unit of a program names its headers again: each text is written once. */
static int put_files(struct writing *w, uint32_t *offsets)
{
	const struct symfile_lines *lines = w->s->lines;
	_cleanup_free_ struct file_name *names = calloc(lines->n_files + 1, sizeof(*names));
	size_t i, n = 0;
	int r = names ? 0 : -ENOMEM;

	for (i = 0; r == 0 && i < lines->n_files; i++)
		if (lines->files[i])
			names[n++] = (struct file_name){ lines->files[i], (uint32_t)i, 0 };
	if (r == 0)
		qsort(names, n, sizeof(*names), compare_names);
	for (i = 0; r == 0 && i < n; i++) {
		if (i && strcmp(names[i].text, names[i - 1].text) == 0)
			names[i].at = names[i - 1].at;
		else
			r = put_name(w, names[i].text, strlen(names[i].text), &names[i].at);
		offsets[names[i].number] = names[i].at;
	}
	return r;
}

static int make_lines(struct writing *w)
{
	const struct symfile_lines *lines = w->s->lines;
	_cleanup_free_ uint32_t *offsets = calloc(lines->n_files + 1, sizeof(*offsets));
	size_t i;
	int r = offsets ? put_files(w, offsets) : -ENOMEM;

	for (i = 0; r == 0 && i < symtab_count(w->s->table); i++) {
		const struct symfile_place *place = &lines->places[i];
		uint8_t *p = w->rows + i * SYMFILE_SYMBOL_LEN;

		put_le64(p, symtab_get_symbol(w->s->table, i)->start);
		put_le32(p + 8, offsets[place->file]);
		put_le32(p + 12, place->line);
	}
	return r;
}

static int make_rows(struct writing *w)
{
	const struct symtab *t = w->s->table;
	size_t n = symtab_count(t), i;
	int r;

	w->rows = calloc(n + 1, SYMFILE_SYMBOL_LEN);
	if (!w->rows)
		return -ENOMEM;
	/* There is always a name, so that the last byte ends one. */
	r = put_name(w, "", 0, &w->last_module_at);
	if (r == 0 && w->s->lines)
		return make_lines(w);
	for (i = 0; i < n && r == 0; i++) {
		const struct symtab_symbol *s = symtab_get_symbol(t, i);
		uint8_t *p = w->rows + i * SYMFILE_SYMBOL_LEN;
		uint32_t name = 0, other = 0;

		r = put_name(w, s->name, s->name_len, &name);
		if (r == 0 && w->s->get_module)
			r = put_module(w, s, &other);
		else if (r == 0)
			r = put_shown(w, name, &other);
		put_le64(p, s->start);
		put_le32(p + 8, name);
		put_le32(p + 12, other);
	}
	return r;
}

static int make_segments(struct writing *w)
{
	const struct elf_file *f = w->s->file;
	size_t i;

	w->segments = calloc((f ? f->n_segments : 0) + 1, SYMFILE_SEGMENT_LEN);
	if (!w->segments)
		return -ENOMEM;
	for (i = 0; f && i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];
		uint8_t *p = w->segments + (size_t)w->n_segments * SYMFILE_SEGMENT_LEN;

		if (s->type != PT_LOAD)
			continue;
		put_le32(p, s->flags);
		put_le64(p + 8, s->offset);
		put_le64(p + 16, s->address);
		put_le64(p + 24, s->file_size);
		w->n_segments++;
	}
	return 0;
}

static int write_at(int fd, const uint8_t *p, size_t len, uint64_t at)
{
	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)at);

		if (n < 0 && errno != EINTR)
			return -errno;
		p += n > 0 ? n : 0;
		at += n > 0 ? (uint64_t)n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int put_part(struct writing *w, const void *part, size_t len)
{
	int r = len ? write_at(w->fd, part, len, w->size) : 0;

	if (len)
		w->crc = crc32c_add(w->crc, part, len);
	w->size += len;
	return r < 0 ? r : w->size > SYMFILE_BYTES_MAX ? -E2BIG : 0;
}

static int put_body(struct writing *w)
{
	static const uint8_t no_pages[EDGES_PAGE_LEN];
	const struct edges *e = symtab_get_edges(w->s->table);
	int r = put_part(w, w->segments, (size_t)w->n_segments * SYMFILE_SEGMENT_LEN);

	if (r == 0)
		r = put_part(w, w->rows, symtab_count(w->s->table) * SYMFILE_SYMBOL_LEN);
	if (r == 0)
		r = put_part(w, e->edge, (size_t)e->n * EDGE_LEN);
	if (r == 0 && e->places)
		r = put_part(w, e->places, (size_t)e->n * EDGE_PLACE_LEN);
	if (r == 0)
		r = put_part(w, e->pages ? e->pages : no_pages,
			     ((size_t)e->n_pages + 1) * EDGES_PAGE_LEN);
	return r < 0 ? r : put_part(w, w->names, w->names_len);
}

static int put_head(const struct writing *w)
{
	const struct edges *e = symtab_get_edges(w->s->table);
	uint8_t p[SYMFILE_HEAD_LEN] = SYMFILE_MAGIC;
	const uint16_t machine = w->s->file ? w->s->file->machine : 0;

	p[8] = SYMFILE_VERSION;
	p[9] = (uint8_t)w->s->kind;
	p[10] = (uint8_t)(w->s->flags | (e->n && e->places ? SYMFILE_FAR : 0));
	p[11] = (uint8_t)e->shift;
	put_le64(p + 16, w->size);
	put_le64(p + 24, e->base);
	put_le32(p + 32, e->n_pages);
	put_le32(p + 36, e->n);
	put_le32(p + 40, (uint32_t)symtab_count(w->s->table));
	put_le32(p + 44, w->n_segments);
	put_le64(p + 48, w->names_len);
	p[56] = (uint8_t)machine;
	p[57] = (uint8_t)(machine >> 8);
	p[58] = (uint8_t)w->s->id_len;
	put_le32(p + 60, w->crc);
	memcpy(p + 64, w->s->id, w->s->id_len);
	put_le32(p + 12, crc32c_add(crc32c_add(0, p, 12), p + 16, SYMFILE_HEAD_LEN - 16));
	return write_at(w->fd, p, sizeof(p), 0);
}

int symfile_write(int fd, const struct symfile_source *s)
{
	struct writing w = { .s = s, .fd = fd, .size = SYMFILE_HEAD_LEN };
	int r;

	if (s->id_len == 0 || s->id_len > SYMFILE_ID_MAX)
		return -EINVAL;
	r = make_segments(&w);
	if (r == 0)
		r = make_rows(&w);
	if (r == 0)
		r = put_body(&w);
	if (r == 0)
		r = put_head(&w);
	free(w.segments);
	free(w.rows);
	free(w.names);
	return r;
}
