/* SPDX-License-Identifier: MIT */
/* What a request says, taken apart: targets, ranges, encodings, hosts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collector/http_params.h"

static int parse(struct http_target *t, const char *text)
{
	struct error e = ERROR_INIT;
	int r = http_target_parse(t, text, &e);

	assert_int_equal(!r, !e.text[0]);
	return r;
}

static void cuts_targets(void **state)
{
	struct http_target t;

	(void)state;
	assert_int_equal(parse(&t, "/"), 0);
	assert_int_equal(t.n_segments, 0);
	assert_int_equal(parse(&t, "/api/v1/devices/a%20b%2Fc+d?from=-5m&to=%2b1+s&x"), 0);
	assert_int_equal(t.n_segments, 4);
	assert_string_equal(t.segments[3], "a b/c+d");
	assert_int_equal(t.n_params, 3);
	assert_string_equal(http_target_get(&t, "from"), "-5m");
	assert_string_equal(http_target_get(&t, "to"), "+1 s");
	assert_string_equal(http_target_get(&t, "x"), "");
	assert_null(http_target_get(&t, "y"));
	assert_int_equal(parse(&t, "/a?&&b=1&"), 0);
	assert_int_equal(t.n_params, 1);
}

static void refuses_targets(void **state)
{
	static const char *const bad[] = {
		"",	   "*",	     "http://x/y", "a/b",      "//",	"/a//b",      "/a/",
		"/a/../b", "/./a",   "/%2e%2e/a",  "/%2E/a",   "/a%",	"/a%4",	      "/a%zz",
		"/a%00b",  "/a%0ab", "/a?b=%",	   "/a?b=%1f", "/a?=1", "/a?b=1&b=2", "/a\x01",
	};
	char many[HTTP_TARGET_MAX + 8];
	struct http_target t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(&t, bad[i]), -EINVAL);
	memset(many, 'a', sizeof(many));
	many[0] = '/';
	many[HTTP_TARGET_MAX] = 0;
	assert_int_equal(parse(&t, many), 0);
	many[HTTP_TARGET_MAX] = 'a';
	many[HTTP_TARGET_MAX + 1] = 0;
	assert_int_equal(parse(&t, many), -E2BIG);
	assert_int_equal(parse(&t, "/1/2/3/4/5/6/7/8"), 0);
	assert_int_equal(parse(&t, "/1/2/3/4/5/6/7/8/9"), -E2BIG);
	assert_int_equal(parse(&t, "/?1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16"), 0);
	assert_int_equal(parse(&t, "/?1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16&17"), -E2BIG);
}

static void matches_patterns(void **state)
{
	const char *got[HTTP_CAPTURES_MAX] = { NULL };
	struct http_target t;

	(void)state;
	parse(&t, "/api/v1/devices/x/runs");
	assert_true(http_target_match(&t, "/api/v1/devices/{device}/runs", got));
	assert_string_equal(got[0], "x");
	assert_false(http_target_match(&t, "/api/v1/devices/{device}", got));
	assert_false(http_target_match(&t, "/api/v1/devices/{device}/runs/{run}", got));
	assert_false(http_target_match(&t, "/api/v1/devices/{device}/run", got));
	assert_false(http_target_match(&t, "/", got));
	parse(&t, "/");
	assert_true(http_target_match(&t, "/", got));
	assert_false(http_target_match(&t, "/a", got));
	parse(&t, "/a/b/c"); /* no more than it has room for */
	assert_false(http_target_match(&t, "/{a}/{b}/{c}", got));
	assert_string_equal(got[1], "b");
}

static void checks_params(void **state)
{
	struct error e = ERROR_INIT;
	struct http_target t;
	static const char long_word[] =
		"a word that is not short at all, of some sixty bytes or so, is it";
	const char *const words[] = { "one", long_word, long_word, long_word, NULL };
	uint64_t v = 7;
	size_t word = 9;

	(void)state;
	parse(&t, "/?from=1&width=20&big=99999999999999999999&neg=-1&empty=");
	assert_int_equal(http_target_check(&t, "to width from big neg empty", &e), 0);
	assert_int_equal(http_target_check(&t, "from width big neg", &e), -EINVAL);
	assert_int_equal(http_target_check(&t, "fro width big neg empty", &e), -EINVAL);
	assert_int_equal(http_target_check(&t, "", &e), -EINVAL);
	assert_int_equal(http_target_get_count(&t, "width", (struct http_bounds){ 1, 20 }, &v, &e),
			 0);
	assert_int_equal(v, 20);
	assert_int_equal(http_target_get_count(&t, "none", (struct http_bounds){ 1, 20 }, &v, &e),
			 0);
	assert_int_equal(v, 20);
	assert_int_equal(http_target_get_count(&t, "width", (struct http_bounds){ 1, 19 }, &v, &e),
			 -EINVAL);
	assert_int_equal(http_target_get_count(&t, "width", (struct http_bounds){ 21, 30 }, &v, &e),
			 -EINVAL);
	assert_int_equal(http_target_get_count(&t, "big", (struct http_bounds){ 0, UINT64_MAX }, &v,
					       &e),
			 -EINVAL);
	assert_int_equal(http_target_get_count(&t, "neg", (struct http_bounds){ 0, 9 }, &v, &e),
			 -EINVAL);
	assert_int_equal(http_target_get_count(&t, "empty", (struct http_bounds){ 0, 9 }, &v, &e),
			 -EINVAL);
	assert_int_equal(v, 20);
	assert_int_equal(http_target_get_count(&t, "width", (struct http_bounds){ 0, 1 }, &v, &e),
			 -EINVAL);
	parse(&t, "/?a=100&b=one&c=two");
	assert_int_equal(http_target_get_count(&t, "a", (struct http_bounds){ 0, 9 }, &v, &e),
			 -EINVAL);
	assert_int_equal(http_target_get_word(&t, "b", words, &word, &e), 0);
	assert_int_equal(word, 0);
	assert_int_equal(http_target_get_word(&t, "c", words, &word, &e), -EINVAL);
	assert_non_null(strstr(e.text, "it is one of one, a word"));
}

