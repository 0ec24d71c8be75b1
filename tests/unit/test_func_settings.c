/* SPDX-License-Identifier: MIT */
#include "device/func/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "wire/func_buffer.h"

static struct settings s;

static const char *parse(const char *line)
{
	char copy[4096], *environment[] = { (char *)(uintptr_t) "HOME=/", copy,
					    (char *)(uintptr_t) "KISEKI_FUNCTIONS=1", NULL };

	strncpy(copy, line, sizeof(copy) - 1);
	copy[sizeof(copy) - 1] = '\0';
	return settings_parse(&s, environment) ? "refused" : NULL;
}

static void test_defaults(void **state)
{
	char here[SETTINGS_FOLDER_MAX];

	(void)state;
	assert_null(parse("PATH=/bin"));
	assert_non_null(getcwd(here, sizeof(here)));
	assert_string_equal(s.folder, here);
	assert_int_equal(s.bytes, 64 << 20);
	assert_int_equal(s.chunk_bytes, 16384);
	assert_int_equal(s.policy, FUNC_KEEP_OLDEST);
	assert_int_equal(s.on, 1);
	assert_false(s.choosy);
	assert_string_equal(s.text, "");
	assert_string_equal(s.agent, "");
}

static void test_values(void **state)
{
	(void)state;
	assert_null(parse("KISEKI_FUNC_SIZE=1M"));
	assert_int_equal(s.bytes, 1 << 20);
	assert_string_equal(s.text, "KISEKI_FUNC_SIZE=1M\n");
	assert_null(parse("KISEKI_FUNC_POLICY=flight"));
	assert_int_equal(s.policy, FUNC_FLIGHT);
	assert_null(parse("KISEKI_FUNC_MIN=10us"));
	assert_int_equal(s.min_ns, 10000);
	assert_true(s.choosy);
	assert_null(parse("KISEKI_FUNC_START=exit:a+0x10"));
	assert_int_equal(s.rules.bits, RULE_START_EXIT);
	assert_null(parse("KISEKI_FUNC_ON=0"));
	assert_int_equal(s.on, 0);
	assert_false(s.choosy);
	assert_null(parse("KISEKI_FUNC_MIN="));
	assert_false(s.choosy);
	assert_null(parse("KISEKI_FUNC_FOLDER=/var/x"));
	assert_string_equal(s.folder, "/var/x");
	assert_null(parse("KISEKI_FUNC_FOLDER=below"));
	assert_int_equal(s.folder[0], '/');
	assert_non_null(strstr(s.folder, "/below"));
}

static void test_agent(void **state)
{
	(void)state;
	assert_null(parse("KISEKI_FUNC_AGENT=1"));
	assert_string_equal(s.agent, FUNC_DOOR_PATH);
	assert_int_equal(s.bytes, 4 << 20);
	assert_int_equal(s.chunk_bytes, 32768);
	assert_null(parse("KISEKI_FUNC_AGENT=/tmp/s"));
	assert_string_equal(s.agent, "/tmp/s");
	assert_null(parse("KISEKI_FUNC_AGENT=0"));
	assert_string_equal(s.agent, "");
	assert_int_equal(s.bytes, 64 << 20);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {
		"KISEKI_FUNC_SIZE=255K",
		"KISEKI_FUNC_SIZE=x",
		"KISEKI_FUNC_SIZE=1T",
		"KISEKI_FUNC_SIZE=99999999999999999999",
		"KISEKI_FUNC_SIZE=M",
		"KISEKI_FUNC_CHUNK=4K",
		"KISEKI_FUNC_CHUNK=20000",
		"KISEKI_FUNC_CHUNK=2M",
		"KISEKI_FUNC_AGENT=2",
		"KISEKI_FUNC_AGENT=below",
		"KISEKI_FUNC_THREADS=0",
		"KISEKI_FUNC_THREADS=4097",
		"KISEKI_FUNC_POLICY=wai",
		"KISEKI_FUNC_ON=2",
		"KISEKI_FUNC_DEPTH=0",
		"KISEKI_FUNC_MIN=10",
		"KISEKI_FUNC_MIN=1m",
		"KISEKI_FUNC_LIMIT=0",
		"KISEKI_FUNC_ONLY=a,",
		"KISEKI_FUNC_X=1",
		"KISEKI_FUNC_",
		"KISEKI_FUNC_SIZE",
		"KISEKI_FUNC_SIZES=1M",
		"KISEKI_FUNC_SAMPLE=0",
		"KISEKI_FUNC_DEPTH=-1",
		"KISEKI_FUNC_DEPTH= 1",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (!parse(bad[i]))
			fail_msg("%s is not refused", bad[i]);
}

static void test_long(void **state)
{
	char line[4000] = "KISEKI_FUNC_FOLDER=/";

	(void)state;
	memset(line + strlen(line), 'a', 1500);
	assert_non_null(parse(line));
	memset(line, 0, sizeof(line));
	strcpy(line, "KISEKI_FUNC_ONLY=");
	memset(line + strlen(line), 'a', 3000);
	assert_null(parse(line));
	assert_int_equal(strlen(s.text), SETTINGS_TEXT_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_values),
		cmocka_unit_test(test_agent),	 cmocka_unit_test(test_refused),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
