/* SPDX-License-Identifier: MIT */
/* outfile: a file appears whole or not at all, and a full disk is an error. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/outfile.h"

static char path[64];

static int make_path(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/kiseki-outfile-%d", (int)getpid());
	return 0;
}

static int remove_path(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static size_t file_size(void)
{
	struct stat st;

	return stat(path, &st) ? 0 : (size_t)st.st_size;
}

static void test_commit(void **state)
{
	CLEANUP(outfile) struct outfile *f = NULL;
	struct error e = ERROR_INIT;
	char big[400000];

	(void)state;
	memset(big, 'x', sizeof(big));
	assert_int_equal(outfile_open(&f, path, &e), 0);
	outfile_write(f, "head", 4);
	outfile_write(f, big, sizeof(big));
	outfile_printf(f, "%d", 1234);
	assert_int_equal(outfile_offset(f), 4 + sizeof(big) + 4);
	assert_int_equal(outfile_patch(f, 0, "HEAD", 4, &e), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(outfile_commit(f, &e), 0);
	assert_int_equal(file_size(), 4 + sizeof(big) + 4);
}

/* Bytes in the middle give way to fewer or more, also when several buffers of bytes follow. */
static void test_replace(void **state)
{
	static const char *const middles[] = { "", "mid", "middle", "a much longer middle" };
	struct error e = ERROR_INIT;
	char big[600000], got[700000];
	size_t i, len;
	FILE *in;

	(void)state;
	for (i = 0; i < sizeof(big); i++)
		big[i] = (char)('a' + i % 23);
	for (i = 0; i < 4; i++) {
		CLEANUP(outfile) struct outfile *f = NULL;

		len = strlen(middles[i]);
		assert_int_equal(outfile_open(&f, path, &e), 0);
		outfile_write(f, "head middle", 11);
		outfile_write(f, big, sizeof(big));
		assert_true(outfile_is_file(f));
		assert_int_equal(outfile_replace(f, 5, 6, middles[i], &e), 0);
		outfile_write(f, "tail", 4);
		assert_int_equal(outfile_offset(f), 5 + len + sizeof(big) + 4);
		assert_int_equal(outfile_commit(f, &e), 0);
		in = fopen(path, "rb");
		assert_non_null(in);
		assert_int_equal(fread(got, 1, sizeof(got), in), 5 + len + sizeof(big) + 4);
		fclose(in);
		assert_memory_equal(got, "head ", 5);
		assert_memory_equal(got + 5, middles[i], len);
		assert_memory_equal(got + 5 + len, big, sizeof(big));
		assert_memory_equal(got + 5 + len + sizeof(big), "tail", 4);
	}
}

static void test_no_commit(void **state)
{
	struct outfile *f = NULL;
	struct error e = ERROR_INIT;

	(void)state;
	unlink(path);
	assert_int_equal(outfile_open(&f, path, &e), 0);
	outfile_write(f, "half", 4);
	outfile_free(f);
	assert_int_equal(access(path, F_OK), -1);
}

static void test_full(void **state)
{
	CLEANUP(outfile) struct outfile *f = NULL;
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(outfile_open(&f, "/dev/full", &e), 0);
	outfile_write(f, "x", 1);
	assert_int_equal(outfile_commit(f, &e), -ENOSPC);
	assert_non_null(strstr(e.text, "/dev/full"));
}

static void test_no_folder(void **state)
{
	struct outfile *f = NULL;
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(outfile_open(&f, "/nonexistent/x", &e), -ENOENT);
	assert_null(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commit),	  cmocka_unit_test(test_replace),
		cmocka_unit_test(test_no_commit), cmocka_unit_test(test_full),
		cmocka_unit_test(test_no_folder),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
