/* SPDX-License-Identifier: MIT */
/* Functions of addresses: the same in all processes, by the maps of their time, and never a wrong name. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/call_names.h"

static char program[4096];

/* One library in two processes, at different places; in the second it is replaced by another one. */
static char liba[] = "/usr/lib/liba.so.1", libb[] = "/usr/lib/libb.so";
static struct func_mapping first[] = {
	{ .from = 0x1000,
	  .to = 0x3000,
	  .offset = 0,
	  .since = 1,
	  .until = UINT32_MAX,
	  .path = liba },
};
static struct func_mapping second[] = {
	{ .from = 0x9000, .to = 0xb000, .offset = 0, .since = 1, .until = 3, .path = liba },
	{ .from = 0x9000, .to = 0xa000, .offset = 0x500, .since = 3, .until = 5, .path = libb },
};
static char command[] = "x", nothing[] = "";
static struct func_process processes[] = {
	{ .pid = 1, .command = command, .exe = nothing, .mappings = first, .n_mappings = 1 },
	{ .pid = 2, .command = command, .exe = nothing, .mappings = second, .n_mappings = 2 },
	{ .pid = 0, .kernel = true, .command = command, .exe = nothing },
};
static const struct func_source source = { .processes = processes, .n_processes = 3 };

static uint32_t find(struct call_names *n, uint32_t process, uint32_t generation, uint64_t address)
{
	uint32_t function;

	assert_int_equal(call_names_find(n, process, generation, address, &function), 0);
	return function;
}

static const char *name(struct call_names *n, uint32_t process, uint32_t generation,
			uint64_t address)
{
	return call_names_get(n, find(n, process, generation, address))->name;
}

static void test_objects(void **state)
{
	struct call_names *n = NULL;
	uint32_t function;

	(void)state;
	assert_int_equal(call_names_new(&n, &source, NULL, NULL), 0);
	function = find(n, 0, 1, 0x1234);
	assert_string_equal(call_names_get(n, function)->name, "liba.so.1+0x234");
	assert_string_equal(call_names_get(n, function)->object, "liba.so.1");
	assert_false(call_names_get(n, function)->known);
	assert_int_equal(find(n, 0, 7, 0x1234), function);
	assert_int_equal(find(n, 1, 1, 0x9234), function); /* the same place of the same object */
	assert_int_not_equal(find(n, 1, 1, 0x9235), function);
	assert_int_equal(call_names_count(n), 2);
	call_names_free(n);
}

static void test_generations(void **state)
{
	struct call_names *n = NULL;

	(void)state;
	assert_int_equal(call_names_new(&n, &source, NULL, NULL), 0);
	assert_string_equal(name(n, 1, 2, 0x9100), "liba.so.1+0x100");
	assert_string_equal(name(n, 1, 3, 0x9100), "libb.so+0x600");
	assert_string_equal(name(n, 1, 4, 0x9100), "libb.so+0x600");
	assert_string_equal(name(n, 1, 5, 0x9100), "[unknown]+0x9100"); /* it is gone */
	assert_string_equal(name(n, 1, 2, 0x9100), "liba.so.1+0x100");	/* not the last answer */
	/* Before the maps were saved nobody knows, though later ones have something there. */
	assert_string_equal(name(n, 1, 0, 0x9100), "[unknown]+0x9100");
	assert_string_equal(name(n, 0, 1, 0x4000), "[unknown]+0x4000");
	assert_string_equal(name(n, 2, 0, 0xffff0000), "[kernel]+0xffff0000");
	call_names_free(n);
}

static void test_patterns(void **state)
{
	struct call_names *n = NULL;
	uint32_t function;

	(void)state;
	assert_int_equal(call_names_new(&n, &source, NULL, NULL), 0);
	function = find(n, 0, 1, 0x1234);
	assert_true(call_names_fits(n, function, NULL));
	assert_true(call_names_fits(n, function, "liba*"));
	assert_false(call_names_fits(n, function, "a*"));
	call_names_free(n);
}

/* This very program, as its own maps have it. */
static void test_symbols(void **state)
{
	struct symbols_options o = { 0 };
	struct func_mapping m = { .since = 1, .until = UINT32_MAX, .path = program };
	struct func_process self = {
		.command = command, .exe = nothing, .mappings = &m, .n_mappings = 1
	};
	struct func_source here = { .processes = &self, .n_processes = 1 };
	uint64_t address = (uint64_t)(uintptr_t)test_patterns;
	struct symbols *symbols = NULL;
	struct call_names *n = NULL;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];
	uint32_t function;

	(void)state;
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) &&
	       (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &m.from, &m.to, &m.offset) !=
			3 ||
		address < m.from || address >= m.to))
		;
	fclose(maps);
	assert_in_range(address, m.from, m.to - 1);
	assert_int_equal(symbols_new(&o, &symbols, NULL), 0);
	assert_int_equal(call_names_new(&n, &here, symbols, NULL), 0);
	function = find(n, 0, 1, address);
	assert_string_equal(call_names_get(n, function)->name, "test_patterns");
	assert_true(call_names_get(n, function)->known);
	assert_string_equal(call_names_get(n, function)->object, "test_call_names");
	assert_int_equal(find(n, 0, 1, address + 4), function); /* anywhere in it */
	call_names_free(n);
	symbols_free(symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_generations),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_symbols),
	};
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (len < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
