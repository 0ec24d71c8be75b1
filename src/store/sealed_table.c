/* SPDX-License-Identifier: MIT */
/* sealed_table: see sealed_table.h. That a table is sealed is known by its triggers, TABLE_made and TABLE_changed. */
#include "store/sealed_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "store/row_seal.h"

/* What the statements about a table are made of. */
struct words {
	char *columns; /* a, b, c: all but the seal */
	char *before;  /* OLD.a, OLD.b, OLD.c */
	char *same;    /* a = NEW.a AND b = NEW.b: of its key */
	bool is_sealed;
};

static void words_done(struct words *w)
{
	sqlite3_free(w->columns);
	sqlite3_free(w->before);
	sqlite3_free(w->same);
}

static int find_words(sqlite3 *db, const char *table, struct words *w)
{
	static const char question[] =
		"SELECT group_concat(printf('\"%w\"', name), ', '),"
		" group_concat(printf('OLD.\"%w\"', name), ', '),"
		" group_concat(CASE WHEN pk THEN printf('\"%w\" = NEW.\"%w\"', name, name) END, ' "
		"AND '),"
		" EXISTS (SELECT 1 FROM pragma_table_info(?1) WHERE name = 'seal')"
		" FROM (SELECT name, pk FROM pragma_table_info(?1) WHERE name <> 'seal' ORDER BY "
		"cid)";
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, question, -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		w->columns = sqlite3_mprintf("%s", sqlite3_column_text(s, 0));
		w->before = sqlite3_mprintf("%s", sqlite3_column_text(s, 1));
		w->same = sqlite3_mprintf("%s", sqlite3_column_text(s, 2));
		w->is_sealed = sqlite3_column_int(s, 3);
		rc = w->columns && w->before && w->same ? SQLITE_OK : SQLITE_NOMEM;
	}
	sqlite3_finalize(s);
	return rc;
}

/* Runs a text of sqlite3_mprintf() and frees it. */
static int run(sqlite3 *db, char *text)
{
	int rc = text ? sqlite3_exec(db, text, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(text);
	return rc;
}

static int seal(sqlite3 *db, const char *table)
{
	struct words w = { 0 };
	int rc = find_words(db, table, &w);

	if (rc == SQLITE_OK && !w.is_sealed)
		rc = run(db, sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN seal INTEGER;"
					     "UPDATE \"%w\" SET seal = row_seal(%s);",
					     table, table, w.columns));
	if (rc == SQLITE_OK)
		rc = run(db,
			 sqlite3_mprintf(
				 "CREATE TRIGGER IF NOT EXISTS \"%w_made\" AFTER INSERT ON \"%w\""
				 " BEGIN UPDATE \"%w\" SET seal = row_seal(%s) WHERE %s; END;",
				 table, table, table, w.columns, w.same));
	if (rc == SQLITE_OK)
		rc = run(db, sqlite3_mprintf(
				     "CREATE TRIGGER IF NOT EXISTS \"%w_changed\""
				     " AFTER UPDATE OF %s ON \"%w\""
				     " WHEN OLD.seal IS row_seal(%s)"
				     " BEGIN UPDATE \"%w\" SET seal = row_seal(%s) WHERE %s; END;",
				     table, w.columns, table, w.before, table, w.columns, w.same));
	words_done(&w);
	return rc;
}

/* SQLITE_ROW: it has both triggers. */
static int has_triggers(sqlite3 *db, const char *table)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db,
				    "SELECT 1 WHERE 2 = (SELECT count(*) FROM sqlite_master"
				    " WHERE type = 'trigger' AND tbl_name = ?1)",
				    -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	sqlite3_finalize(s);
	return rc;
}

int sealed_table_keep(sqlite3 *db, const char *const *tables)
{
	const char *const *t;
	int rc = row_seal_register(db);

	for (t = tables; rc == SQLITE_OK && *t && (rc = has_triggers(db, *t)) == SQLITE_ROW; t++)
		rc = SQLITE_OK;
	if (rc != SQLITE_DONE)
		return rc;
	rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		return rc;
	for (t = tables; rc == SQLITE_OK && *t; t++)
		rc = seal(db, *t);
	return rc == SQLITE_OK ? sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) : rc;
}

/* --- looking --- */

/* How many do not fit, or -1. */
static int64_t count_damaged(sqlite3 *db, const char *table)
{
	struct words w = { 0 };
	sqlite3_stmt *s = NULL;
	int64_t n = -1;
	char *text = NULL;

	if (find_words(db, table, &w) == SQLITE_OK)
		text = sqlite3_mprintf("SELECT count(*) FROM \"%w\" WHERE seal IS NOT row_seal(%s)",
				       table, w.columns);
	if (text && sqlite3_prepare_v2(db, text, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		n = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_free(text);
	words_done(&w);
	return n;
}

int sealed_table_check(sqlite3 *db, struct error *e)
{
	static const char question[] =
		"SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'trigger'"
		" AND name IN (tbl_name || '_made', tbl_name || '_changed')";
	sqlite3_stmt *s = NULL;
	const char *table = "";
	int64_t n = 0;
	int rc = row_seal_register(db), r = 0;

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db, question, -1, &s, NULL);
	while (rc == SQLITE_OK && n == 0 && sqlite3_step(s) == SQLITE_ROW) {
		table = (const char *)sqlite3_column_text(s, 0);
		n = table ? count_damaged(db, table) : -1;
	}
	if (rc != SQLITE_OK || n < 0)
		r = error_set(e, EIO, "%s", sqlite3_errmsg(db));
	else if (n)
		r = error_set(e, EBADMSG, "%lld row%s of the table %s do%s not fit the checksum",
			      (long long)n, n == 1 ? "" : "s", table, n == 1 ? "es" : "");
	sqlite3_finalize(s);
	return r;
}
