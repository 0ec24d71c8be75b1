/* SPDX-License-Identifier: MIT */
/* symtab: whose address it is: holes, nesting, aliases, labels; and all of it beside a plain search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/symtab.h"

#define GLOBAL SYMTAB_GLOBAL
#define LOCAL SYMTAB_LOCAL

struct row {
	uint64_t start, end;
	const char *name;
	uint8_t rank;
	bool open;
};

static struct symtab *make(const struct row *rows, size_t n)
{
	struct symtab *t = symtab_new();
	size_t i;

	assert_non_null(t);
	for (i = 0; i < n; i++) {
		struct symtab_item item = { .start = rows[i].start,
					    .end = rows[i].end,
					    .name = rows[i].name,
					    .name_len = (uint32_t)strlen(rows[i].name),
					    .rank = rows[i].rank,
					    .open = rows[i].open };

		assert_int_equal(symtab_push(t, &item), 0);
	}
	assert_int_equal(symtab_index(t), 0);
	return t;
}

static const char *at(const struct symtab *t, uint64_t address)
{
	const struct symtab_symbol *s = symtab_find(t, address);

	return s ? s->name : "-";
}

static void test_holes_and_nesting(void **state)
{
	static const struct row rows[] = {
		{ 0x1000, 0x1100, "outer", GLOBAL, false },
		{ 0x1040, 0x1050, "inner", LOCAL, false },
		{ 0x1044, 0x1048, "core", LOCAL, false },
		{ 0x2000, 0x2010, "far", GLOBAL, false },
		{ 0x2008, 0x2020, "overlap", LOCAL, false },
	};
	struct symtab *t = make(rows, 5);

	(void)state;
	assert_string_equal(at(t, 0), "-");
	assert_string_equal(at(t, 0xfff), "-");
	assert_string_equal(at(t, 0x1000), "outer");
	assert_string_equal(at(t, 0x103f), "outer");
	assert_string_equal(at(t, 0x1040), "inner");
	assert_string_equal(at(t, 0x1044), "core");
	assert_string_equal(at(t, 0x1048), "inner");
	assert_string_equal(at(t, 0x1050), "outer");
	assert_string_equal(at(t, 0x10ff), "outer");
	assert_string_equal(at(t, 0x1100), "-");
	assert_string_equal(at(t, 0x1fff), "-");
	assert_string_equal(at(t, 0x2007), "far");
	assert_string_equal(at(t, 0x2008), "overlap");
	assert_string_equal(at(t, 0x201f), "overlap");
	assert_string_equal(at(t, 0x2020), "-");
	assert_string_equal(at(t, UINT64_MAX), "-");
	assert_int_equal(symtab_find(t, 0x1050)->start, 0x1000);
	symtab_free(t);
}

/* Whatever the order in the file. */
static void test_aliases(void **state)
{
	static const struct row rows[] = {
		{ 16, 32, "local", LOCAL, false },
		{ 16, 32, "weak", SYMTAB_WEAK, false },
		{ 16, 32, "global_long", GLOBAL, false },
		{ 16, 32, "global_b", GLOBAL, false },
		{ 16, 32, "global_a", GLOBAL, false },
		{ 16, 17, "mark", GLOBAL + SYMTAB_LABEL, true },
	};
	struct row turned[6];
	struct symtab *t;
	size_t i, turn;

	(void)state;
	for (turn = 0; turn < 6; turn++) {
		for (i = 0; i < 6; i++)
			turned[i] = rows[(i * 5 + turn) % 6];
		t = make(turned, 6);
		assert_string_equal(at(t, 16), "global_a");
		assert_string_equal(at(t, 31), "global_a");
		assert_string_equal(at(t, 32), "-");
		symtab_free(t);
	}
}

/* A size that is known counts, whoever has the name. */
static void test_alias_size(void **state)
{
	static const struct row rows[] = {
		{ 16, 4096, "global", GLOBAL, true },
		{ 16, 24, "local", LOCAL, false },
		{ 64, 80, "next", LOCAL, false },
	};
	struct symtab *t = make(rows, 3);

	(void)state;
	assert_string_equal(at(t, 23), "global");
	assert_string_equal(at(t, 24), "-");
	symtab_free(t);
}

static void test_open(void **state)
{
	static const struct row rows[] = {
		{ 100, 200, "sized", LOCAL, false },	{ 120, 1000, "label", LOCAL, true },
		{ 300, 1000, "first", LOCAL, true },	{ 400, 1000, "second", LOCAL, true },
		{ 2000, 2100, "sized2", LOCAL, false },
	};
	struct symtab *t = make(rows, 5);

	(void)state;
	assert_string_equal(at(t, 120), "sized");
	assert_string_equal(at(t, 199), "sized");
	assert_string_equal(at(t, 200), "-");
	assert_string_equal(at(t, 399), "first");
	assert_string_equal(at(t, 400), "second");
	assert_string_equal(at(t, 999), "second");
	assert_string_equal(at(t, 1000), "-");
	symtab_free(t);
}

static void test_ends_of_the_world(void **state)
{
	static const struct row rows[] = {
		{ 0, 1, "zero", GLOBAL, false },
		{ UINT64_MAX - 1, UINT64_MAX, "last", GLOBAL, false },
	};
	struct symtab *t = make(rows, 2), *empty = make(rows, 0);

	(void)state;
	assert_string_equal(at(t, 0), "zero");
	assert_string_equal(at(t, 1), "-");
	assert_string_equal(at(t, UINT64_MAX - 1), "last");
	assert_string_equal(at(t, UINT64_MAX), "-");
	assert_string_equal(at(empty, 0), "-");
	assert_string_equal(at(empty, UINT64_MAX), "-");
	symtab_free(t);
	symtab_free(empty);
	symtab_free(NULL);
}

static uint32_t random_next(uint32_t *seed)
{
	*seed = *seed * 1664525U + 1013904223U;
	return *seed >> 8;
}

/* The innermost of all that have the address is the one that starts last. */
static const char *slow(const struct row *rows, size_t n, uint64_t address)
{
	const struct row *best = NULL;
	size_t i;

	for (i = 0; i < n; i++)
		if (address >= rows[i].start && address < rows[i].end &&
		    (!best || rows[i].start > best->start))
			best = &rows[i];
	return best ? best->name : "-";
}

/* Many symbols in one page, many pages without one, and both searches agree at every edge. */
static void test_random(void **state)
{
	enum { N = 300 };
	static struct row rows[N];
	static char names[N][8];
	uint32_t seed, spread, i, k;

	(void)state;
	for (seed = 1; seed < 60; seed++) {
		uint32_t r = seed;
		struct symtab *t;

		spread = 1U << (seed % 20 + 10);
		for (i = 0; i < N; i++) {
			/* Starts differ, so that there are no aliases. */
			rows[i].start = 0x400000 + (uint64_t)(random_next(&r) % spread) * N + i;
			rows[i].end = rows[i].start + 1 + random_next(&r) % (spread / 4);
			rows[i].rank = LOCAL;
			snprintf(names[i], sizeof(names[i]), "n%u", i);
			rows[i].name = names[i];
		}
		t = make(rows, N);
		for (i = 0; i < N; i++)
			for (k = 0; k < 4; k++) {
				uint64_t a = (k < 2 ? rows[i].start : rows[i].end) - k % 2;

				assert_string_equal(at(t, a), slow(rows, N, a));
			}
		symtab_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holes_and_nesting), cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_alias_size),	  cmocka_unit_test(test_open),
		cmocka_unit_test(test_ends_of_the_world), cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
