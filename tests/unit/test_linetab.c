/* SPDX-License-Identifier: MIT */
/* linetab: the table of a program's lines says of every address what its DWARF does. */
#include <sys/mman.h>

#include "compiled.h"
#include "symbol/linetab.h"

static struct dwarf_lines *open_lines(struct elf_file *f, const char *path)
{
	struct dwarf_lines *l = NULL;

	assert_int_equal(elf_file_open(f, open(path, O_RDONLY | O_CLOEXEC), NULL), 0);
	if (dwarf_lines_open(f, &l) == -ENODATA) {
		print_message("[ NOTE     ] %s was compiled without lines\n", path);
		elf_file_close(f);
		skip();
	}
	assert_non_null(l);
	return l;
}

static struct symfile *make_table(const char *path, uint64_t bias)
{
	static const uint8_t id[] = { 1, 2 };
	struct elf_file f;
	struct linetab_owner o = { .id = id, .id_len = 2, .file = &f, .bias = bias };
	struct dwarf_lines *l = open_lines(&f, path);
	struct symfile *table = NULL;
	int fd = memfd_create("lines", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(linetab_write(fd, l, &o), 0);
	assert_int_equal(symfile_open(fd, &table, NULL), 0);
	assert_int_equal(symfile_get_head(table)->kind, SYMFILE_LINES);
	assert_int_equal(symfile_check(table), 0);
	dwarf_lines_free(l);
	elf_file_close(&f);
	return table;
}

/* Returns how many addresses had a line. */
static size_t compare(const char *path, uint64_t bias, uint64_t step)
{
	struct symfile *table = make_table(path, bias);
	const char *file = NULL, *wanted_file = NULL;
	uint32_t line = 0, wanted = 0;
	struct elf_file f;
	struct dwarf_lines *l = open_lines(&f, path);
	size_t i, found = 0;
	uint64_t at;

	for (i = 0; i < f.n_code; i++)
		for (at = f.code[i].from; at < f.code[i].to; at += step) {
			bool has = dwarf_lines_find(l, at, &wanted_file, &wanted) == 1;

			assert_int_equal(symfile_find_line(table, at + bias, &file, &line), has);
			if (!has)
				continue;
			assert_string_equal(file, wanted_file);
			assert_int_equal(line, wanted);
			found++;
		}
	dwarf_lines_free(l);
	elf_file_close(&f);
	symfile_close(table);
	return found;
}

static void test_same(void **state)
{
	static const char *const flags[] = { "-gdwarf-2 -O2", "-gdwarf-4 -O1", "-gdwarf-5 -O2",
					     "-g -O2 -ffunction-sections -Wl,--gc-sections" };
	char path[64];
	size_t i;

	(void)state;
	snprintf(path, sizeof(path), "%s/lined", folder);
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		assert_int_equal(command("rm -f lined && cc %s -o lined program.c", flags[i]), 0);
		assert_true(compare(path, 0, 1) > 100);
		assert_true(compare(path, 0x7000, 1) > 100);
	}
}

/* A larger one, this program itself, of many units with the same headers. */
static void test_self(void **state)
{
	(void)state;
	assert_true(compare("/proc/self/exe", 0, 16) > 1000);
}

static void test_none(void **state)
{
	struct elf_file f;
	struct dwarf_lines *l = NULL;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/bare", folder);
	assert_int_equal(command("cc -O1 -s -o bare program.c"), 0);
	assert_int_equal(elf_file_open(&f, open(path, O_RDONLY | O_CLOEXEC), NULL), 0);
	assert_int_equal(dwarf_lines_open(&f, &l), -ENODATA);
	elf_file_close(&f);
}

static int stop(void *context, const struct dwarf_piece *p)
{
	++*(int *)context;
	assert_true(p->to > p->from && p->line && *p->file);
	return -ECANCELED;
}

/* Who has enough says so. */
static void test_stops(void **state)
{
	struct elf_file f;
	struct dwarf_lines *l = open_lines(&f, "/proc/self/exe");
	int calls = 0;

	(void)state;
	assert_int_equal(dwarf_lines_walk(l, stop, &calls), -ECANCELED);
	assert_int_equal(calls, 1);
	dwarf_lines_free(l);
	elf_file_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_stops),
	};

	if (system("cc --version >/dev/null 2>&1") != 0) {
		puts("skipped: no compiler");
		return 77;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
