/* SPDX-License-Identifier: MIT */
/* sealed_table: rows that SQLite keeps sealed, and what any flipped bit of their file leaves of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/database.h"
#include "store/sealed_table.h"
#include "tools/damage_row.h"

#define ROWS 12
#define TEXT_ROOM 4096
#define FILE_ROOM 16384

static const char schema[] = "PRAGMA page_size = 512; PRAGMA synchronous = OFF;"
			     "CREATE TABLE IF NOT EXISTS who (name TEXT PRIMARY KEY, role INTEGER,"
			     " hash BLOB, note TEXT) WITHOUT ROWID;"
			     "CREATE TABLE IF NOT EXISTS said (number INTEGER PRIMARY KEY "
			     "AUTOINCREMENT, what TEXT, at REAL);";
static const char *const tables[] = { "who", "said", NULL };
static char folder[64], path[96];

static sqlite3 *open_db(void)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	return db;
}

static void run(sqlite3 *db, const char *text)
{
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", text, sqlite3_errmsg(db));
}

static sqlite3 *open_sealed(void)
{
	sqlite3 *db = open_db();

	run(db, schema);
	assert_int_equal(sealed_table_keep(db, tables), SQLITE_OK);
	return db;
}

static void fill(sqlite3 *db)
{
	char text[160];
	int i;

	for (i = 0; i < ROWS; i++) {
		snprintf(text, sizeof(text),
			 "INSERT INTO who (name, role, hash) VALUES ('user-%d', %d, x'00%02x');", i,
			 i % 3, i);
		run(db, text);
		run(db, "INSERT INTO said (what, at) VALUES ('a word', 1.5);");
	}
}

/* All rows that fit, as text; false if they cannot be read. */
static bool read_rows(sqlite3 *db, char *out, size_t room)
{
	static const char question[] =
		"SELECT printf('%s %d %s %Q', name, role, hex(hash), note) FROM who"
		" WHERE seal IS row_seal(name, role, hash, note) UNION ALL"
		" SELECT printf('%d %s %f', number, what, at) FROM said"
		" WHERE seal IS row_seal(number, what, at)";
	sqlite3_stmt *s = NULL;
	size_t len = 0;
	int rc = sqlite3_prepare_v2(db, question, -1, &s, NULL);

	out[0] = 0;
	if (rc == SQLITE_OK)
		while ((rc = sqlite3_step(s)) == SQLITE_ROW && len < room)
			len += (size_t)snprintf(out + len, room - len, "%s\n",
						sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	return rc == SQLITE_DONE;
}

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/kiseki-sealed-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a.db", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static void seals_what_is_written(void **state)
{
	struct error e = ERROR_INIT;
	sqlite3 *db = open_sealed(), *other = open_sealed();
	char rows[TEXT_ROOM];

	(void)state;
	fill(db);
	assert_int_equal(sqlite3_last_insert_rowid(db), ROWS);
	run(other, "UPDATE who SET role = 2 WHERE name = 'user-0'");
	assert_int_equal(sqlite3_changes(other), 1);
	run(other, "UPDATE said SET number = 99, at = NULL WHERE number = 1");
	run(other, "INSERT OR REPLACE INTO who (name, role) VALUES ('user-1', 1)");
	run(other, "DELETE FROM said WHERE number = 2");
	assert_int_equal(sealed_table_check(db, &e), 0);
	assert_true(read_rows(db, rows, sizeof(rows)));
	assert_non_null(strstr(rows, "user-0 2 0000"));
	assert_non_null(strstr(rows, "user-1 1  NULL"));
	assert_non_null(strstr(rows, "99 a word"));
	sqlite3_close(db);
	sqlite3_close(other);
	assert_int_equal(database_check(path, &e), 0);
}

/* A file of a time without seals. */
static void seals_what_was_there(void **state)
{
	struct error e = ERROR_INIT;
	char rows[TEXT_ROOM];
	sqlite3 *db = open_db();

	(void)state;
	run(db, schema);
	fill(db);
	sqlite3_close(db);
	assert_int_equal(database_check(path, &e), 0);
	db = open_sealed();
	assert_true(read_rows(db, rows, sizeof(rows)));
	assert_non_null(strstr(rows, "user-11"));
	assert_int_equal(sealed_table_check(db, &e), 0);
	sqlite3_close(db);
}

static void a_damaged_row_stays_so(void **state)
{
	struct error e = ERROR_INIT;
	char rows[TEXT_ROOM];
	sqlite3 *db = open_sealed();

	(void)state;
	fill(db);
	sqlite3_close(db);
	damage_row(path, "who", "role = 3 WHERE name = 'user-7'");
	assert_int_equal(database_check(path, &e), -EBADMSG);
	assert_string_equal(e.text, "1 row of the table who does not fit the checksum");
	db = open_sealed();
	run(db, "UPDATE who SET note = 'x'");
	assert_true(read_rows(db, rows, sizeof(rows)));
	assert_null(strstr(rows, "user-7"));
	assert_non_null(strstr(rows, "user-6"));
	assert_int_equal(sealed_table_check(db, &e), -EBADMSG);
	run(db, "INSERT OR REPLACE INTO who (name, role) VALUES ('user-7', 1)");
	assert_int_equal(sealed_table_check(db, &e), 0);
	sqlite3_close(db);
}

/* As a program opens it; NULL if it is told that it cannot. */
static sqlite3 *open_damaged(void)
{
	sqlite3 *db = open_db();

	if (sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK &&
	    sealed_table_keep(db, tables) == SQLITE_OK)
		return db;
	sqlite3_close(db);
	return NULL;
}

/* Whether the check says a word of what is in the file now, or who opens and reads it is told, or the rows are those of before. */
static bool is_told_or_same(const char *before, char *after, size_t room)
{
	struct error e = ERROR_INIT;
	bool is_told = database_check(path, &e) < 0;
	sqlite3 *db = open_damaged();

	if (!db || !read_rows(db, after, room))
		is_told = true;
	sqlite3_close(db);
	return is_told || !strcmp(before, after);
}

static void any_bit(void **state)
{
	static uint8_t file[FILE_ROOM];
	char before[TEXT_ROOM], after[TEXT_ROOM];
	sqlite3 *db = open_sealed();
	ssize_t len, at;
	int fd;

	(void)state;
	fill(db);
	assert_true(read_rows(db, before, sizeof(before)));
	sqlite3_close(db);
	fd = open(path, O_RDONLY);
	len = read(fd, file, sizeof(file));
	close(fd);
	assert_in_range(len, 2048, sizeof(file) - 1);
	for (at = 0; at < len; at += 3) { /* 3 and 8 bits: all of them have their turn */
		file[at] ^= (uint8_t)(1U << at % 8);
		fd = open(path, O_WRONLY);
		assert_int_equal(write(fd, file, (size_t)len), len);
		assert_int_equal(ftruncate(fd, len), 0);
		close(fd);
		if (!is_told_or_same(before, after, sizeof(after)))
			fail_msg("byte %zd: without a word the rows are:\n%s", at, after);
		file[at] ^= (uint8_t)(1U << at % 8);
	}
}

/* The schema is no table, and a word that no table has is none. */
static void what_cannot_be_sealed(void **state)
{
	static const char *const none[] = { "who", "nobody", NULL };
	struct error e = ERROR_INIT;
	sqlite3 *db = open_db();

	(void)state;
	run(db, schema);
	assert_int_not_equal(sealed_table_keep(db, none), SQLITE_OK);
	/* Not by half. */
	sqlite3_close(db);
	db = open_db();
	run(db, "INSERT INTO who VALUES ('ann', 1, x'', NULL)");
	assert_int_equal(sealed_table_check(db, &e), 0);
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(seals_what_is_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(seals_what_was_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_row_stays_so, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_bit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_sealed, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
