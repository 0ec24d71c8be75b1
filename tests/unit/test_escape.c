/* SPDX-License-Identifier: MIT */
/* escape: any bytes become valid text in each format, and can be had back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "convert/escape.h"

static void expect(const char *bytes, size_t len, const char *json, const char *xml,
		   const char *csv)
{
	char got[256];

	*escape_put(got, bytes, len, ESCAPE_JSON) = 0;
	assert_string_equal(got, json);
	*escape_put(got, bytes, len, ESCAPE_XML) = 0;
	assert_string_equal(got, xml);
	*escape_put(got, bytes, len, ESCAPE_CSV) = 0;
	assert_string_equal(got, csv);
}

static void test_rules(void **state)
{
	(void)state;
	expect("plain text", 10, "plain text", "plain text", "plain text");
	expect("a\"b", 3, "a\\\"b", "a&quot;b", "a\"\"b");
	expect("<&>", 3, "<&>", "&lt;&amp;&gt;", "<&>");
	expect("\\", 1, "\\\\\\\\", "\\\\", "\\\\");
	expect("\0\x1f\x7f\n", 4, "\\\\x00\\\\x1f\\\\x7f\\\\x0a", "\\x00\\x1f\\x7f\\x0a",
	       "\\x00\\x1f\\x7f\\x0a");
	/* Valid: e acute, euro sign, an emoji, the last code point. */
	expect("\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7\xf4\x8f\xbf\xbf", 13,
	       "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7\xf4\x8f\xbf\xbf",
	       "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7\xf4\x8f\xbf\xbf",
	       "\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7\xf4\x8f\xbf\xbf");
	/* Not: overlong, surrogate, beyond the last, U+FFFF, cut off, a lone follower. */
	expect("\xc0\xaf", 2, "\\\\xc0\\\\xaf", "\\xc0\\xaf", "\\xc0\\xaf");
	expect("\xed\xa0\x80", 3, "\\\\xed\\\\xa0\\\\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80");
	expect("\xf4\x90\x80\x80", 4, "\\\\xf4\\\\x90\\\\x80\\\\x80", "\\xf4\\x90\\x80\\x80",
	       "\\xf4\\x90\\x80\\x80");
	expect("\xef\xbf\xbf", 3, "\\\\xef\\\\xbf\\\\xbf", "\\xef\\xbf\\xbf", "\\xef\\xbf\\xbf");
	expect("\xe2\x82", 2, "\\\\xe2\\\\x82", "\\xe2\\x82", "\\xe2\\x82");
	expect("\x82", 1, "\\\\x82", "\\x82", "\\x82");
}

/* The reverse of the rule, as a reader of the formats would write it. */
static size_t unescape(uint8_t *ret, const char *text, size_t len)
{
	char hex[3] = { 0 };
	size_t n = 0, i = 0;

	while (i < len) {
		if (text[i] != '\\') {
			ret[n++] = (uint8_t)text[i++];
		} else if (text[i + 1] == '\\') {
			ret[n++] = '\\';
			i += 2;
		} else {
			memcpy(hex, text + i + 2, 2);
			ret[n++] = (uint8_t)strtoul(hex, NULL, 16);
			i += 4;
		}
	}
	return n;
}

static void test_nothing_is_lost(void **state)
{
	char quoted[16 * ESCAPE_GROWTH + 2];
	uint8_t bytes[16], back[16];
	uint64_t x = 1;
	json_error_t je;
	json_t *value;
	int round, i;
	char *end;

	(void)state;
	for (round = 0; round < 20000; round++) {
		for (i = 0; i < 16; i++) {
			x = x * 6364136223846793005ULL + 1442695040888963407ULL;
			bytes[i] = (uint8_t)(x >> 56);
			if (round & 1) /* more that looks like UTF-8 */
				bytes[i] |= i & 3 ? 0x80 : 0xc0;
		}
		quoted[0] = '"';
		end = escape_put(quoted + 1, (const char *)bytes, 16, ESCAPE_JSON);
		*end++ = '"';
		value = json_loadb(quoted, (size_t)(end - quoted), JSON_DECODE_ANY, &je);
		assert_non_null(value);
		assert_int_equal(unescape(back, json_string_value(value),
					  json_string_length(value)),
				 16);
		assert_memory_equal(back, bytes, 16);
		json_decref(value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
