/* SPDX-License-Identifier: MIT */
/* demangle: names of C++, names that are none, and names that were made to hurt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/demangle.h"

static void expect(const char *name, const char *readable)
{
	char *got = demangle_dup(name);

	if (!readable) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, readable);
	free(got);
}

static void test_names(void **state)
{
	(void)state;
	expect("_Z3addii", "add(int, int)");
	expect("_ZN5shape6Circle4areaEv", "shape::Circle::area()");
	expect("_ZNSt6vectorIiSaIiEE9push_backERKi",
	       "std::vector<int, std::allocator<int> >::push_back(int const&)");
	expect("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const");
	expect("_ZTv0_n24_N3FooD1Ev", "virtual thunk to Foo::~Foo()");
	expect("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write::h0123456789abcdef");
}

static void test_others(void **state)
{
	(void)state;
	expect("", NULL);
	expect("main", NULL);
	expect("i", NULL); /* the type int, where any text is taken for a type */
	expect("_Z", NULL);
	expect("_Zabc", NULL);
	expect("_ZN5shape", NULL);
	expect("_start", NULL);
}

/* What an entry of a linkage table is called. */
static void test_entries(void **state)
{
	static const struct {
		const char *name, *readable;
	} entries[] = { { "_Z3addii@plt", "add(int, int)@plt" },
			{ "_Z3addii", "add(int, int)" },
			{ "_Z3addi@plt", "add(int)@plt" },
			{ "puts@plt", NULL },
			{ "@plt", NULL } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		char *got = demangle_dup_entry(entries[i].name);

		assert_int_equal(!got, !entries[i].readable);
		if (got)
			assert_string_equal(got, entries[i].readable);
		free(got);
	}
}

/* f(A<A<…>, A<…>>): each level doubles what the one before is written as. */
static void test_growth(void **state)
{
	char name[4096] = "_Z1f1AIiE", digit[8];
	size_t i;

	(void)state;
	for (i = 0; i < 30; i++) {
		snprintf(digit, sizeof(digit), "%c", (char)(i < 10 ? '0' + i : 'A' + i - 10));
		strcat(name, "S_I");
		strcat(name, "S");
		strcat(name, digit);
		strcat(name, "_S");
		strcat(name, digit);
		strcat(name, "_E");
	}
	expect(name, NULL);
}

static void test_length(void **state)
{
	static char name[DEMANGLE_IN_MAX * 2];

	(void)state;
	memset(name, 'P', sizeof(name) - 1);
	memcpy(name, "_Z1f", 4);
	expect(name, NULL);
	name[DEMANGLE_IN_MAX - 1] = 0;
	expect(name, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	cmocka_unit_test(test_others),
		cmocka_unit_test(test_entries), cmocka_unit_test(test_growth),
		cmocka_unit_test(test_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
