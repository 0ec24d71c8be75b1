/* SPDX-License-Identifier: MIT */
/*
 * graph_symbols: names of a kernel's functions from kallsyms of any kind: unordered, with doubles, marks and lines that are none.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "convert/graph_names.h"
#include "convert/graph_symbols.h"

static void names_are(const char *kallsyms, size_t len, const uint64_t *addresses,
		      const char *const *want)
{
	struct graph_symbols s;
	char **names = NULL;
	uint32_t n;
	size_t i;

	graph_symbols_init(&s);
	if (kallsyms)
		assert_int_equal(graph_symbols_set_kallsyms(&s, kallsyms, len), 0);
	for (i = 0; want[i]; i++) {
		assert_int_equal(graph_symbols_get(&s, addresses[i], &n), 0);
		assert_int_equal(n, i);
	}
	assert_int_equal(graph_symbols_get(&s, addresses[0], &n), 0); /* has its number already */
	assert_int_equal(n, 0);
	assert_int_equal(graph_symbols_dup_names(&s, &names), 0);
	for (i = 0; want[i]; i++) {
		assert_string_equal(names[i], want[i]);
		free(names[i]);
	}
	free(names);
	graph_symbols_done(&s);
}

static void finds_names(void **state)
{
	static const char text[] = "3000 t third\t[module]\n"
				   "1000 T first\r\n"
				   "2000 t second\n"
				   "2000 W also_second\n"
				   "2800 t $x\n"
				   "2800 d data\n"
				   "2800 \0 nothing\n"
				   "x t none\n"
				   "2800t none\n"
				   "2800 t\n"
				   "2800\n"
				   "0000000000000000 t zero\n"
				   "00000000000000004000 t too_long\n"
				   "\n"
				   "3800 w last";
	static const uint64_t at[] = { 0x1004, 0x2ffc, 0x3000, 0x37ff, 0x5000, 0xfff };
	static const char *const want[] = {
		"first", "second", "third [module]", "third [module]", "last", "0xfff", NULL
	};

	(void)state;
	names_are(text, sizeof(text) - 1, at, want);
}

static void has_none(void **state)
{
	static const uint64_t at[] = { 0x1004 };
	static const char *const want[] = { "0x1004", NULL };
	struct graph_symbols s;
	char **names = NULL;

	(void)state;
	names_are(NULL, 0, at, want);
	names_are("\n", 1, at, want);
	graph_symbols_init(&s); /* not even an address */
	assert_int_equal(graph_symbols_dup_names(&s, &names), 0);
	free(names);
	assert_int_equal(graph_symbols_set_kallsyms(&s, "", (size_t)GRAPH_KALLSYMS_MAX + 1),
			 -E2BIG);
	graph_symbols_done(&s);
}

static void cuts_names(void **state)
{
	static const uint64_t at[] = { 0x1004 };
	const char *want[] = { NULL, NULL };
	char text[8192] = "1000 t ", name[8192];
	size_t len = 6000;

	(void)state;
	memset(text + 7, 'n', len);
	memset(name, 'n', GRAPH_NAME_MAX);
	name[GRAPH_NAME_MAX] = 0;
	want[0] = name;
	names_are(text, 7 + len, at, want);
}

/* Two names that have one hash are two names. */
static void tells_names_apart(void **state)
{
	static const char one[] = "8yn0iYCKYHlIj4-BwPqk", other[] = "GReLUrM4wMqfg9yzV3KQ";
	struct graph_names names;
	uint32_t a, b, again;

	(void)state;
	graph_names_init(&names);
	assert_int_equal(graph_names_get(&names, one, strlen(one), &a), 0);
	assert_int_equal(graph_names_get(&names, other, strlen(other), &b), 0);
	assert_int_not_equal(a, b);
	assert_int_equal(graph_names_get(&names, other, strlen(other), &again), 0);
	assert_int_equal(b, again);
	assert_string_equal(names.list[b], other);
	graph_names_done(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_names),
		cmocka_unit_test(has_none),
		cmocka_unit_test(cuts_names),
		cmocka_unit_test(tells_names_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
