/* SPDX-License-Identifier: MIT */
/*
 * json_whole: a document that is built without asking after each value is the same as with all memory, or there is none, whichever
 * allocation fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/json_value.h"
#include "analysis/json_whole.h"
#include "fuzz/starve.h"

#define ROWS 20
#define MOST 2000U

static char *make(void)
{
	json_t *list = json_array(), *row;
	int i;

	for (i = 0; i < ROWS; i++) {
		row = json_pack("{so so}", "name", json_value_text("a board with a long name"),
				"events", json_value_count(1U << i));
		json_object_set_new(row, "odd", json_boolean(i % 2));
		json_array_append_new(list, row);
	}
	return json_whole_text(json_pack("{so}", "devices", list), JSON_INDENT(2));
}

static void test_starved(void **state)
{
	char *right = make(), *got;
	bool has_failed = true;
	uint32_t n, whole = 0;

	(void)state;
	assert_non_null(right);
	for (n = 0; n < MOST && has_failed; n++) {
		starve_begin(n);
		got = make();
		has_failed = starve_end();
		whole += got != NULL;
		if (got)
			assert_string_equal(got, right);
		free(got);
		/* What failed before is no matter any more. */
		got = make();
		assert_string_equal(got, right);
		free(got);
	}
	assert_in_range(n, 100, MOST - 1);
	assert_int_equal(whole, 1); /* the last */
	free(right);
}

static void test_none(void **state)
{
	(void)state;
	assert_null(json_whole_text(NULL, 0));
	assert_true(json_whole_is());
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_starved),
					    cmocka_unit_test(test_none) };

	json_whole_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
