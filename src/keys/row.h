/* SPDX-License-Identifier: MIT */
/*
 * row: values on their way into and out of the statements of SQLite. What the files of the folder of keys
 * have in common.
 */
#ifndef KISEKI_KEYS_ROW_H
#define KISEKI_KEYS_ROW_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static inline void row_bind_number(sqlite3_stmt *s, int i, uint64_t v)
{
	sqlite3_bind_int64(s, i, (sqlite3_int64)v);
}

static inline void row_bind_bytes(sqlite3_stmt *s, int i, const void *bytes, size_t len)
{
	sqlite3_bind_blob(s, i, bytes, (int)len, SQLITE_TRANSIENT);
}

static inline void row_bind_text(sqlite3_stmt *s, int i, const char *text)
{
	sqlite3_bind_text(s, i, text, -1, SQLITE_TRANSIENT);
}

static inline void row_get_text(sqlite3_stmt *s, int i, char *out, size_t room)
{
	const char *text = (const char *)sqlite3_column_text(s, i);

	snprintf(out, room, "%s", text ? text : "");
}

static inline uint64_t row_get_number(sqlite3_stmt *s, int i)
{
	return (uint64_t)sqlite3_column_int64(s, i);
}

/* Of another length: left as it was. */
static inline void row_get_bytes(sqlite3_stmt *s, int i, void *out, size_t len)
{
	if ((size_t)sqlite3_column_bytes(s, i) == len && len)
		memcpy(out, sqlite3_column_blob(s, i), len);
}

#endif
