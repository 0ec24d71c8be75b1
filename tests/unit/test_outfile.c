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
		cmocka_unit_test(test_commit),
		cmocka_unit_test(test_no_commit),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_no_folder),
	};

	return cmocka_run_group_tests(tests, make_path, remove_path);
}
