/* SPDX-License-Identifier: MIT */
/* kallsyms: kernels with modules, without addresses, of 32 bits, cut; and that of this machine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/kallsyms.h"
#include "symbol/symbols.h"

static const char text[] = "0000000000000000 A per_cpu_start\n"
			   "0000000000001000 d per_cpu_thing\n"
			   "ffffffc008000000 T _text\n"
			   "ffffffc008010000 T _stext\n"
			   "ffffffc008010000 T __irqentry_text_start\n"
			   "ffffffc008010000 t gic_handle_irq\n"
			   "ffffffc008010040 W weak_one\n"
			   "ffffffc008010040 t local_one\n"
			   "ffffffc008010080 T schedule\n"
			   "ffffffc008010080 T __sched_text_start\n"
			   "ffffffc008010100 t $x\n"
			   "ffffffc008010200 T _etext\n"
			   "ffffffc008010200 D __start_rodata\n"
			   "ffffffc008010300 r some_data\n"
			   "ffffffc000000000 t ext4_mount\t[ext4]\n"
			   "ffffffc000000100 t ext4_umount\t[ext4]\n"
			   "ffffffc000000180 d ext4_table\t[ext4]\n"
			   "ffffffc000001800 t ext4_last\t[ext4]\n"
			   "ffffffc000100000 t bpf_prog_6deef7357e7b4530\t[bpf]\n";

static struct kallsyms *parse(const char *from)
{
	struct error e = ERROR_INIT;
	struct kallsyms *k = NULL;

	assert_int_equal(kallsyms_parse(from, strlen(from), &k, &e), 0);
	return k;
}

static void expect(const struct kallsyms *k, uint64_t address, const char *name, const char *module)
{
	struct kallsyms_symbol s;

	assert_int_equal(kallsyms_find(k, address, &s), name != NULL);
	if (!name)
		return;
	assert_string_equal(s.name, name);
	if (module)
		assert_string_equal(s.module, module);
	else
		assert_null(s.module);
}

static void test_names(void **state)
{
	struct kallsyms *k = parse(text);

	(void)state;
	expect(k, 0x1000, NULL, NULL);
	expect(k, 0xffffffc007ffffffULL, NULL, NULL);
	expect(k, 0xffffffc008010000ULL, "gic_handle_irq", NULL);
	expect(k, 0xffffffc00801003fULL, "gic_handle_irq", NULL);
	expect(k, 0xffffffc008010040ULL, "weak_one", NULL);
	expect(k, 0xffffffc008010080ULL, "schedule", NULL);
	expect(k, 0xffffffc0080100ffULL, "schedule", NULL);
	expect(k, 0xffffffc008010300ULL, NULL, NULL);
	expect(k, 0xffffffc000000000ULL, "ext4_mount", "[ext4]");
	expect(k, 0xffffffc00000017fULL, "ext4_umount", "[ext4]");
	expect(k, 0xffffffc000000180ULL, NULL, NULL); /* data ends it */
	/* The last of a module reaches to the end of its page, the last of all nowhere. */
	expect(k, 0xffffffc000001fffULL, "ext4_last", "[ext4]");
	expect(k, 0xffffffc000002000ULL, NULL, NULL);
	expect(k, 0xffffffc000100000ULL, "bpf_prog_6deef7357e7b4530", "[bpf]");
	expect(k, 0xffffffc000100001ULL, NULL, NULL);
	expect(k, UINT64_MAX, NULL, NULL);
	kallsyms_free(k);
}

static void test_32_bits(void **state)
{
	struct kallsyms *k = parse("c0008000 T stext\nc0008100 t __create_page_tables\n"
				   "bf000000 t init\t[usb]\nffff1000 t vector_rst\n"
				   "bf010000 t other\t[hid]\n");

	(void)state;
	expect(k, 0xc0008100, "__create_page_tables", NULL);
	expect(k, 0xbf000004, "init", "[usb]");
	expect(k, 0xbf010000, "other", "[hid]");
	expect(k, 0xffff1004, "vector_rst", NULL);
	kallsyms_free(k);
}

/* Where sections begin and end is no function, if one is there. */
static void test_marks(void **state)
{
	static const char *const marks[] = { "_text",
					     "_stext",
					     "_etext",
					     "_sinittext",
					     "_einittext",
					     "__lock_text_end",
					     "__lock_text_start",
					     "__cpuidle_text_begin" };
	char lines[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		struct kallsyms *k;

		snprintf(lines, sizeof(lines), "c0008000 T %s\nc0008000 t f\nc0008100 D end\n",
			 marks[i]);
		k = parse(lines);
		expect(k, 0xc0008000, "f", NULL);
		kallsyms_free(k);
	}
}

/* Never a wrong name, and a reason that can be acted on. */
static void test_hidden(void **state)
{
	static const char zeros[] = "0000000000000000 T _text\n0000000000000000 T schedule\n"
				    "0000000000000000 t f\t[m]\n";
	struct error e = ERROR_INIT;
	struct kallsyms *k = NULL;

	(void)state;
	assert_int_equal(kallsyms_parse(zeros, sizeof(zeros) - 1, &k, &e), -ENODATA);
	assert_null(k);
	assert_non_null(strstr(e.text, "kptr_restrict"));
	assert_int_equal(kallsyms_parse("", 0, &k, &e), -ENODATA);
	assert_int_equal(kallsyms_parse("no\nsymbols\n", 11, &k, &e), -ENODATA);
}

/* A name that is cut is another function's. */
static void test_every_cut(void **state)
{
	size_t n;

	(void)state;
	for (n = 0; n <= strlen(text); n++) {
		char *copy = malloc(n + 1);
		struct kallsyms *k = NULL;

		assert_non_null(copy);
		memcpy(copy, text, n);
		if (kallsyms_parse(copy, n, &k, NULL) == 0) {
			struct kallsyms_symbol s;

			if (kallsyms_find(k, 0xffffffc008010080ULL, &s))
				assert_string_equal(s.name, "schedule");
			kallsyms_free(k);
		}
		free(copy);
	}
}

static void test_problem(void **state)
{
	struct symbols_options o = { .kallsyms = "/nonexistent/kallsyms" };
	struct symbols *s = NULL;
	struct symbol name;

	(void)state;
	assert_int_equal(symbols_new(&o, &s, NULL), 0);
	assert_null(symbols_get_problem(s, 0));
	assert_int_equal(symbols_find_kernel(s, 4096, &name), 0);
	assert_null(name.name);
	assert_string_equal(name.object, "[kernel]");
	assert_int_equal(name.offset, 4096);
	assert_int_equal(symbols_find_kernel(s, 4097, &name), 0);
	assert_non_null(strstr(symbols_get_problem(s, 0), "/nonexistent/kallsyms"));
	assert_null(symbols_get_problem(s, 1));
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	cmocka_unit_test(test_32_bits),
		cmocka_unit_test(test_hidden),	cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_problem), cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
