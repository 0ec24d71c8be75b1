/* SPDX-License-Identifier: MIT */
/*
 * object: a program or library that a process had mapped, with the names of its functions.
 *
 * Opening one maps its table from the cache, or reads its segments and symbols, keeps them there and
 * lets go of the files; source lines are read, or mapped, when they are first asked for. A table of the cache that
 * is whole is used without a look at any file: it was made of one with the same build-id. One
 * of a stripped object is used only while no file with more is found. Whatever is missing, an object opens: then it names nothing, and
 * `problem` says why, in one line.
 */
#ifndef KISEKI_SYMBOL_OBJECT_H
#define KISEKI_SYMBOL_OBJECT_H

#include "symbol/search.h"
#include "symbol/symcache.h"

struct object;

struct object_wanted {
	const char *path; /* as in the maps */
	const uint8_t *build_id;
	size_t build_id_len;
	struct symcache *cache; /* NULL: tables are not kept */
	bool mangled;		/* C++ names stay as they are */
	bool without_names;	/* for who wants lines alone */
};

struct object_symbol {
	const char *name; /* borrowed until the object is closed */
	uint64_t start;	  /* of the function, in the object's own addresses */
	uint64_t address; /* what was asked for, the same way */
};

/* *ret_problem is the caller's, NULL: none. -ENOMEM. */
int object_open(const struct search *s, const struct object_wanted *w, struct object **ret,
		char **ret_problem);
void object_close(struct object *o);

/* 1: found; 0: not known; -ENOMEM. */
int object_find(const struct object *o, uint64_t file_offset, struct object_symbol *ret);

/* Its file was, or its table. */
bool object_is_found(const struct object *o);

/* Of its table in the cache, or as another process made it; NULL: there is neither. */
const struct symfile_head *object_get_kept(const struct object *o);

/* Why the table could not be kept in the cache; NULL: it was, or there is none. */
const char *object_get_cache_problem(const struct object *o);

/* Its table, as the cache would keep it; the build-id of an object that has none is one byte, 0. */
int object_write_table(const struct object *o, int fd);

/* The same of its lines; -ENODATA: there are none. */
int object_write_lines(struct object *o, int fd);

/* 1, 0; the file's name is borrowed until the object is closed. */
int object_find_line(struct object *o, uint64_t file_offset, const char **ret_file,
		     uint32_t *ret_line);

/* Why the reader of objects brought no lines, known once one was asked for; NULL: it did, or there are none. */
const char *object_get_lines_problem(const struct object *o);

#endif
