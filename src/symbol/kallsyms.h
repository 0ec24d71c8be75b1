/* SPDX-License-Identifier: MIT */
/*
 * kallsyms: the kernel's functions, and those of its modules, from the text of /proc/kallsyms.
 *
 * The text must be of the boot that was traced: addresses are different after each where the kernel
 * is placed at random. It has starts and no ends, so a function reaches to the next symbol of any
 * kind, if that is of the same module and not farther than KALLSYMS_REACH. The last one of a module
 * reaches to the end of its page, which belongs to no other module; and where the text may have been
 * cut behind it, it is named by its first byte alone. Of several names for one address a global comes before
 * a weak before a local one, and all before the linker's marks of a section ("_stext",
 * "__irqentry_text_start"), which are nobody's function.
 *
 * A kernel that hides its addresses (kptr_restrict) prints zeros: then there are no names, and the
 * problem says why.
 *
 * A text whose tables are in the cache is read, but not parsed: it is known by its length and two
 * checksums of its bytes.
 */
#ifndef KISEKI_SYMBOL_KALLSYMS_H
#define KISEKI_SYMBOL_KALLSYMS_H

#include "base/error.h"
#include "symbol/symcache.h"

#define KALLSYMS_TEXT_MAX (512U << 20)
#define KALLSYMS_REACH (256U << 10)

struct kallsyms;

/* Borrowed until the table is freed. */
struct kallsyms_symbol {
	const char *name;
	const char *module; /* "[ext4]"; NULL: the kernel itself */
	uint64_t start;
};

/* The text of e is the reason alone. -ENODATA: it is no such text, or all addresses are hidden. */
int kallsyms_open(const char *path, struct symcache *cache, struct kallsyms **ret,
		  struct error *e); /* cache NULL: none */
/* The same from a descriptor, in this process and without a cache. */
int kallsyms_open_fd(int fd, struct kallsyms **ret, struct error *e);
int kallsyms_parse(const char *text, size_t len, struct kallsyms **ret, struct error *e);
void kallsyms_free(struct kallsyms *k);

/* Of the kernel's own table in the cache; NULL: it is not there. */
const struct symfile_head *kallsyms_get_kept(const struct kallsyms *k);

/* Its two tables, as a cache would keep them; of one that was parsed here. */
int kallsyms_write_tables(const struct kallsyms *k, int kernel, int modules);

/* False: nobody's. */
bool kallsyms_find(const struct kallsyms *k, uint64_t address, struct kallsyms_symbol *ret);

#endif
