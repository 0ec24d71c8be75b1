/* SPDX-License-Identifier: MIT */
/*
 * object: a program or library that a process had mapped, with the names of its functions.
 *
 * Opening one reads its segments and symbols and lets go of the files; source lines are read when
 * they are first asked for. Whatever is missing, an object opens: then it names nothing, and
 * `problem` says why, in one line.
 */
#ifndef KISEKI_SYMBOL_OBJECT_H
#define KISEKI_SYMBOL_OBJECT_H

#include "symbol/search.h"
#include "symbol/symtab.h"

struct object;

struct object_wanted {
	const char *path; /* as in the maps */
	const uint8_t *build_id;
	size_t build_id_len;
};

/* *ret_problem is the caller's, NULL: none. -ENOMEM. */
int object_open(const struct search *s, const struct object_wanted *w, struct object **ret,
		char **ret_problem);
void object_close(struct object *o);

/* NULL: not known. *ret_address: the place in the object's own addresses, 0 if that is not known. */
struct symtab_symbol *object_find(const struct object *o, uint64_t file_offset,
				  uint64_t *ret_address);

/* To keep with it what shall live as long as its names. */
struct symtab *object_get_table(struct object *o);

/* 1, 0; the file's name is borrowed until the object is closed. */
int object_find_line(struct object *o, uint64_t file_offset, const char **ret_file,
		     uint32_t *ret_line);

#endif
