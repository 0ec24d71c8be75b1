/* SPDX-License-Identifier: MIT */
/* maps: generations, build-ids, strange paths, cut texts; and the map of this very process. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/emulator.h"
#include "trace/maps.h"

#define HEAD "# kiseki maps 1\n"
#define ID "8d7f1c0e6a2b4c55a1f0d3e2b7a9c8d6e5f40312"
#define EDITOR "aaaad5c00000-aaaad5c01000 r-xp 00002000 fe:00 131    /usr/bin/editor\n"
#define LIBRARY "ffff90000000-ffff90010000 r-xp 00000000 fe:00 132    /usr/lib/libm.so.6\n"
#define OTHER "ffff90000000-ffff90010000 r-xp 00000000 fe:00 133    /usr/lib/libz.so.1\n"

static struct maps parse(const char *text)
{
	struct maps m = { 0 };

	assert_int_equal(maps_parse(text, strlen(text), &m, NULL), 0);
	return m;
}

static const char *at(const struct maps *m, uint32_t generation, uint64_t address)
{
	const struct func_mapping *f = maps_get(m->mappings, m->n, generation, address);

	return f ? f->path : "-";
}

static void test_generations(void **state)
{
	struct maps m = parse(HEAD "# generation 1\n# build-id " ID "\n" EDITOR "# end 1\n"
				   "# generation 2\n# build-id " ID "\n" EDITOR LIBRARY "# end 2\n"
				   "# generation 3\n# build-id " ID "\n" EDITOR OTHER "# end 3\n");

	(void)state;
	assert_int_equal(m.n, 3);
	assert_int_equal(m.bad_lines, 0);
	assert_int_equal(m.newest_generation, 3);
	assert_int_equal(m.mappings[0].from, 0xaaaad5c00000ULL);
	assert_int_equal(m.mappings[0].to, 0xaaaad5c01000ULL);
	assert_int_equal(m.mappings[0].offset, 0x2000);
	assert_int_equal(m.mappings[0].since, 1);
	assert_int_equal(m.mappings[0].until, 4);
	assert_int_equal(m.mappings[0].build_id_len, 20);
	assert_int_equal(m.mappings[0].build_id[0], 0x8d);
	assert_int_equal(m.mappings[0].build_id[19], 0x12);
	assert_int_equal(m.mappings[1].build_id_len, 0);
	assert_int_equal(m.mappings[1].since, 2);
	assert_int_equal(m.mappings[1].until, 3);
	assert_string_equal(at(&m, 1, 0xaaaad5c00fffULL), "/usr/bin/editor");
	assert_string_equal(at(&m, 1, 0xaaaad5c01000ULL), "-");
	assert_string_equal(at(&m, 1, 0xffff90000000ULL), "-");
	assert_string_equal(at(&m, 2, 0xffff90000000ULL), "/usr/lib/libm.so.6");
	assert_string_equal(at(&m, 3, 0xffff90000000ULL), "/usr/lib/libz.so.1");
	assert_string_equal(at(&m, 0, 0xaaaad5c00000ULL), "-");
	/* Another object may have taken its place. */
	assert_string_equal(at(&m, 4, 0xffff90000000ULL), "-");
	maps_done(&m);
}

/* A generation that was not written to its end, or is not there, says nothing. */
static void test_missing_generations(void **state)
{
	struct maps m = parse(HEAD "# generation 1\n" EDITOR "# end 1\n# generation 2\n" LIBRARY);

	(void)state;
	assert_int_equal(m.newest_generation, 1);
	assert_int_equal(m.n, 1);
	assert_int_equal(m.bad_lines, 1);
	maps_done(&m);
	m = parse(HEAD "# generation 1\n" EDITOR "# end 1\n# generation 2\n" LIBRARY
		       "# generation 3\n" EDITOR "# end 3\n");
	assert_string_equal(at(&m, 1, 0xaaaad5c00000ULL), "/usr/bin/editor");
	assert_string_equal(at(&m, 2, 0xaaaad5c00000ULL), "-");
	assert_string_equal(at(&m, 2, 0xffff90000000ULL), "-");
	assert_string_equal(at(&m, 3, 0xaaaad5c00000ULL), "/usr/bin/editor");
	maps_done(&m);
	/* Numbers that do not grow are damage, and so is what follows them. */
	m = parse(HEAD "# generation 2\n" EDITOR "# end 2\n# generation 2\n" LIBRARY "# end 2\n");
	assert_int_equal(m.n, 1);
	assert_int_equal(m.bad_lines, 3);
	maps_done(&m);
}

static void test_plain_copy(void **state)
{
	struct maps m = parse("aaaad5c00000-aaaad5c01000 r--p 00000000 fe:00 131 /usr/bin/editor\n"
			      "aaaad5c01000-aaaad5c02000 r-xp 00001000 fe:00 131 /usr/bin/editor\n"
			      "ffff8000-ffff9000 rwxp 00000000 00:00 0 \n"
			      "ffffa000-ffffb000 r-xp 00000000 00:00 0 [vdso]\n");

	(void)state;
	assert_int_equal(m.n, 3);
	assert_int_equal(m.bad_lines, 0);
	assert_int_equal(m.mappings[0].since, 0);
	assert_true(m.mappings[0].until == UINT32_MAX);
	assert_string_equal(at(&m, 0, 0xffff8000), "");
	assert_string_equal(at(&m, 7, 0xffffa000), "[vdso]");
	maps_done(&m);
}

