/* SPDX-License-Identifier: MIT */
/* database: files that SQLite left, and what a disk made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/database.h"

#define PAGE 4096
#define ROWS 500

static char folder[64], path[128];

static void make(const char *mode)
{
	char text[512];
	sqlite3 *db = NULL;

	snprintf(text, sizeof(text),
		 "PRAGMA page_size = %d; PRAGMA journal_mode = %s; CREATE TABLE t (a INTEGER "
		 "PRIMARY KEY, b TEXT UNIQUE); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i "
		 "+ 1 FROM n WHERE i < %d) INSERT INTO t SELECT i, printf('row %%d of many', i) "
		 "FROM n;",
		 PAGE, mode, ROWS);
	unlink(path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static int check(struct error *e)
{
	e->text[0] = 0;
	return database_check(path, e);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/kiseki-database-XXXXXX");
	assert_non_null(mkdtemp(folder));
	/* What SQLite would read as more than a name. */
	snprintf(path, sizeof(path), "%s/a?b#c%%d.db", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder); /* nothing else was left in it */
}

static void test_sound(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(check(&e), -ENOENT);
	make("WAL");
	assert_int_equal(check(&e), 0);
	make("DELETE");
	assert_int_equal(check(&e), 0);
}

/* What is not in the file yet counts, and nobody is kept from writing. */
static void test_used(void **state)
{
	struct error e;
	sqlite3 *db = NULL;

	(void)state;
	make("WAL");
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE; DELETE FROM t WHERE a > 100;", NULL,
				      NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(check(&e), 0);
	assert_int_equal(sqlite3_exec(db, "COMMIT;", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(check(&e), 0);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	/* Some have it for themselves. */
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE; DELETE FROM t WHERE a > 50;",
			     NULL, NULL, NULL),
		SQLITE_OK);
	assert_int_equal(check(&e), -EBUSY);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	assert_int_equal(check(&e), 0);
}

/* Each page in turn was never written. */
static void test_zeros(void **state)
{
	static const uint8_t zeros[PAGE];
	struct error e;
	struct stat st;
	off_t at;
	int fd;

	(void)state;
	make("WAL");
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size > 8 * PAGE);
	for (at = 0; at < st.st_size; at += PAGE) {
		make("WAL");
		fd = open(path, O_WRONLY);
		assert_int_equal(pwrite(fd, zeros, PAGE, at), PAGE);
		close(fd);
		assert_int_equal(check(&e), -EBADMSG);
		assert_true(e.text[0] && !strchr(e.text, '\n'));
	}
}

static void test_cut(void **state)
{
	static const off_t lengths[] = { 0, 1, 99, 511, 512, PAGE - 1, PAGE, 3 * PAGE + 7 };
	struct error e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		make("WAL");
		assert_int_equal(truncate(path, lengths[i]), 0);
		assert_int_equal(check(&e), -EBADMSG);
		assert_true(e.text[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sound, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_used, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_zeros, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
