/* SPDX-License-Identifier: MIT */
/*
 * symfile: a table of symbols, or of lines, in a file that is mapped and searched as it lies there.
 *
 * Spec: docs/format/symbols.md. Reading the symbols of a program, sorting them and making C++ names
 * readable is done once for each build-id; whoever needs the table afterwards maps the file, and all
 * share its pages. Opening one checks the head alone (magic, version, checksum, sizes against the file's
 * own), whatever the number of symbols; all else is bounded when it is used. So a file that is damaged
 * or was made to hurt gives wrong names at the worst, and symfile_check() tells; one that is cut
 * while it is mapped ends a process that does not guard its mappings (mapping.h), which is why such files are only ever
 * replaced (symcache.h), and why only the own cache is opened.
 */
#ifndef KISEKI_SYMBOL_SYMFILE_H
#define KISEKI_SYMBOL_SYMFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbol/edges.h"
#include "symbol/elf_file.h"

#define SYMFILE_MAGIC "KISKSYM\n"
#define SYMFILE_VERSION 1U
#define SYMFILE_HEAD_LEN 128U
#define SYMFILE_SEGMENT_LEN 32U
#define SYMFILE_SYMBOL_LEN 16U
#define SYMFILE_ID_MAX 64U
#define SYMFILE_BYTES_MAX (4ULL << 30)

enum symfile_kind {
	SYMFILE_OBJECT = 1,  /* of a program or library; the id is its build-id */
	SYMFILE_KERNEL = 2,  /* of a list of the kernel's names; the id is that of the list */
	SYMFILE_MODULES = 3, /* of the same list */
	SYMFILE_LINES = 4,   /* files and lines of a program or library, in place of names */
};

enum symfile_flag {
	SYMFILE_PARTIAL = 1, /* only what a stripped object exports: a debug file may have more */
	SYMFILE_FAR = 2,     /* edges have places of 64 bits */
};

struct symfile_head {
	enum symfile_kind kind;
	uint8_t flags;
	uint16_t machine; /* as in ELF; 0: of no object */
	uint8_t id[SYMFILE_ID_MAX];
	size_t id_len;
	uint32_t n_segments, n_symbols;
	uint64_t size, names_len;
	uint32_t body_crc;
};

/* Both are strings, borrowed until the file is closed. */
struct symfile_symbol {
	uint64_t start;
	const char *name;  /* as in the object */
	const char *other; /* of an object: as it is shown; of modules: whose it is, as "[ext4]" */
};

struct symfile;

/* Takes fd, also on failure. -EBADMSG: unsound; -EPROTONOSUPPORT: of another version. */
int symfile_open(int fd, struct symfile **ret, struct error *e);
/* The memory stays the caller's, and stays. */
int symfile_open_memory(const void *data, size_t len, struct symfile **ret, struct error *e);
void symfile_close(struct symfile *f);

const struct symfile_head *symfile_get_head(const struct symfile *f);

/* Reads all of it. -EBADMSG: its bytes are not those that were written. */
int symfile_check(const struct symfile *f);

/* False: nobody has this address. */
bool symfile_find(const struct symfile *f, uint64_t address, struct symfile_symbol *ret);

/* The same of a table of lines: the file of source, borrowed, and the line. */
bool symfile_find_line(const struct symfile *f, uint64_t address, const char **ret_file,
		       uint32_t *ret_line);

/* The loaded segments of the object, to be freed; *ret_n may be 0. */
int symfile_dup_segments(const struct symfile *f, struct elf_segment **ret, size_t *ret_n);

#endif
