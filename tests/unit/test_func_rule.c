/* SPDX-License-Identifier: MIT */
#include "device/func/rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct rules *rules;

static int setup(void **state)
{
	(void)state;
	rules = calloc(1, sizeof(*rules));
	return rules ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(rules);
	return 0;
}

static void test_objects(void **state)
{
	(void)state;
	assert_true(rules_parse(rules, "libdraw*,/opt/*/bin/app,a?c", RULE_ONLY));
	assert_int_equal(rules->n, 3);
	assert_int_equal(rules->bits, RULE_ONLY);
	assert_int_equal(rules_find(rules, "/usr/lib/libdraw.so.1", 0), RULE_ONLY);
	assert_int_equal(rules_find(rules, "/usr/libdraw/libother.so", 0), 0);
	assert_int_equal(rules_find(rules, "/opt/x/y/bin/app", 77), RULE_ONLY);
	assert_int_equal(rules_find(rules, "/usr/bin/app", 77), 0);
	assert_int_equal(rules_find(rules, "/bin/abc", 1), RULE_ONLY);
	assert_int_equal(rules_find(rules, "/bin/abbc", 1), 0);
	assert_int_equal(rules_find(rules, "libdraw", 1), RULE_ONLY);
}

static void test_stars(void **state)
{
	(void)state;
	assert_true(rules_parse(rules, "*a*b*", RULE_NOT));
	assert_int_equal(rules_find(rules, "/xxaxxbxx", 0), RULE_NOT);
	assert_int_equal(rules_find(rules, "/ab", 0), RULE_NOT);
	assert_int_equal(rules_find(rules, "/ba", 0), 0);
}

static void test_offsets(void **state)
{
	(void)state;
	assert_true(rules_parse(rules, "libstdc++.so.6+0x1340", RULE_NOT));
	assert_true(rules_parse(rules, "app+0x100-0x200", RULE_TREE));
	assert_int_equal(rules_find(rules, "/lib/libstdc++.so.6", 0x1340), RULE_NOT);
	assert_int_equal(rules_find(rules, "/lib/libstdc++.so.6", 0x1341), 0);
	assert_int_equal(rules_find(rules, "/bin/app", 0xff), 0);
	assert_int_equal(rules_find(rules, "/bin/app", 0x100), RULE_TREE);
	assert_int_equal(rules_find(rules, "/bin/app", 0x1ff), RULE_TREE);
	assert_int_equal(rules_find(rules, "/bin/app", 0x200), 0);
}

static void test_sides(void **state)
{
	(void)state;
	assert_true(rules_parse(rules, "a+0x10,exit:a+0x20,entry:a+0x30", RULE_START));
	assert_true(rules_parse(rules, "exit:a+0x10", RULE_STOP));
	assert_int_equal(rules_find(rules, "a", 0x10), RULE_START_ENTRY | RULE_STOP_EXIT);
	assert_int_equal(rules_find(rules, "a", 0x20), RULE_START_EXIT);
	assert_int_equal(rules_find(rules, "a", 0x30), RULE_START_ENTRY);
	/* Elsewhere these are names. */
	assert_true(rules_parse(rules, "exit:a+0x40", RULE_ONLY));
	assert_int_equal(rules_find(rules, "exit:a", 0x40), RULE_ONLY);
}

static void test_refused(void **state)
{
	static const char *const bad[] = { "",		",",
					   "a,",	"+0x10",
					   "a+0x",	"a+0x1-0",
					   "a+0xg",	"a+0x2-0x1",
					   "a+0x1-0x1", "a+0x1 ",
					   "a+0x1-",	"a,,b",
					   "a+0x1x",	"a+0x10000000000000000" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(rules_parse(rules, bad[i], RULE_ONLY));
}

static void test_ceilings(void **state)
{
	static char text[RULE_TEXT_MAX + 2];
	uint32_t i;

	(void)state;
	for (i = 0; i < RULES_MAX; i++)
		assert_true(rules_parse(rules, "a", RULE_ONLY));
	assert_false(rules_parse(rules, "a", RULE_ONLY));
	memset(rules, 0, sizeof(*rules));
	memset(text, 'a', sizeof(text) - 1);
	assert_false(rules_parse(rules, text, RULE_ONLY));
	text[RULE_TEXT_MAX - 1] = '\0';
	assert_true(rules_parse(rules, text, RULE_ONLY));
	assert_int_equal(rules_find(rules, text, 0), RULE_ONLY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_objects, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stars, setup, teardown),
		cmocka_unit_test_setup_teardown(test_offsets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sides, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ceilings, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
