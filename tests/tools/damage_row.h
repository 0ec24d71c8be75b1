/* SPDX-License-Identifier: MIT */
/*
 * damage_row: what a disk does to a row of a sealed table (store/sealed_table.h): it says something else, and its seal is the one of before.
 */
#ifndef KISEKI_TESTS_DAMAGE_ROW_H
#define KISEKI_TESTS_DAMAGE_ROW_H

#include <sqlite3.h>
#include <stdio.h>

/* `change`: "column = value WHERE …". The trigger that would seal it comes back when the file is opened the next time. */
static inline void damage_row(const char *path, const char *table, const char *change)
{
	sqlite3 *db = NULL;
	char text[512];

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	snprintf(text, sizeof(text), "DROP TRIGGER %s_changed; UPDATE %s SET %s;", table, table,
		 change);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_changes(db), 1);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

#endif
