/* SPDX-License-Identifier: MIT */
/* table: widths, cuts, and texts that would move the cursor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/table.h"

static const struct table_column columns[] = { { "name", true }, { "n", false }, { NULL, false } };

static void prints(const struct table *t, size_t width, const char *want)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	table_print(t, f, width);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
}

static void test_print(void **state)
{
	CLEANUP_TABLE struct table t;

	(void)state;
	table_init(&t, columns);
	prints(&t, 0, "name  n\n");
	table_push(&t, "a");
	table_printf(&t, "%d", 1234);
	table_push(&t, "über");
	table_push(&t, NULL);
	table_push(&t, "half a row");
	prints(&t, 0, "name           n\na           1234\nüber           -\n");
	prints(&t, 5, "name \na    \nüber \n");
}

static void test_clean(void **state)
{
	char long_name[200], text[] = "\033[2Jx\n\x7f\xc2\x9b"
				      "1m\xc3\xa9";
	CLEANUP_TABLE struct table t;

	(void)state;
	table_clean(text);
	assert_string_equal(text, "?[2Jx????1m\xc3\xa9");
	table_init(&t, columns);
	memset(long_name, 'y', sizeof(long_name));
	memcpy(long_name + TABLE_CELL_MAX - 2, "\xc3\xa9", 3); /* cut in the middle of it */
	table_push(&t, long_name);
	assert_int_equal(strlen(t.cells[0]), TABLE_CELL_MAX - 2);
	table_push(&t, "\xe2\x82");
	assert_string_equal(t.cells[1], "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
