/* SPDX-License-Identifier: MIT */
/* table: see table.h. */
#include "cli/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "command/say.h"

void table_init(struct table *t, const struct table_column *columns)
{
	memset(t, 0, sizeof(*t));
	t->columns = columns;
	while (t->n_columns < TABLE_COLUMNS_MAX && columns[t->n_columns].title)
		t->n_columns++;
}

void table_done(struct table *t)
{
	free(t->cells);
	memset(t, 0, sizeof(*t));
}

/* Also those that UTF-8 writes with two bytes, U+0080 to U+009F: some terminals obey them. */
void table_clean(char *text)
{
	unsigned char *p;

	for (p = (unsigned char *)text; *p; p++) {
		if (*p < 0x20 || *p == 0x7f)
			*p = '?';
		if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
			p[0] = p[1] = '?';
	}
}

/* Cuts a last character of UTF-8 that is not whole. */
static void cut_whole(char *text)
{
	size_t len = strlen(text), n = 0;

	while (n < 3 && n < len && ((unsigned char)text[len - 1 - n] & 0xc0) == 0x80)
		n++;
	if (n < len && (unsigned char)text[len - 1 - n] >= 0xc0) {
		unsigned char first = (unsigned char)text[len - 1 - n];
		size_t want = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;

		if (n < want)
			text[len - 1 - n] = 0;
	}
}

static char *next_cell(struct table *t)
{
	size_t room = t->room ? 2 * t->room : 64 * t->n_columns;
	char(*grown)[TABLE_CELL_MAX];

	if (t->full || t->n / t->n_columns >= TABLE_ROWS_MAX) {
		t->full = true;
		return NULL;
	}
	if (t->n == t->room) {
		grown = realloc(t->cells, room * sizeof(*grown));
		if (!grown) {
			say_out_of_memory();
			t->full = true;
			return NULL;
		}
		t->cells = grown;
		t->room = room;
	}
	return t->cells[t->n++];
}

void table_push(struct table *t, const char *text)
{
	char *cell = next_cell(t);

	if (!cell)
		return;
	snprintf(cell, TABLE_CELL_MAX, "%s", text && *text ? text : "-");
	cut_whole(cell);
	table_clean(cell);
}

void table_printf(struct table *t, const char *fmt, ...)
{
	char text[TABLE_CELL_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	table_push(t, text);
}

/* Characters, not bytes. */
static size_t width_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Puts at most `room` characters of a text; returns how many. */
static size_t put_text(FILE *f, const char *text, size_t room)
{
	size_t n = 0;

	for (; *text; text++) {
		if (((unsigned char)*text & 0xc0) != 0x80 && n++ >= room)
			return room;
		fputc(*text, f);
	}
	return n;
}

static size_t put_blanks(FILE *f, size_t n, size_t room)
{
	size_t i;

	if (n > room)
		n = room;
	for (i = 0; i < n; i++)
		fputc(' ', f);
	return n;
}

static void print_row(const struct table *t, FILE *f, const char *const cells[],
		      const size_t widths[], size_t width)
{
	size_t room = width ? width : (size_t)-1, i;

	for (i = 0; i < t->n_columns; i++) {
		size_t pad = widths[i] - width_of(cells[i]);

		if (i)
			room -= put_blanks(f, 2, room);
		if (!t->columns[i].left)
			room -= put_blanks(f, pad, room);
		room -= put_text(f, cells[i], room);
		if (t->columns[i].left && i + 1 < t->n_columns)
			room -= put_blanks(f, pad, room);
	}
}

void table_print(const struct table *t, FILE *f, size_t width)
{
	const char *cells[TABLE_COLUMNS_MAX];
	size_t widths[TABLE_COLUMNS_MAX], i, row;

	for (i = 0; i < t->n_columns; i++) {
		cells[i] = t->columns[i].title;
		widths[i] = width_of(cells[i]);
	}
	for (i = 0; i < t->n; i++)
		if (width_of(t->cells[i]) > widths[i % t->n_columns])
			widths[i % t->n_columns] = width_of(t->cells[i]);
	fputs(say_style(f, STYLE_HEAD), f);
	print_row(t, f, cells, widths, width);
	fprintf(f, "%s\n", say_style(f, STYLE_PLAIN));
	for (row = 0; row + t->n_columns <= t->n; row += t->n_columns) {
		for (i = 0; i < t->n_columns; i++)
			cells[i] = t->cells[row + i];
		print_row(t, f, cells, widths, width);
		fputc('\n', f);
	}
}
