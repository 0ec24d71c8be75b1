/* SPDX-License-Identifier: MIT */
/* serve_settings: keys, values and lines; what is wrong is said with what would be right. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/kiseki.h"
#include "cli/serve_settings.h"
#include "command/setting.h"

static struct serve_settings s;
static struct error e;

static void test_file(void **state)
{
	static const char text[] = "# a remark\n\n  listen = [::1]:9\nhttp=:0\n\tdata = /a b \n"
				   "retain-size = 20G\nretain-age = 30d\nconnections = 5\n"
				   "commit-ms = 100\ndevice-memory = 1M\ninsecure-listen = yes";

	(void)state;
	serve_settings_init(&s);
	assert_int_equal(serve_settings_parse(&s, text, "f", &e), 0);
	assert_string_equal(s.options.listen, "[::1]:9");
	assert_string_equal(s.options.http, ":0");
	assert_string_equal(s.options.data, "/a b");
	assert_true(s.options.store.retain_bytes == 20ULL << 30);
	assert_true(s.options.store.retain_ns == 30 * 86400ULL * 1000000000);
	assert_int_equal(s.options.connections_max, 5);
	assert_int_equal(s.options.commit_ms, 100);
	assert_int_equal(s.options.device_bytes_max, 1 << 20);
	assert_true(s.options.insecure);
	assert_int_equal(serve_settings_parse(&s, "insecure-listen = no\n", "f", &e), 0);
	assert_false(s.options.insecure);
}

static void test_wrong(void **state)
{
	static const struct {
		const char *text, *part;
	} rows[] = {
		{ "x = 1", "no setting \"x\"" },
		{ "\n\nlisten", "file:3: \"listen\" is not `key = value`" },
		{ "listen =", "use listen: it is a text" },
		{ "retain-size = 5X", "a size from 1M on" },
		{ "retain-size = -5", "a size from 1M on" },
		{ "retain-size = 99999999999T", "a size from 1M on" },
		{ "retain-size = 10K", "a size from 1M on" },
		{ "retain-age = soon", "length of time" },
		{ "connections = 0", "1 to 1000000, not \"0\"" },
		{ "connections = 1000001", "not \"1000001\"" },
		{ "commit-ms = 1.5", "1 to 10000" },
		{ "device-memory = 1K", "64K to 1G" },
		{ "insecure-listen = maybe", "yes or no" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		serve_settings_init(&s);
		assert_int_equal(serve_settings_parse(&s, rows[i].text, "file", &e), -EINVAL);
		if (!strstr(e.text, rows[i].part) || !strstr(e.text, "cannot read file:"))
			fail_msg("%s: %s", rows[i].text, e.text);
	}
}

/* The file that is installed names every key, and can be read. */
static void test_installed(void **state)
{
	static char text[SETTING_FILE_MAX];
	FILE *f = fopen(SOURCE_ROOT "/packaging/collector.conf", "r");
	char wanted[64];
	size_t i;

	(void)state;
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	for (i = 0; serve_settings_key(i); i++) {
		snprintf(wanted, sizeof(wanted), "%s =", serve_settings_key(i));
		if (!strstr(text, wanted))
			fail_msg("collector.conf lacks %s", wanted);
	}
	serve_settings_init(&s);
	assert_int_equal(serve_settings_parse(&s, text, "f", &e), 0);
	assert_string_equal(s.data, "/var/lib/kiseki-collector");
}

static void test_options(void **state)
{
	char *const argv[] = { (char *)"kiseki",
			       (char *)"serve",
			       (char *)"--config=/dev/null",
			       (char *)"--insecure-listen",
			       (char *)"--connections=7",
			       (char *)"--retain-size=" };
	struct args args;

	(void)state;
	serve_settings_init(&s);
	assert_int_equal(args_parse(&args, &command_kiseki, 5, argv, &e), 0);
	assert_int_equal(serve_settings_load(&s, &args, &e), 0);
	assert_true(s.options.insecure);
	assert_int_equal(s.options.connections_max, 7);
	assert_int_equal(args_parse(&args, &command_kiseki, 6, argv, &e), 0);
	assert_int_equal(serve_settings_load(&s, &args, &e), -EINVAL);
	assert_string_equal(e.text, "cannot use retain-size: it is a size from 1M on, such as 500M "
				    "or 20G, not \"\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_installed),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
