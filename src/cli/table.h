/* SPDX-License-Identifier: MIT */
/*
 * table: rows of short texts in columns as wide as they need to be.
 *
 * Texts come from devices and servers: whatever could move a terminal's cursor is replaced, and a
 * cell is cut at TABLE_CELL_MAX bytes.
 */
#ifndef KISEKI_CLI_TABLE_H
#define KISEKI_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 16U
#define TABLE_CELL_MAX 64U /* bytes, with the NUL */
#define TABLE_ROWS_MAX 100000U

struct table_column {
	const char *title; /* NULL ends the list */
	bool left;	   /* else its texts end at the same place, as numbers do */
};

struct table {
	const struct table_column *columns;
	size_t n_columns;
	char (*cells)[TABLE_CELL_MAX];
	size_t n, room;
	bool full; /* rows are missing: too many, or no memory */
};

void table_init(struct table *t, const struct table_column *columns);
void table_done(struct table *t);

/* The next cell, row by row; NULL is "-". */
void table_push(struct table *t, const char *text);
__attribute__((format(printf, 2, 3))) void table_printf(struct table *t, const char *fmt, ...);

/* At most `width` columns of the terminal for each line; 0: any. */
void table_print(const struct table *t, FILE *f, size_t width);

/* Makes a text harmless for a terminal, in place: control characters become '?'. */
void table_clean(char *text);

#define CLEANUP_TABLE __attribute__((cleanup(table_done)))

#endif
