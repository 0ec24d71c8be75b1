/* SPDX-License-Identifier: MIT */
/* functions: see functions.h. */
#include "analysis/functions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

struct function_row {
	struct function_like like;
	uint32_t id;
	char *text; /* owned: the name, where no table has it, or name and object one behind the other */
};

void functions_init(struct functions *f)
{
	memset(f, 0, sizeof(*f));
	hashtable_init(&f->table, FUNCTIONS_MAX);
}

static void free_row(struct function_row *row)
{
	free(row->text);
	free(row);
}

void functions_done(struct functions *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		free_row(f->list[i]);
	hashtable_done(&f->table);
	free(f->list);
	memset(f, 0, sizeof(*f));
}

static uint64_t hash_text(uint64_t h, const char *text)
{
	for (; text && *text; text++)
		h = (h ^ (uint8_t)*text) * 0x100000001b3ULL;
	return h;
}

static uint64_t hash_like(const struct function_like *l)
{
	uint64_t h = hash_text(l->start, l->object == FUNCTION_OF_TEXT ? l->text : NULL);

	if (l->object == FUNCTION_OF_LABEL)
		h = hash_text(hash_text(h, l->shown.name) + 1, l->shown.object);
	return hashtable_hash_number(h ^ hashtable_hash_number(l->object));
}

static bool is_like(const void *entry, const void *key)
{
	const struct function_like *a = &((const struct function_row *)entry)->like, *b = key;

	if (a->object != b->object || a->start != b->start)
		return false;
	if (a->object == FUNCTION_OF_LABEL)
		return !strcmp(a->shown.name, b->shown.name) &&
		       !strcmp(a->shown.object, b->shown.object);
	return a->object != FUNCTION_OF_TEXT || !strcmp(a->text, b->text);
}

/* A name that is made of the object and the place in it. */
static int make_name(struct function_row *row, uint64_t offset)
{
	struct function *shown = &row->like.shown;

	if (asprintf(&row->text, "%s+0x%" PRIx64, shown->object, offset) < 0) {
		row->text = NULL;
		return -ENOMEM;
	}
	shown->name = row->text;
	return 0;
}

static int copy_texts(struct function_row *row)
{
	struct function *shown = &row->like.shown;
	size_t name = strlen(shown->name) + 1, object = strlen(shown->object) + 1;

	row->text = malloc(name + object);
	if (!row->text)
		return -ENOMEM;
	memcpy(row->text, shown->name, name);
	memcpy(row->text + name, shown->object, object);
	shown->name = row->text;
	shown->object = row->text + name;
	return 0;
}

static int add_row(struct functions *f, struct function_row *row)
{
	int r = array_grow(&f->list, f->n, &f->room, sizeof(*f->list), FUNCTIONS_MAX);

	if (r >= 0)
		r = hashtable_add(&f->table, hash_like(&row->like), row);
	if (r < 0)
		return r;
	row->id = (uint32_t)f->n;
	f->list[f->n++] = row;
	return 0;
}

int functions_find(struct functions *f, const struct function_like *like, uint64_t offset,
		   uint32_t *ret)
{
	struct function_row *row = hashtable_get(&f->table, hash_like(like), is_like, like);
	int r = 0;

	if (row) {
		*ret = row->id;
		return 0;
	}
	row = calloc(1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->like = *like;
	if (!like->shown.name)
		r = make_name(row, offset);
	else if (like->copied)
		r = copy_texts(row);
	if (r >= 0)
		r = add_row(f, row);
	if (r < 0) {
		free_row(row);
		return r;
	}
	*ret = row->id;
	return 0;
}

/* --- by symbols --- */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void take_symbol(struct function_like *like, const struct symbol *s)
{
	like->shown.known = s->name != NULL;
	like->shown.name = s->name;
	like->shown.object = s->object ? s->object : "[unknown]";
	like->start = s->name ? s->start : s->offset;
}

int functions_find_mapped(struct functions *f, struct symbols *symbols,
			  const struct symbol_object *o, uint64_t place, uint32_t *ret)
{
	struct function_like like = { .shown = { .place = place, .number = FUNCTION_NO_OBJECT } };
	struct symbol s = { .object = file_name(o->path), .offset = place };
	int r = 0;

	if (symbols)
		r = symbols_add(symbols, o, &like.shown.number);
	if (r >= 0 && symbols)
		r = symbols_find(symbols, like.shown.number, place, &s);
	if (r < 0)
		return r;
	take_symbol(&like, &s);
	like.object = like.shown.number;
	if (like.shown.number == FUNCTION_NO_OBJECT) {
		like.object = FUNCTION_OF_TEXT;
		like.text = o->path;
	}
	return functions_find(f, &like, s.offset, ret);
}

int functions_find_kernel(struct functions *f, struct symbols *symbols, uint64_t address,
			  uint32_t *ret)
{
	struct function_like like = { .object = FUNCTION_OF_KERNEL,
				      .shown = { .number = FUNCTION_NO_OBJECT } };
	struct symbol s = { .object = "[kernel]", .offset = address };
	int r = symbols ? symbols_find_kernel(symbols, address, &s) : 0;

	if (r < 0)
		return r;
	take_symbol(&like, &s);
	if (!s.name)
		like.start = address;
	return functions_find(f, &like, address, ret);
}

int functions_find_nobody(struct functions *f, uint64_t address, uint32_t *ret)
{
	struct function_like like = { .object = FUNCTION_OF_NOBODY,
				      .start = address,
				      .shown = { .object = "[unknown]",
						 .number = FUNCTION_NO_OBJECT } };

	return functions_find(f, &like, address, ret);
}

int functions_find_label(struct functions *f, const char *name, const char *object, uint32_t *ret)
{
	struct function_like like = { .object = FUNCTION_OF_LABEL,
				      .copied = true,
				      .shown = { .name = name,
						 .object = object,
						 .known = true,
						 .number = FUNCTION_NO_OBJECT } };

	return functions_find(f, &like, 0, ret);
}

const struct function *functions_get(const struct functions *f, uint32_t number)
{
	return &f->list[number]->like.shown;
}

int functions_compare(const void *functions, uint32_t a, uint32_t b)
{
	const struct function *x = functions_get(functions, a), *y = functions_get(functions, b);
	int r = strcmp(x->name, y->name);

	return r ? r : strcmp(x->object, y->object);
}

bool functions_is_label(const struct functions *f, uint32_t number)
{
	return f->list[number]->like.object == FUNCTION_OF_LABEL;
}
