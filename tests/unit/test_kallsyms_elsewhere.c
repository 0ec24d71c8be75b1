/* SPDX-License-Identifier: MIT */
/*
 * kallsyms_elsewhere: names of a kernel that another process reads. What comes back is kept or not, and never believed:
 * the linker puts our own function before the one that writes the tables (--wrap), so that the process sends what this test asks of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/kallsyms.h"
#include "symbol/object_reader.h"
#include "symbol/symfile_write.h"

enum deed {
	AS_IT_IS,
	NO_TABLES,
	EMPTY_TABLES,
	SWAPPED,
	WITHOUT_MODULES,
	OF_ANOTHER_TEXT,
	OF_A_LONGER_ID,
	CRASH,
};

static enum deed *deed; /* shared with the process */
static char folder[] = "/tmp/kiseki-kernel-XXXXXX";
static char kernel[64], cache[64];

int __real_kallsyms_write_tables(const struct kallsyms *k, int kernel_fd, int modules_fd);
int __wrap_kallsyms_write_tables(const struct kallsyms *k, int kernel_fd, int modules_fd);

static int write_longer_id(int fd)
{
	static const uint8_t id[20] = { 1 };
	struct symtab *t = symtab_new();
	struct symfile_source s = { .kind = SYMFILE_KERNEL, .id = id, .id_len = 20, .table = t };
	int r = t ? symtab_index(t) : -ENOMEM;

	r = r == 0 ? symfile_write(fd, &s) : r;
	symtab_free(t);
	return r;
}

static int write_another(int kernel_fd, int modules_fd)
{
	static const char text[] = "1000 T wrong\n2000 T end\n";
	struct kallsyms *k = NULL;
	int r = kallsyms_parse(text, sizeof(text) - 1, &k, NULL);

	r = r == 0 ? __real_kallsyms_write_tables(k, kernel_fd, modules_fd) : r;
	kallsyms_free(k);
	return r;
}

int __wrap_kallsyms_write_tables(const struct kallsyms *k, int kernel_fd, int modules_fd)
{
	switch (*deed) {
	case NO_TABLES:
		return -EIO;
	case EMPTY_TABLES:
		return 0;
	case SWAPPED:
		return __real_kallsyms_write_tables(k, modules_fd, kernel_fd);
	case WITHOUT_MODULES:
		__real_kallsyms_write_tables(k, kernel_fd, modules_fd);
		return ftruncate(modules_fd, 0);
	case OF_ANOTHER_TEXT:
		return write_another(kernel_fd, modules_fd);
	case OF_A_LONGER_ID:
		return write_longer_id(kernel_fd);
	case CRASH:
		abort();
	default:
		return __real_kallsyms_write_tables(k, kernel_fd, modules_fd);
	}
}

static int run(const char *command)
{
	char line[256];

	snprintf(line, sizeof(line), "cd %s && %s", folder, command);
	return system(line);
}

static int set_up(void **state)
{
	static const char text[] = "ffffffc008010000 T first\nffffffc008010040 t second\n"
				   "ffffffc008010080 D data\nffffffc000000000 t mount\t[ext4]\n";
	FILE *f;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(kernel, sizeof(kernel), "%s/kallsyms", folder);
	snprintf(cache, sizeof(cache), "%s/cache", folder);
	f = fopen(kernel, "w");
	if (!f || fputs(text, f) < 0)
		return -1;
	return fclose(f);
}

static int tear_down(void **state)
{
	char line[64];

	(void)state;
	snprintf(line, sizeof(line), "rm -rf %s", folder);
	return system(line);
}

/* Opens it, with a cache or without, and has the names. */
static void expect_names(struct symcache *c, bool is_kept)
{
	struct kallsyms_symbol s;
	struct kallsyms *k = NULL;

	assert_int_equal(kallsyms_open(kernel, c, &k, NULL), 0);
	assert_int_equal(kallsyms_get_kept(k) != NULL, is_kept);
	assert_true(kallsyms_find(k, 0xffffffc008010044ULL, &s));
	assert_string_equal(s.name, "second");
	assert_true(kallsyms_find(k, 0xffffffc000000000ULL, &s));
	assert_string_equal(s.module, "[ext4]");
	assert_false(kallsyms_find(k, 0x1000, &s));
	kallsyms_free(k);
}

static void expect_refused(enum deed what, int code, const char *why)
{
	struct error e = ERROR_INIT;
	struct kallsyms *k = NULL;

	*deed = what;
	assert_int_equal(kallsyms_open(kernel, NULL, &k, &e), code);
	assert_null(k);
	assert_non_null(strstr(e.text, why));
	*deed = AS_IT_IS;
}

static void test_kept(void **state)
{
	struct symcache *c = NULL;

	(void)state;
	expect_names(NULL, true); /* a table that came is one, kept or not */
	assert_int_equal(symcache_open(cache, 0, &c, NULL), 0);
	expect_names(c, true);
	assert_int_equal(run("test $(ls cache | wc -l) = 2"), 0);
	*deed = CRASH; /* nobody is asked any more */
	expect_names(c, true);
	*deed = AS_IT_IS;
	assert_int_equal(run("rm -r cache"), 0); /* nowhere to keep it */
	expect_names(c, true);
	assert_int_equal(run("test ! -e cache"), 0);
	symcache_close(c);
}

static void test_refused(void **state)
{
	static const char order[] = "its reader is out of order";

	(void)state;
	expect_refused(NO_TABLES, -EBADMSG, "cannot be read");
	expect_refused(EMPTY_TABLES, -EBADMSG, order);
	expect_refused(SWAPPED, -EBADMSG, order);
	expect_refused(WITHOUT_MODULES, -EBADMSG, order);
	expect_refused(OF_ANOTHER_TEXT, -EBADMSG, order);
	expect_refused(OF_A_LONGER_ID, -EBADMSG, order);
	expect_refused(CRASH, -EBADMSG, "cannot be read: ");
	expect_names(NULL, true);
}

/* Read here: what cannot be kept is used as it is. */
static void test_here(void **state)
{
	struct symcache *c = NULL;

	(void)state;
	object_reader_stop();
	expect_names(NULL, false);
	assert_int_equal(symcache_open(cache, 0, &c, NULL), 0);
	expect_names(c, true);
	/* One of two is none, and both are made anew. */
	assert_int_equal(run("rm cache/*.modules.ksym"), 0);
	expect_names(c, true);
	assert_int_equal(run("test -f cache/*.modules.ksym"), 0);
	/* Where the second can have no place, the first is not used, either. */
	assert_int_equal(run("m=$(ls cache/*.modules.ksym) && rm cache/* && mkdir $m"), 0);
	expect_names(c, false);
	assert_int_equal(run("rm -r cache"), 0);
	expect_names(c, false);
	symcache_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_here),
	};

	deed = mmap(NULL, sizeof(*deed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (deed == MAP_FAILED || object_reader_start(OBJECT_READER_FOLDERS_ONLY, NULL) < 0)
		return 1;
	return cmocka_run_group_tests_name("kallsyms_elsewhere", tests, set_up, tear_down);
}