static void chooses_encodings(void **state)
{
	static const struct {
		const char *header;
		enum http_coding coding;
	} cases[] = {
		{ NULL, CODING_IDENTITY },
		{ "", CODING_IDENTITY },
		{ "gzip", CODING_GZIP },
		{ "deflate, br", CODING_IDENTITY },
		{ "gzip, deflate, br, zstd", CODING_ZSTD },
		{ "gzip;q=1.0, zstd;q=0.5", CODING_GZIP },
		{ "gzip;q=0, zstd;q=0", CODING_IDENTITY },
		{ "*;q=0", CODING_IDENTITY },
		{ "*", CODING_ZSTD },
		{ "*, zstd;q=0", CODING_GZIP },
		{ "ZSTD ; q=0.001", CODING_ZSTD },
		{ "x-gzip", CODING_GZIP },
		{ "gzipp, zst", CODING_IDENTITY },
		{ ";;,q=,gzip;q=", CODING_GZIP },
		{ "gzip;q=.5,zstd;q=0.4999", CODING_GZIP },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(http_coding_parse(cases[i].header), cases[i].coding);
}

static void allows_encodings(void **state)
{
	(void)state;
	assert_true(http_coding_allow(NULL, CODING_IDENTITY));
	assert_false(http_coding_allow(NULL, CODING_GZIP));
	assert_false(http_coding_allow("", CODING_GZIP));
	assert_true(http_coding_allow("gzip, deflate, br, zstd", CODING_GZIP));
	assert_true(http_coding_allow("zstd;q=1, gzip;q=0.1", CODING_GZIP));
	assert_false(http_coding_allow("zstd, gzip;q=0", CODING_GZIP));
	assert_false(http_coding_allow("*, gzip;q=0", CODING_GZIP));
	assert_true(http_coding_allow("*", CODING_GZIP));
	assert_false(http_coding_allow("br", CODING_GZIP));
}

static void reads_ranges(void **state)
{
	static const struct {
		const char *header;
		int result;
		uint64_t from, len;
	} cases[] = {
		{ "bytes=0-9", 1, 0, 10 },
		{ "bytes=0-0", 1, 0, 1 },
		{ "bytes=90-", 1, 90, 10 },
		{ "bytes=95-200", 1, 95, 5 },
		{ "bytes=-5", 1, 95, 5 },
		{ "bytes=-500", 1, 0, 100 },
		{ "Bytes=1-2", 1, 1, 2 },
		{ "bytes=100-", -ERANGE, 0, 0 },
		{ "bytes=100-200", -ERANGE, 0, 0 },
		{ "bytes=-0", -ERANGE, 0, 0 },
		{ NULL, 0, 0, 0 },
		{ "", 0, 0, 0 },
		{ "lines=0-9", 0, 0, 0 },
		{ "bytes=", 0, 0, 0 },
		{ "bytes=-", 0, 0, 0 },
		{ "bytes=9-0", 0, 0, 0 },
		{ "bytes=0-9,20-29", 0, 0, 0 },
		{ "bytes=a-b", 0, 0, 0 },
		{ "bytes=0-99999999999999999999999", 0, 0, 0 },
		{ "bytes=99999999999999999999999-", 0, 0, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_range r = { 0, 0 };

		assert_int_equal(http_range_parse(cases[i].header, 100, &r), cases[i].result);
		assert_int_equal(r.from, cases[i].from);
		assert_int_equal(r.len, cases[i].len);
	}
	assert_int_equal(http_range_parse("bytes=0-", 0, &(struct http_range){ 0, 0 }), -ERANGE);
}

static void compares_tags(void **state)
{
	(void)state;
	assert_true(http_tag_match("\"a\"", "\"a\""));
	assert_true(http_tag_match("\"b\", W/\"a\"", "\"a\""));
	assert_true(http_tag_match("*", "\"a\""));
	assert_false(http_tag_match("\"ab\"", "\"a\""));
	assert_false(http_tag_match("\"a\"b", "\"a\""));
	assert_false(http_tag_match("", "\"a\""));
	assert_false(http_tag_match(NULL, "\"a\""));
}

static void knows_its_hosts(void **state)
{
	static const char *const good[] = { "localhost",	  "LOCALHOST:8080", "a.localhost:1",
					    "127.0.0.1",	  "127.1.2.3:80",   "[::1]:8080",
					    "kiseki.example:8080" };
	static const char *const bad[] = {
		"",
		"evil.example",
		"localhost.evil.example",
		"127.0.0.1.evil.example",
		"10.0.0.1:8080",
		"[::2]:80",
		"[::1",
		"xlocalhost",
		":8080",
		"[::1]evil",
		"1.2.3.4",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(http_host_allow(good[i], "kiseki.example"));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(http_host_allow(bad[i], "kiseki.example"));
	assert_true(http_host_allow(NULL, "127.0.0.1"));
	assert_true(http_host_allow("10.0.0.1:8080", "0.0.0.0"));
	assert_false(http_host_allow("evil.example", "0.0.0.0"));

	assert_true(http_origin_allow(NULL, "localhost:8080"));
	assert_true(http_origin_allow("http://localhost:8080", "localhost:8080"));
	assert_false(http_origin_allow("http://localhost:8081", "localhost:8080"));
	assert_false(http_origin_allow("http://evil.example", "localhost:8080"));
	assert_false(http_origin_allow("null", "localhost:8080"));
	assert_false(http_origin_allow("http://localhost", NULL));
	assert_false(http_fetch_is_foreign(NULL));
	assert_false(http_fetch_is_foreign("same-origin"));
	assert_true(http_fetch_is_foreign("cross-site"));

	/* A GET of another site's page: only a link that is followed. */
	assert_false(http_fetch_is_hidden(NULL, NULL, NULL));
	assert_false(http_fetch_is_hidden("same-origin", "cors", "empty"));
	assert_false(http_fetch_is_hidden("none", "navigate", "document"));
	assert_false(http_fetch_is_hidden("cross-site", "navigate", "document"));
	assert_false(http_fetch_is_hidden("same-site", "navigate", NULL));
	assert_true(http_fetch_is_hidden("cross-site", "navigate", "iframe"));
	assert_true(http_fetch_is_hidden("cross-site", "no-cors", "image"));
	assert_true(http_fetch_is_hidden("same-site", "cors", "empty"));
	assert_true(http_fetch_is_hidden("cross-site", NULL, NULL));
}

static void knows_who_asks(void **state)
{
	char got[9], owner[HTTP_HOST_MAX];

	(void)state;
	assert_int_equal(http_cookie_get("a=1; b=22 ;c=333", "b", got, sizeof(got)), 2);
	assert_string_equal(got, "22");
	assert_int_equal(http_cookie_get("c=12345678", "c", got, sizeof(got)), 8);
	assert_int_equal(http_cookie_get("c=123456789", "c", got, sizeof(got)), 0);
	assert_int_equal(http_cookie_get("cc=1; c=2", "c", got, sizeof(got)), 1);
	assert_string_equal(got, "2");
	assert_int_equal(http_cookie_get("c=1; c=2", "c", got, sizeof(got)), 1);
	assert_string_equal(got, "1");
	assert_int_equal(http_cookie_get("c=a\"b", "c", got, sizeof(got)), 0);
	assert_int_equal(http_cookie_get("c", "c", got, sizeof(got)), 0);
	assert_int_equal(http_cookie_get(";;;c=", "c", got, sizeof(got)), 0);
	assert_int_equal(http_cookie_get(NULL, "c", got, sizeof(got)), 0);

	assert_int_equal(http_bearer_get("Bearer a-_Z9", got, sizeof(got)), 5);
	assert_string_equal(got, "a-_Z9");
	assert_int_equal(http_bearer_get("bearer  x \t", got, sizeof(got)), 1);
	assert_int_equal(http_bearer_get("Bearer x y", got, sizeof(got)), 0);
	assert_int_equal(http_bearer_get("Bearer ", got, sizeof(got)), 0);
	assert_int_equal(http_bearer_get("Bearer 123456789", got, sizeof(got)), 0);
	assert_int_equal(http_bearer_get("Basic eA", got, sizeof(got)), 0);
	assert_int_equal(http_bearer_get(NULL, got, sizeof(got)), 0);

	assert_string_equal(http_peer_owner("192.0.2.7", owner), "192.0.2.7");
	assert_string_equal(http_peer_owner("2001:db8:1:2:3:4:5:6", owner), "2001:db8:1:2::");
	assert_string_equal(http_peer_owner("::ffff:192.0.2.7", owner), "::ffff:192.0.2.7");
	assert_string_equal(http_peer_owner("", owner), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_targets),	     cmocka_unit_test(refuses_targets),
		cmocka_unit_test(matches_patterns),  cmocka_unit_test(checks_params),
		cmocka_unit_test(chooses_encodings), cmocka_unit_test(allows_encodings),
		cmocka_unit_test(reads_ranges),	     cmocka_unit_test(compares_tags),
		cmocka_unit_test(knows_who_asks),    cmocka_unit_test(knows_its_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
