/* SPDX-License-Identifier: MIT */
/*
 * graph_symbols: numbers for addresses of kernel functions, and their names from a copy of kallsyms.
 *
 * A trace names some thousand of the hundred thousand functions that kallsyms has, so the text is kept
 * as it is and looked into once, at the end.
 */
#ifndef KISEKI_CONVERT_GRAPH_SYMBOLS_H
#define KISEKI_CONVERT_GRAPH_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "store/hashtable.h"

#define GRAPH_SYMBOLS_MAX (1U << 23)	/* lines of kallsyms; kernels have 200,000 */
#define GRAPH_KALLSYMS_MAX (256U << 20) /* bytes of it */

struct graph_symbols {
	uint64_t *addresses; /* by number */
	size_t n, room;
	struct hashtable by_address;
	char *kallsyms;
	size_t len;
};

void graph_symbols_init(struct graph_symbols *s);
void graph_symbols_done(struct graph_symbols *s);

/* Keeps a copy. 0, -ENOMEM or -E2BIG. */
int graph_symbols_set_kallsyms(struct graph_symbols *s, const char *text, size_t len);

/* The number of an address. 0, -ENOMEM or -E2BIG. */
int graph_symbols_get(struct graph_symbols *s, uint64_t address, uint32_t *ret);

/* The names of all numbers, in memory of the caller's: "vfs_read", "fat_fill [vfat]", or the address
 * where no function is known below it. */
int graph_symbols_dup_names(const struct graph_symbols *s, char ***ret);

#endif