static void test_paths(void **state)
{
	struct maps m = parse("1000-2000 r-xp 0 0:0 0 /a b\tc\tbuild-id=0aFf\n"
			      "3000-4000 r-xp 0 0:0 0 /new\\012line (deleted)\n"
			      "5000-6000 r-xp 0 0:0 0 /odd\tbuild-id=0af\n"
			      "7000-8000 r-xp 0 0:0 0 /long\tbuild-id=" ID "00\n");

	(void)state;
	assert_int_equal(m.n, 4);
	assert_string_equal(m.mappings[0].path, "/a b\tc");
	assert_int_equal(m.mappings[0].build_id_len, 2);
	assert_int_equal(m.mappings[0].build_id[1], 0xff);
	assert_string_equal(m.mappings[1].path, "/new\nline (deleted)");
	assert_string_equal(m.mappings[2].path, "/odd\tbuild-id=0af");
	assert_int_equal(m.mappings[2].build_id_len, 0);
	assert_int_equal(m.mappings[3].build_id_len, 0);
	maps_done(&m);
}

static void test_bad_lines(void **state)
{
	static const char *const lines[] = {
		"garbage\n",
		"1000 2000 r-xp 0 0:0 0 /a\n",
		"2000-1000 r-xp 0 0:0 0 /a\n",
		"1000-1000 r-xp 0 0:0 0 /a\n",
		"1000-2000 r-x 0 0:0 0 /a\n",
		"1000-2000 r-xp 0 00 0 /a\n",
		"1000-2000 r-xp 0 0:0 0/a\n",
		"10000000000000000-20000000000000000 r-xp 0 0:0 0 /a\n",
		"1000-2000 r-xp 0 0:0 0 /a",
	};
	struct error e = ERROR_INIT;
	struct maps m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		m = parse(lines[i]);
		assert_int_equal(m.n, 0);
		assert_int_equal(m.bad_lines, 1);
		maps_done(&m);
	}
	assert_int_equal(maps_parse("# kiseki maps 2\n", 16, &m, &e), -EPROTONOSUPPORT);
	assert_non_null(strstr(e.text, "version"));
}

/* The bytes behind a cut are never looked at, and what is found was complete. */
static void test_every_cut(void **state)
{
	static const char text[] = HEAD "# generation 1\n# build-id " ID "\n" EDITOR LIBRARY
					"# end 1\n# generation 2\n" EDITOR "# end 2\n";
	struct maps m;
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(text); n++) {
		char *copy = malloc(n ? n : 1);

		assert_non_null(copy);
		memcpy(copy, text, n);
		assert_int_equal(maps_parse(copy, n, &m, NULL), 0);
		assert_true(m.n == 0 || (m.n == 2 && m.mappings[0].build_id_len == 20) || m.n == 3);
		maps_done(&m);
		free(copy);
	}
}

/* As many as a process can have, and one more; of one generation, and of many. */
static void test_too_many(void **state)
{
	const size_t room = (FUNC_MAPPINGS_MAX + 1) * 64 + 64;
	char *text = malloc(room);
	struct error e = ERROR_INIT;
	struct maps m;
	size_t len = 0;
	uint32_t i;

	(void)state;
	assert_non_null(text);
	for (i = 0; i < FUNC_MAPPINGS_MAX; i++)
		len += (size_t)snprintf(text + len, room - len, "%x000-%x000 r-xp 0 0:0 1 /a\n",
					i + 1, i + 2);
	assert_int_equal(maps_parse(text, len, &m, &e), 0);
	assert_int_equal(m.n, FUNC_MAPPINGS_MAX);
	maps_done(&m);
	len += (size_t)snprintf(text + len, room - len, "%x000-%x000 r-xp 0 0:0 1 /a\n", i + 1,
				i + 2);
	assert_int_equal(maps_parse(text, len, &m, &e), -E2BIG);
	assert_non_null(strstr(e.text, "more mappings than a process has"));
	for (i = 0, len = 0; i <= FUNC_MAPPINGS_MAX; i++)
		len += (size_t)snprintf(text + len, room - len,
					"# generation %u\n%x000-ffff0000 r-xp 0 0:0 1 /a\n", i,
					i + 1);
	assert_int_equal(maps_parse(text, len, &m, &e), -E2BIG);
	free(text);
}

static void test_this_process(void **state)
{
	static char text[1 << 20];
	FILE *f;
	struct maps m;
	const char *path;

	(void)state;
	if (emulator_is_qemu())
		skip(); /* some versions show code as data */
	f = fopen("/proc/self/maps", "r");
	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	m = parse(text);
	assert_int_equal(m.bad_lines, 0);
	path = at(&m, 0, (uint64_t)(uintptr_t)test_this_process);
	assert_non_null(strstr(path, "test_maps"));
	maps_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generations),  cmocka_unit_test(test_missing_generations),
		cmocka_unit_test(test_plain_copy),   cmocka_unit_test(test_paths),
		cmocka_unit_test(test_bad_lines),    cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_this_process), cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
