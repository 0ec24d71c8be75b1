/* SPDX-License-Identifier: MIT */
/*
 * search: where the file of an object may lie, and whether it is the right one.
 *
 * In this order: the object's path below the sysroot; for each folder the path below it, and its
 * name alone; the build-id in the folder (".build-id/ab/cdef….debug", also if the folder is such a
 * tree itself), and below /usr/lib/debug, the sysroot's and this machine's; then what the debug link of
 * an object names: beside it, in .debug beside it, below /usr/lib/debug, in the folders.
 *
 * A file is the right one if its build-id is the device's. Where the device knew none, a debug file
 * must have the build-id of the object it is for, and without any build-id the CRC of the object's
 * debug link. The first file that was refused is remembered with the reason: that is what a user needs
 * to know.
 */
#ifndef KISEKI_SYMBOL_SEARCH_H
#define KISEKI_SYMBOL_SEARCH_H

#include "symbol/elf_file.h"
#include "symbol/elf_identity.h"

struct search {
	const char *sysroot;	    /* NULL: / */
	const char *const *folders; /* NULL-terminated, or NULL */
};

enum search_kind {
	SEARCH_CODE,	/* the object itself, stripped or not */
	SEARCH_SYMBOLS, /* any file with its .symtab */
	SEARCH_LINES,	/* any file with its .debug_line */
};

struct search_hit {
	struct elf_file file;
	char *path; /* for people, and to find what lies beside it */
	struct elf_build_id id;
	struct elf_debug_link link;
};

struct search_query {
	const char *path; /* absolute, on the device */
	const uint8_t *build_id;
	size_t build_id_len; /* 0: not known */
	enum search_kind kind;
	const struct search_hit *code; /* the object, if that was found */
};

/* 1: *ret is the file, to be released by search_hit_done; 0: none, and e has the reason of the first one
 * that was refused, or is empty; -ENOMEM. */
int search_find(const struct search *s, const struct search_query *q, struct search_hit *ret,
		struct error *e);
void search_hit_done(struct search_hit *h);

/* The file has no code, only what was stripped from it. */
bool search_is_debug(const struct elf_file *f);

#endif
