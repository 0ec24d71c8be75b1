/* SPDX-License-Identifier: MIT */
/* boot_text: hostile names in JSON and XML, and names that are too long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <libxml/parser.h>

#include "base/cleanup.h"
#include "chart/boot_text.h"

typedef void (*put)(FILE *f, const char *text);

static char *written(put p, const char *text)
{
	char *out = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&out, &len);

	assert_non_null(f);
	p(f, text);
	fclose(f);
	return out;
}

static const char *const hostile[] = {
	"</script><script>alert(1)</script>",
	"<!--",
	"]]>",
	"\"'&\\",
	"\x01\x1b\x7f\n\r\t",
	"\xff\xfe",
	"\xc3(",
	"\xed\xa0\x80",
	"\xf4\x90\x80\x80",
	"\xef\xbf\xbf",
	"\xe6\x97\xa5\xe6\x9c\xac",
	"",
};

static void test_json(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		_cleanup_free_ char *out = written(boot_text_put_json, hostile[i]);
		json_t *value = json_loads(out, JSON_DECODE_ANY, NULL);

		assert_non_null(value);
		assert_null(strchr(out, '<'));
		json_decref(value);
	}
}

static void test_xml(void **state)
{
	char document[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		_cleanup_free_ char *out = written(boot_text_put_xml, hostile[i]);
		xmlDoc *doc;

		snprintf(document, sizeof(document), "<a b=\"%s\">%s</a>", out, out);
		doc = xmlReadMemory(document, (int)strlen(document), NULL, NULL,
				    XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET);
		if (!doc)
			fail_msg("not XML: %s", document);
		assert_null(doc->children->children ? doc->children->children->next : NULL);
		xmlFreeDoc(doc);
	}
}

/* A sequence that lies across the end of a piece stays whole. */
static void test_long(void **state)
{
	char text[1200], want[1210];
	size_t shift;

	(void)state;
	for (shift = 0; shift < 4; shift++) {
		size_t n = 500 + shift, i;

		memset(text, 'a', n);
		for (i = 0; i < 100; i++)
			memcpy(text + n + 3 * i, "\xe6\x97\xa5", 3);
		text[n + 300] = 0;
		snprintf(want, sizeof(want), "\"%s\"", text);
		_cleanup_free_ char *out = written(boot_text_put_json, text);
		assert_string_equal(out, want);
	}
}

static char *cut(const char *text, size_t columns, size_t *ret)
{
	char *out = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&out, &len);

	assert_non_null(f);
	*ret = boot_text_put_cut(f, text, columns);
	fclose(f);
	return out;
}

static void test_cut(void **state)
{
	static const struct {
		const char *text, *want;
		size_t columns, used;
	} cases[] = {
		{ "abcdef", "abcdef", 6, 6 },
		{ "abcdefg", "abcde\xe2\x80\xa6", 6, 6 },
		{ "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "\xe6\x97\xa5\xe2\x80\xa6", 4, 3 },
		{ "a\x01"
		  "bcdefg",
		  "a\\x01\xe2\x80\xa6", 6, 6 },
		{ "<<<<<<<", "&lt;&lt;\xe2\x80\xa6", 3, 3 },
		{ "\xff\xff\xff", "\\xff\xe2\x80\xa6", 6, 5 },
	};
	size_t i, used;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_free_ char *out = cut(cases[i].text, cases[i].columns, &used);

		assert_string_equal(out, cases[i].want);
		assert_int_equal(used, cases[i].used);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_xml),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
