/* SPDX-License-Identifier: MIT */
/*
 * symtab: from an address to the function that has it, in a few nanoseconds.
 *
 * Symbols are pushed in any order and then indexed once. Indexing turns them into edges (edges.h), and
 * those into a page index, which a search needs, and which a table file has as it is.
 *
 * Of several names for one address one is chosen, always the same, whatever the order in the file:
 * the best rank, then the shortest, then the first of the alphabet. A symbol whose size is not known
 * (`open`) reaches up to the next one, and is left out where it lies inside of one that has a size:
 * there it is a label.
 */
#ifndef KISEKI_SYMBOL_SYMTAB_H
#define KISEKI_SYMBOL_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/edges.h"

#define SYMTAB_SYMBOLS_MAX (1U << 23)

/* Ranks, best first. */
enum symtab_rank {
	SYMTAB_GLOBAL = 0,
	SYMTAB_WEAK = 1,
	SYMTAB_LOCAL = 2,
	SYMTAB_LABEL =
		3, /* added to one of the above: the file does not say that it is a function */
};

struct symtab_item {
	uint64_t start, end; /* end > start */
	const char *name;    /* borrowed: see symtab_take */
	uint32_t name_len;   /* of it, this much counts */
	uint8_t rank;
	bool open; /* end is only a ceiling */
};

struct symtab_symbol {
	uint64_t start;
	const char *name; /* not ended by NUL at name_len until `shown` */
	uint32_t name_len;
	bool shown; /* for the owner: name is as it is to be shown */
};

struct symtab;

struct symtab *symtab_new(void); /* NULL: out of memory */
void symtab_free(struct symtab *t);

/* Memory that names lie in, freed with the table. -ENOMEM: not taken. */
int symtab_take(struct symtab *t, void *memory);

int symtab_push(struct symtab *t, const struct symtab_item *item); /* -E2BIG, -ENOMEM */
size_t symtab_count(const struct symtab *t);

/* Once, after the last push and before the first search. */
int symtab_index(struct symtab *t);

/* NULL: no function has this address. */
struct symtab_symbol *symtab_find(const struct symtab *t, uint64_t address);

/* For whoever writes it down: the index, and symbol i of symtab_count(), by rising start. */
const struct edges *symtab_get_edges(const struct symtab *t);
const struct symtab_symbol *symtab_get_symbol(const struct symtab *t, size_t i);

#endif
