/* SPDX-License-Identifier: MIT */
/* url: names that would be something else in a path, and the ceiling. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cli/url.h"

static void test_escape(void **state)
{
	struct url u;

	(void)state;
	url_init(&u, "/api/v1/devices");
	url_push(&u, "a b/../ü?#&%");
	url_push(&u, "..");
	url_push(&u, ".");
	url_push(&u, "runs");
	url_push_param(&u, "from", "2026-11-15T10:02:30+01:00");
	url_push_param(&u, "nothing", NULL);
	url_push_param(&u, "comm", "a&b=c");
	url_push_param(&u, "empty", "");
	assert_string_equal(u.text,
			    "/api/v1/devices/a%20b%2F..%2F%C3%BC%3F%23%26%25/%2E%2E/%2E/runs"
			    "?from=2026-11-15T10%3A02%3A30%2B01%3A00&comm=a%26b%3Dc&empty=");
	assert_false(u.full);
}

static void test_ceiling(void **state)
{
	char name[URL_MAX + 10];
	struct url u;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	url_init(&u, "/");
	url_push(&u, name);
	assert_true(u.full);
	assert_int_equal(strlen(u.text), URL_MAX - 1);
	url_push_param(&u, "a", "b");
	assert_int_equal(strlen(u.text), URL_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escape),
		cmocka_unit_test(test_ceiling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
