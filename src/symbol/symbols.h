/* SPDX-License-Identifier: MIT */
/*
 * symbols: from an address in a process to a name, never to a wrong one.
 *
 * A `symbols` knows where objects may lie (the paths the device named, below a sysroot, folders of
 * build-ids, debug links) and keeps the tables it has opened. A process's mappings are given as they
 * are; an object is used only if its build-id is the one the device saw, where it saw one. What
 * cannot be named is object+offset, and the reason is kept once for each object, for the program to
 * print. One thread at a time; a folder of tables is shared by any number of them.
 */
#ifndef KISEKI_SYMBOL_SYMBOLS_H
#define KISEKI_SYMBOL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SYMBOLS_OBJECTS_MAX 65536U
#define SYMBOLS_BUILD_ID_MAX 20U

struct symbols;

struct symbols_options {
	const char *sysroot; /* NULL: / */
	const char *const
		*folders;     /* searched for objects and for .build-id trees; NULL-terminated or
				     * NULL */
	const char *kallsyms; /* file of the kernel's symbols; NULL: none */
	bool mangled;	      /* leave C++ names as they are */
	const char *cache; /* folder where tables are kept (symcache.h); NULL or "": they are not */
	uint64_t cache_bytes; /* its ceiling; 0: SYMCACHE_BYTES */
};

/* An object as a process had it mapped. */
struct symbol_object {
	const char *path;
	const uint8_t *build_id; /* of build_id_len bytes, 0: not known */
	size_t build_id_len;
};

/* A name, borrowed from the symbols until they are freed. `object` is the file's name without folders,
 * or "[kernel]", a module as "[ext4]", or "[unknown]". `offset` is that of the address behind the
 * function's start; without a name it is the place in the object's file, of the kernel the address. */
struct symbol {
	const char *name; /* NULL: not known; then print object+offset */
	const char *object;
	uint64_t start; /* the function's first byte, in the object's own addresses */
	uint64_t offset;
};

int symbols_new(const struct symbols_options *o, struct symbols **ret, struct error *e);
void symbols_free(struct symbols *s);

/* Number of an object, the same for the same path and build-id. -E2BIG, -ENOMEM. */
int symbols_add(struct symbols *s, const struct symbol_object *o, uint32_t *ret_object);

/* `file_offset`: the address's place in the object's file, as the mapping says (address - from +
 * offset). Opens the object when it is first asked of. */
int symbols_find(struct symbols *s, uint32_t object, uint64_t file_offset, struct symbol *ret);

/* A kernel address, modules included. */
int symbols_find_kernel(struct symbols *s, uint64_t address, struct symbol *ret);

/* Source file and line of the same place, if there is debug information: 1 known, 0 not. Costs what
 * reading DWARF costs. *ret_file is borrowed as names are. */
int symbols_find_line(struct symbols *s, uint32_t object, uint64_t file_offset,
		      const char **ret_file, uint32_t *ret_line);

/* Why names are missing: one line for each object that could not be used as asked, n from 0; NULL: no
 * more. "libm.so.6: build-id differs from the device's (…); its functions have no names". */
const char *symbols_get_problem(const struct symbols *s, size_t n);

#endif
