/* SPDX-License-Identifier: MIT */
/* memfile: all of the text. That fclose() fails where memory ends is seen by tests/fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memfile.h"

static void test_text(void **state)
{
	char *text, want[64];
	size_t len, at = 0, n;
	FILE *f = memfile_open(&text, &len);
	unsigned int i;

	(void)state;
	assert_non_null(f);
	for (i = 0; i < 20000; i++)
		fprintf(f, "line %u\n", i);
	assert_int_equal(fclose(f), 0);
	for (i = 0; i < 20000; i++, at += n) {
		n = (size_t)snprintf(want, sizeof(want), "line %u\n", i);
		assert_memory_equal(text + at, want, n);
	}
	assert_int_equal(at, len);
	assert_int_equal(text[len], 0);
	free(text);
}

static void test_empty(void **state)
{
	char *text;
	size_t len;
	FILE *f = memfile_open(&text, &len);

	(void)state;
	assert_non_null(f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(len, 0);
	assert_string_equal(text, "");
	free(text);
}

static void test_flush(void **state)
{
	char *text;
	size_t len;
	FILE *f = memfile_open(&text, &len);

	(void)state;
	assert_non_null(f);
	fputs("one", f);
	fflush(f);
	assert_string_equal(text, "one");
	fputs(" two", f);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, "one two");
	free(text);
}

/* Those who write much ask how much it is by now. */
static void test_tell(void **state)
{
	char *text;
	size_t len;
	FILE *f = memfile_open(&text, &len);
	long i;

	(void)state;
	assert_non_null(f);
	for (i = 0; i < 20000; i++) {
		assert_int_equal(ftell(f), 4 * i);
		fputs("four", f);
	}
	assert_int_equal(fseek(f, 0, SEEK_SET), -1);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(len, 80000);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
