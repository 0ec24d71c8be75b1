/* SPDX-License-Identifier: MIT */
/* web_file: a table that tools/embed-folder made of tests/data/web has that folder's files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/web_file.h"

extern const struct web_file test_web[];
extern const size_t test_web_len;

static const struct web_file *get(const char *path)
{
	const struct web_file *f = web_file_find(test_web, test_web_len, path);

	if (!f)
		fail_msg("%s is not in the table", path);
	return f;
}

/* The content is the file's, whether it is kept packed or not. */
static void check_content(const struct web_file *f)
{
	char path[512], *text = NULL, *want;
	struct error e = ERROR_INIT;
	FILE *in;

	snprintf(path, sizeof(path), KISEKI_TEST_DATA "/web/%s", f->path);
	in = fopen(path, "rb");
	assert_non_null(in);
	want = calloc(1, f->len + 2);
	assert_non_null(want);
	assert_int_equal(fread(want, 1, f->len + 1, in), f->len);
	fclose(in);
	assert_int_equal(web_file_dup(f, &text, &e), 0);
	assert_memory_equal(text, want, f->len + 1);
	assert_int_equal(strlen(f->hash), 32);
	free(want);
	free(text);
}

static void has_all_files(void **state)
{
	size_t i;

	(void)state;
	assert_int_equal(test_web_len, 5);
	for (i = 0; i < test_web_len; i++) {
		assert_true(!i || strcmp(test_web[i - 1].path, test_web[i].path) < 0);
		check_content(&test_web[i]);
	}
}

static void knows_types(void **state)
{
	(void)state;
	assert_string_equal(get("index.html")->type, "text/html; charset=utf-8");
	assert_string_equal(get("assets/app-B1x_Yz-9.js")->type, "text/javascript; charset=utf-8");
	assert_string_equal(get("assets/style.css")->type, "text/css; charset=utf-8");
	assert_string_equal(get("assets/dot-DeadBeef.svg")->type, "image/svg+xml");
}

/* Only what is named after its content may be kept for ever. */
static void knows_what_is_fixed(void **state)
{
	(void)state;
	assert_true(get("assets/app-B1x_Yz-9.js")->fixed);
	assert_true(get("assets/dot-DeadBeef.svg")->fixed);
	assert_false(get("assets/style.css")->fixed);
	assert_false(get("index.html")->fixed);
	assert_false(get("index-DeadBeef.html")->fixed);
}

static void packs_what_gets_smaller(void **state)
{
	(void)state;
	assert_true(get("assets/app-B1x_Yz-9.js")->gzip);
	assert_true(get("assets/app-B1x_Yz-9.js")->data_len <
		    get("assets/app-B1x_Yz-9.js")->len / 2);
	assert_false(get("assets/style.css")->gzip);
	assert_int_equal(get("assets/style.css")->data_len, get("assets/style.css")->len);
}

static void finds_nothing_else(void **state)
{
	(void)state;
	assert_null(web_file_find(test_web, test_web_len, ""));
	assert_null(web_file_find(test_web, test_web_len, "assets"));
	assert_null(web_file_find(test_web, test_web_len, "assets/"));
	assert_null(web_file_find(test_web, test_web_len, "assets/../index.html"));
	assert_null(web_file_find(test_web, test_web_len, "INDEX.HTML"));
}

static void says_when_it_is_damaged(void **state)
{
	struct web_file f = *get("assets/app-B1x_Yz-9.js");
	struct error e = ERROR_INIT;
	char *text = NULL;

	(void)state;
	f.len--;
	assert_true(web_file_dup(&f, &text, &e) < 0);
	f.len += 2;
	assert_true(web_file_dup(&f, &text, &e) < 0);
	f.len--;
	f.data_len /= 2;
	assert_true(web_file_dup(&f, &text, &e) < 0);
	assert_null(text);
	assert_non_null(strstr(e.text, "cannot unpack assets/app"));
}

/* The page of this program. */
static void the_program_has_a_page(void **state)
{
	struct error e = ERROR_INIT;
	char *text = NULL;

	(void)state;
	assert_int_equal(web_file_dup(web_file_find(static_web, static_web_len, "index.html"),
				      &text, &e),
			 0);
	assert_non_null(strstr(text, "<title>Kiseki</title>"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_all_files),	  cmocka_unit_test(knows_types),
		cmocka_unit_test(knows_what_is_fixed),	  cmocka_unit_test(packs_what_gets_smaller),
		cmocka_unit_test(finds_nothing_else),	  cmocka_unit_test(says_when_it_is_damaged),
		cmocka_unit_test(the_program_has_a_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
