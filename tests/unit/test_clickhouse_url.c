/* SPDX-License-Identifier: MIT */
/* clickhouse_url: how the place of a store in ClickHouse is written, and what is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store/clickhouse/clickhouse_url.h"

static struct clickhouse_url parse(const char *text)
{
	struct error e = ERROR_INIT;
	struct clickhouse_url url;

	if (clickhouse_url_parse(&url, text, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	return url;
}

static void test_taken(void **state)
{
	struct clickhouse_url u = parse("clickhouse://127.0.0.1:8123/traces");

	(void)state;
	assert_string_equal(u.servers[0].host, "127.0.0.1");
	assert_int_equal(u.servers[0].port, 8123);
	assert_string_equal(u.database, "traces");
	assert_string_equal(u.user, "");
	u = parse("clickhouse://me@a.example:1,[::1]:65535/d_1?cluster=two&password-file=/a b");
	assert_string_equal(u.user, "me");
	assert_int_equal(u.n_servers, 2);
	assert_string_equal(u.servers[1].host, "[::1]");
	assert_int_equal(u.servers[1].port, 65535);
	assert_string_equal(u.cluster, "two");
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "http://h:1/d", "does not begin" },
		{ "clickhouse://h:1", "no database" },
		{ "clickhouse://h:1/", "a database's name" },
		{ "clickhouse://h:1/a;b", "a database's name" },
		{ "clickhouse://h/d", "a host and a port" },
		{ "clickhouse://:1/d", "no such host" },
		{ "clickhouse://::1:1/d", "no such host" },
		{ "clickhouse://h:0/d", "1 to 65535" },
		{ "clickhouse://h:65536/d", "1 to 65535" },
		{ "clickhouse://h:1x/d", "a host and a port" },
		{ "clickhouse://u:secret@h:1/d", "password-file" },
		{ "clickhouse://u'@h:1/d", "a user's name" },
		{ "clickhouse://a:1,b:2/d", "cluster=NAME" },
		{ "clickhouse://h:1/d?cluster=a'b", "a cluster's name" },
		{ "clickhouse://h:1/d?other=1", "password-file=PATH" },
	};
	struct clickhouse_url url;
	struct error e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (clickhouse_url_parse(&url, cases[i].text, &e) != -EINVAL)
			fail_msg("%s is taken", cases[i].text);
		if (!strstr(e.text, cases[i].why) || strstr(e.text, "secret"))
			fail_msg("%s: %s", cases[i].text, e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_taken),
					    cmocka_unit_test(test_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
