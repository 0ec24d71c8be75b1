/* SPDX-License-Identifier: MIT */
/* endpoint: the forms of an address, and that only loopback is listened on without being told. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collector/endpoint.h"

static void test_forms(void **state)
{
	static const struct {
		const char *text, *formatted; /* NULL: refused */
	} rows[] = {
		{ "127.0.0.1:7077", "127.0.0.1:7077" },
		{ "127.0.0.1", "127.0.0.1:99" },
		{ ":0", "127.0.0.1:0" },
		{ "localhost:65535", "127.0.0.1:65535" },
		{ "[::1]:80", "[::1]:80" },
		{ "[::1]", "[::1]:99" },
		{ "0.0.0.0:1", "0.0.0.0:1" },
		{ "127.0.0.1:65536", NULL },
		{ "127.0.0.1:", NULL },
		{ "127.0.0.1:80x", NULL },
		{ "127.0.0.1:-1", NULL },
		{ "example.org:80", NULL },
		{ "[::1", NULL },
		{ "[::1]80", NULL },
		{ "::1", NULL },
		{ "1.2.3:80", NULL },
		{ "", "127.0.0.1:99" },
	};
	char out[ENDPOINT_TEXT_MAX], longest[300];
	struct sockaddr_storage a;
	struct error e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int r = endpoint_parse(rows[i].text, 99, &a, &e);

		if (r != (rows[i].formatted ? 0 : -EINVAL))
			fail_msg("'%s': %d", rows[i].text, r);
		if (r == 0)
			assert_string_equal(endpoint_format(&a, out), rows[i].formatted);
		else
			assert_non_null(strstr(e.text, "cannot listen on"));
	}
	memset(longest, '1', sizeof(longest));
	longest[299] = 0;
	assert_int_equal(endpoint_parse(longest, 1, &a, &e), -EINVAL);
}

static void test_loopback(void **state)
{
	static const char *const near[] = { "127.0.0.1:1", "127.8.9.1:1", "[::1]:1" };
	static const char *const far[] = { "0.0.0.0:1", "192.168.1.1:1", "[::]:1", "128.0.0.1:1",
					   "[::ffff:127.0.0.1]:1" };
	struct sockaddr_storage a;
	struct error e;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_int_equal(endpoint_parse_listen(near[i], 1, false, &a, &e), 0);
	for (i = 0; i < 5; i++) {
		assert_int_equal(endpoint_parse_listen(far[i], 1, false, &a, &e), -EPERM);
		assert_non_null(strstr(e.text, "--insecure-listen"));
		assert_non_null(strstr(e.text, "ssh -L"));
		assert_int_equal(endpoint_parse_listen(far[i], 1, true, &a, &e), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_loopback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
