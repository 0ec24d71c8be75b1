/* SPDX-License-Identifier: MIT */
/* fleet_tree: answers as trees; what is no such answer is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "cli/fleet_tree.h"

#define V(n) "{\"samples\": " #n ", \"weight\": " #n "000}"
#define NODE(depth, name, object, n)                                                               \
	"{\"depth\": " #depth ", \"name\": \"" name "\", \"object\": " object                      \
	", \"total\": " V(n) "}"
#define ANSWER(all, nodes)                                                                         \
	"{\"basis\": {\"all\": {\"samples\": " #all ", \"ns\": " #all "000}}, \"nodes\": [" nodes  \
	"]}"
#define GOOD                                                                                       \
	ANSWER(10, NODE(0, "sh", "\"process\"", 8) "," NODE(1, "main", "\"sh\"", 7) "," NODE(      \
			   2, "read", "\"libc\"", 5) "," NODE(1, "[others]", "null", 1))

static int read_answer(const char *text, const struct fleet_tree_shape *shape, struct fleet_tree *t)
{
	struct error e = ERROR_INIT;
	json_t *document = json_loads(text, 0, NULL);
	int r;

	assert_non_null(document);
	r = fleet_tree_init(t, document, shape, &e);
	json_decref(document);
	return r;
}

/* "sh;main;read=5 …" of own parts of a value, in the order of numbers. */
static void expect(const struct fleet_tree *t, size_t value, const char *want)
{
	char text[1024] = "", path[256], longer[256];
	uint32_t i, up;
	size_t len = 0;

	for (i = 0; i < profile_tree_count(t->tree); i++) {
		path[0] = '\0';
		for (up = i; up; up = profile_tree_get(t->tree, up)->parent) {
			snprintf(longer, sizeof(longer), ";%s%s",
				 functions_get(&t->functions, profile_tree_get(t->tree, up)->key)
					 ->name,
				 path);
			strcpy(path, longer);
		}
		if (profile_tree_self(t->tree, i)[value])
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s=%u ", path,
						(unsigned int)profile_tree_self(t->tree, i)[value]);
	}
	assert_string_equal(text, want);
}

static void what_is_left_out_stays_above(void **state)
{
	const struct fleet_tree_shape plain = { 0 }, turned = { .turned = true },
				      bare = { .turned = true, .ungrouped = true };
	struct fleet_tree t;

	(void)state;
	assert_int_equal(read_answer(GOOD, &plain, &t), 0);
	expect(&t, 0, "=2 ;sh;main=2 ;sh;main;read=5 ;sh;[others]=1 ");
	expect(&t, 1, "=2000 ;sh;main=2000 ;sh;main;read=5000 ;sh;[others]=1000 ");
	fleet_tree_done(&t);
	assert_int_equal(read_answer(GOOD, &turned, &t), 0);
	expect(&t, 0, "=2 ;sh;main=2 ;sh;read;main=5 ;sh;[others]=1 ");
	fleet_tree_done(&t);
	assert_int_equal(read_answer(GOOD, &bare, &t), 0);
	expect(&t, 0, "=2 ;main=2 ;read;main=5 ;[others]=1 ");
	fleet_tree_done(&t);
}

static void two_sides_are_four_values(void **state)
{
	const struct fleet_tree_shape diff = { .is_diff = true };
	struct fleet_tree t;

	(void)state;
	assert_int_equal(
		read_answer(
			"{\"before\": {\"all\": {\"samples\": 4, \"ns\": 40}}, \"after\": "
			"{\"all\": "
			"{\"samples\": 6, \"ns\": 60}}, \"nodes\": [{\"depth\": 0, \"name\": "
			"\"a\", "
			"\"object\": null, \"before\": {\"total\": {\"samples\": 0, \"ns\": 0}}, "
			"\"after\": {\"total\": {\"samples\": 5, \"ns\": 50}}}]}",
			&diff, &t),
		0);
	expect(&t, 1, "=40 ");
	expect(&t, 3, "=10 ;a=50 ");
	fleet_tree_done(&t);
}

static void what_is_no_tree_is_refused(void **state)
{
	static const char *const bad[] = {
		"{}",
		"{\"nodes\": []}",
		ANSWER(10, "1"),
		ANSWER(10, "{}"),
		ANSWER(10, NODE(1, "deep", "null", 1)), /* nothing above */
		ANSWER(10, NODE(0, "a", "null", 11)),	/* more than all */
		ANSWER(10, NODE(0, "a", "null", 3) "," NODE(1, "b", "null",
							    4)), /* more than its caller */
		ANSWER(10, NODE(0, "a", "null", 3) "," NODE(2, "b", "null", 1)),
		ANSWER(10, NODE(-1, "a", "null", 3)),
		ANSWER(-10, NODE(0, "a", "null", 3)),
		ANSWER(10, NODE(4294967296, "a", "null", 3)),
	};
	const struct fleet_tree_shape plain = { 0 };
	struct fleet_tree t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_answer(bad[i], &plain, &t), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_left_out_stays_above),
		cmocka_unit_test(two_sides_are_four_values),
		cmocka_unit_test(what_is_no_tree_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
