/* SPDX-License-Identifier: MIT */
/*
 * facts_db: see facts_db.h. Numbers of 64 bits are stored as SQLite's signed ones, bit by bit.
 *
 * Commits wait for the disk (synchronous = FULL): the carry of a run, which is written with its sets, lets blocks go that are
 * no longer needed. Pages are large, since most rows have some thousand bytes and are read whole.
 */
#include "facts/facts_db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "facts/facts_names.h"

#define VERSION 1
#define VERSION_TEXT "1"
#define BUSY_MS 30000

#define KEY "kind = ?1 AND length = ?2 AND start = ?3 AND device = ?4 AND run = ?5"
#define HEAD                                                                                       \
	"kind, length, start, device, run, version, covered_ns, events, lost, lost_places, "       \
	"samples, ns"
#define OLD_MINUTES                                                                                \
	"SELECT id FROM fact WHERE kind = ?1 AND length = 60 AND start >= ?2 AND start < ?2 + "    \
	"3600 "                                                                                    \
	"AND NOT EXISTS (SELECT 1 FROM stale WHERE stale.start = ?2 AND stale.kind = ?1 "          \
	"AND stale.device = fact.device AND stale.run = fact.run)"
#define OLD_HOURS "SELECT id FROM fact WHERE kind = ?1 AND length = 3600 AND start = ?2"

static const char *const texts[FACTS_STATEMENTS] = {
	[FACTS_ST_BEGIN] = "BEGIN",
	[FACTS_ST_BEGIN_WRITE] = "BEGIN IMMEDIATE",
	[FACTS_ST_COMMIT] = "COMMIT",
	[FACTS_ST_CHANGES] = "SELECT changes FROM state",
	[FACTS_ST_NAME_BY_HASH] = "SELECT number, object, name FROM name WHERE hash = ?1",
	[FACTS_ST_NAME_BY_NUMBER] = "SELECT hash, object, name FROM name WHERE number = ?1",
	[FACTS_ST_NAME_BY_TEXT] = "SELECT number, object FROM name WHERE name = ?1",
	[FACTS_ST_NAME_BY_OBJECT] =
		"SELECT number, object FROM name WHERE object = ?1 AND name = ''",
	[FACTS_ST_NAME_MOST] = "SELECT max(number) FROM name",
	[FACTS_ST_FIND] = "SELECT id, version, closed FROM fact WHERE " KEY,
	[FACTS_ST_PLAN] =
		"SELECT id, start, length, device, run, version FROM fact WHERE kind = ?1 AND "
		"length = ?2 AND start >= ?3 AND start < ?4",
	[FACTS_ST_PLAN_CLOSED] =
		"SELECT id, start, length, device, run, version FROM fact WHERE kind = ?1 AND "
		"length = ?2 AND start >= ?3 AND start < ?4 AND closed",
	[FACTS_ST_STALE_HOURS] = "SELECT DISTINCT start FROM stale WHERE kind = ?1 AND start >= ?2 "
				 "AND start < ?3",
	[FACTS_ST_STALE_OF_HOUR] = "SELECT device, run FROM stale WHERE kind = ?1 AND start = ?2 "
				   "ORDER BY device, run",
	[FACTS_ST_GET] = "SELECT flat, " HEAD ", seal FROM fact WHERE id = ?1",
	/* Without the list, which may be large and is of no use for a tree. */
	[FACTS_ST_GET_HEAD] = "SELECT 0, " HEAD ", seal FROM fact WHERE id = ?1",
	[FACTS_ST_GET_TREE] = "SELECT tree, seal FROM body WHERE id = ?1",
	[FACTS_ST_GET_BODY] = "SELECT tree, tasks, objects, seal FROM body WHERE id = ?1",
	[FACTS_ST_GET_CARRY] = "SELECT carry FROM carry WHERE run = ?1",
	[FACTS_ST_STALE] = "SELECT start, kind, device, run FROM stale WHERE start + 3600 <= ?1 "
			   "ORDER BY start",
	[FACTS_ST_LABELS] = "SELECT device, key, value FROM label ORDER BY device, key",
	[FACTS_ST_LABEL_COUNT] = "SELECT count(*) FROM label WHERE device = ?1 AND key <> ?2",
	[FACTS_ST_OLDEST] = "SELECT min(start) FROM fact WHERE kind = ?1 AND length = ?2",
	[FACTS_ST_CHANGE] = "UPDATE state SET changes = changes + 1",
	[FACTS_ST_PUT_NAME] =
		"INSERT INTO name (number, hash, object, name) VALUES (?1, ?2, ?3, ?4)",
	[FACTS_ST_PUT] =
		"INSERT INTO fact (kind, length, start, version, covered_ns, events, "
		"lost, lost_places,"
		" samples, ns, closed, device, run, flat, seal) VALUES (?1, ?2, ?3, ?4, ?5, "
		"?6, ?7, ?8, ?9, ?10,"
		" ?11, ?12, ?13, ?14, ?15)",
	[FACTS_ST_PUT_BODY] = "INSERT INTO body (id, tree, tasks, objects, seal) VALUES (?1, ?2, "
			      "?3, ?4, ?5)",
	[FACTS_ST_DROP] = "DELETE FROM fact WHERE id = ?1",
	[FACTS_ST_DROP_BODY] = "DELETE FROM body WHERE id = ?1",
	[FACTS_ST_PUT_STALE] =
		"INSERT OR IGNORE INTO stale (start, kind, device, run) VALUES (?1, ?2, ?3, ?4)",
	[FACTS_ST_DROP_STALE] =
		"DELETE FROM stale WHERE start = ?1 AND kind = ?2 AND device = ?3 AND run = ?4",
	[FACTS_ST_DROP_MINUTES] = "DELETE FROM fact WHERE id IN (" OLD_MINUTES ")",
	[FACTS_ST_DROP_MINUTES_BODY] = "DELETE FROM body WHERE id IN (" OLD_MINUTES ")",
	[FACTS_ST_DROP_HOURS] = "DELETE FROM fact WHERE id IN (" OLD_HOURS ")",
	[FACTS_ST_DROP_HOURS_BODY] = "DELETE FROM body WHERE id IN (" OLD_HOURS ")",
	[FACTS_ST_CLOSE_HOURS] = "UPDATE fact SET closed = 1 WHERE kind = ?1 AND length = 3600 AND "
				 "start = ?2",
	[FACTS_ST_PUT_CARRY] = "INSERT OR REPLACE INTO carry (run, carry) VALUES (?1, ?2)",
	[FACTS_ST_DROP_CARRY] = "DELETE FROM carry WHERE run = ?1",
	[FACTS_ST_PUT_LABEL] =
		"INSERT OR REPLACE INTO label (device, key, value) VALUES (?1, ?2, ?3)",
	[FACTS_ST_DROP_LABEL] = "DELETE FROM label WHERE device = ?1 AND key = ?2",
};

/* Of a file of before, which who only asks cannot change. */
static const char *const unsealed[FACTS_STATEMENTS] = {
	[FACTS_ST_GET] = "SELECT flat, " HEAD ", NULL FROM fact WHERE id = ?1",
	[FACTS_ST_GET_HEAD] = "SELECT 0, " HEAD ", NULL FROM fact WHERE id = ?1",
	[FACTS_ST_GET_TREE] = "SELECT tree, NULL FROM body WHERE id = ?1",
	[FACTS_ST_GET_BODY] = "SELECT tree, tasks, objects, NULL FROM body WHERE id = ?1",
};

static const char add_seals[] = "BEGIN IMMEDIATE;"
				"ALTER TABLE fact ADD COLUMN seal INTEGER;"
				"ALTER TABLE body ADD COLUMN seal INTEGER;"
				"COMMIT;";

static const char schema[] =
	"BEGIN IMMEDIATE;"
	"CREATE TABLE IF NOT EXISTS state (one INTEGER PRIMARY KEY CHECK (one = 1), changes "
	"INTEGER);"
	"INSERT OR IGNORE INTO state VALUES (1, 0);"
	"CREATE TABLE IF NOT EXISTS name (number INTEGER PRIMARY KEY, hash INTEGER UNIQUE,"
	" object TEXT, name TEXT);"
	"CREATE INDEX IF NOT EXISTS name_text ON name (name, object);"
	"CREATE TABLE IF NOT EXISTS fact (id INTEGER PRIMARY KEY, kind INTEGER, length INTEGER,"
	" start INTEGER, device BLOB, run BLOB, version INTEGER, closed INTEGER, covered_ns "
	"INTEGER,"
	" events INTEGER, lost INTEGER, lost_places INTEGER, samples INTEGER, ns INTEGER, flat "
	"BLOB, seal INTEGER);"
	"CREATE UNIQUE INDEX IF NOT EXISTS fact_key ON fact (kind, length, start, device, run);"
	"CREATE TABLE IF NOT EXISTS body (id INTEGER PRIMARY KEY, tree BLOB, tasks BLOB, objects "
	"BLOB, seal INTEGER);"
	"CREATE TABLE IF NOT EXISTS stale (start INTEGER, kind INTEGER, device BLOB, run BLOB,"
	" PRIMARY KEY (start, kind, device, run)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS carry (run BLOB PRIMARY KEY, carry BLOB);"
	"CREATE TABLE IF NOT EXISTS label (device BLOB, key TEXT, value TEXT,"
	" PRIMARY KEY (device, key)) WITHOUT ROWID;"
	"PRAGMA user_version = " VERSION_TEXT ";"
	"COMMIT;";

void facts_db_free(struct facts_db *d)
{
	size_t i;

	if (!d)
		return;
	facts_names_free(d->names);
	for (i = 0; i < FACTS_STATEMENTS; i++)
		sqlite3_finalize(d->statements[i]);
	sqlite3_close(d->sqlite); /* what was begun and not committed is undone */
	free(d->path);
	free(d);
}

static int code_of(int sqlite)
{
	switch (sqlite & 0xff) {
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
		return EBADMSG;
	case SQLITE_CANTOPEN:
		return ENOENT;
	case SQLITE_READONLY:
		return EROFS;
	default:
		return EIO;
	}
}

int facts_db_error(struct facts_db *d, struct error *e)
{
	return error_set(e, code_of(sqlite3_extended_errcode(d->sqlite)), "cannot use %s: %s",
			 d->path, sqlite3_errmsg(d->sqlite));
}

static int get_number(struct facts_db *d, const char *sql, int *ret, struct error *e)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->sqlite, sql, -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	return rc == SQLITE_ROW ? 0 : facts_db_error(d, e);
}

static int count_seals(struct facts_db *d, int *ret, struct error *e)
{
	return get_number(d, "SELECT count(*) FROM pragma_table_info('body') WHERE name = 'seal'",
			  ret, e);
}

static int set_up(struct facts_db *d, bool is_writer, struct error *e)
{
	int seals = 0, version = 0, /* 0: a new file, or nobody's */
		r = get_number(d, "PRAGMA user_version", &version, e);

	if (r < 0)
		return r;
	if (version != VERSION && (version || !is_writer))
		return error_set(e, version ? EBADMSG : ENOENT, "cannot use %s: it has version %d",
				 d->path, version);
	if (!is_writer)
		return 0;
	if (sqlite3_exec(d->sqlite,
			 "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; "
			 "PRAGMA synchronous = FULL;",
			 NULL, NULL, NULL) != SQLITE_OK ||
	    (!version && sqlite3_exec(d->sqlite, schema, NULL, NULL, NULL) != SQLITE_OK))
		return facts_db_error(d, e);
	r = count_seals(d, &seals, e);
	if (r == 0 && !seals && sqlite3_exec(d->sqlite, add_seals, NULL, NULL, NULL) != SQLITE_OK)
		return facts_db_error(d, e);
	return r;
}

int facts_db_open(struct facts_db **ret, const char *path, bool is_writer, struct error *e)
{
	CLEANUP(facts_db) struct facts_db *d = calloc(1, sizeof(*d));
	int flags = is_writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
	int r;

	if (!d || !(d->path = strdup(path)))
		return error_set(e, ENOMEM, "cannot open %s: out of memory", path);
	if (sqlite3_open_v2(path, &d->sqlite, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return d->sqlite ? facts_db_error(d, e)
				 : error_set(e, ENOMEM, "cannot open %s: out of memory", path);
	sqlite3_busy_timeout(d->sqlite, BUSY_MS);
	r = set_up(d, is_writer, e);
	if (r == 0)
		r = facts_names_new(&d->names, d, e);
	if (r == 0)
		*ret = take_ptr(d);
	return r;
}

/* --- statements --- */

static int prepare(struct facts_db *d, enum facts_statement which, sqlite3_stmt **ret)
{
	const unsigned int flags = SQLITE_PREPARE_PERSISTENT;
	int rc = sqlite3_prepare_v3(d->sqlite, texts[which], -1, flags, ret, NULL);

	/* There is no such column. */
	if (rc == SQLITE_ERROR && unsealed[which])
		rc = sqlite3_prepare_v3(d->sqlite, unsealed[which], -1, flags, ret, NULL);
	return rc;
}

sqlite3_stmt *facts_db_use(struct facts_db *d, enum facts_statement which, const int64_t *numbers,
			   int n)
{
	sqlite3_stmt **s = &d->statements[which];
	int i;

	if (!*s && prepare(d, which, s) != SQLITE_OK)
		return NULL;
	sqlite3_reset(*s);
	for (i = 0; i < n; i++)
		sqlite3_bind_int64(*s, i + 1, numbers[i]);
	return *s;
}

int facts_db_step(struct facts_db *d, sqlite3_stmt *s, struct error *e)
{
	int rc = s ? sqlite3_step(s) : SQLITE_ERROR, r;

	if (rc == SQLITE_ROW)
		return 1;
	r = rc == SQLITE_DONE ? 0 : facts_db_error(d, e);
	sqlite3_reset(s);
	return r;
}

int facts_db_run(struct facts_db *d, sqlite3_stmt *s, struct error *e)
{
	int r = facts_db_step(d, s, e);

	sqlite3_reset(s);
	return r < 0 ? r : 0;
}

int facts_db_begin(struct facts_db *d, uint64_t *ret_state, struct error *e)
{
	sqlite3_stmt *s;
	int r = facts_db_run(d, facts_db_use(d, FACTS_ST_BEGIN, NULL, 0), e);

	if (r < 0)
		return r;
	d->begun = true;
	s = facts_db_use(d, FACTS_ST_CHANGES, NULL, 0);
	r = facts_db_step(d, s, e);
	if (r == 1)
		*ret_state = facts_db_get_number(s, 0);
	sqlite3_reset(s);
	if (r == 0)
		r = error_set(e, EBADMSG, "cannot use %s: it has no state", d->path);
	return r < 0 ? r : 0;
}

int facts_db_begin_write(struct facts_db *d, struct error *e)
{
	int r = facts_db_run(d, facts_db_use(d, FACTS_ST_BEGIN_WRITE, NULL, 0), e);

	if (r < 0)
		return r;
	d->begun = true;
	r = facts_db_run(d, facts_db_use(d, FACTS_ST_CHANGE, NULL, 0), e);
	if (r < 0)
		facts_db_undo(d);
	return r;
}

int facts_db_commit(struct facts_db *d, struct error *e)
{
	int r = facts_db_run(d, facts_db_use(d, FACTS_ST_COMMIT, NULL, 0), e);

	if (r < 0)
		facts_db_undo(d);
	d->begun = false;
	return r;
}

void facts_db_undo(struct facts_db *d)
{
	size_t i;

	for (i = 0; i < FACTS_STATEMENTS; i++)
		sqlite3_reset(d->statements[i]);
	if (d->begun)
		sqlite3_exec(d->sqlite, "ROLLBACK", NULL, NULL, NULL);
	d->begun = false;
	facts_names_forget(d->names); /* numbers that were given are not */
}

struct message_id facts_db_get_id(sqlite3_stmt *s, int column)
{
	struct message_id id;

	memset(&id, 0, sizeof(id));
	if (sqlite3_column_bytes(s, column) == (int)sizeof(id.bytes))
		memcpy(id.bytes, sqlite3_column_blob(s, column), sizeof(id.bytes));
	return id;
}

uint64_t facts_db_get_number(sqlite3_stmt *s, int column)
{
	return (uint64_t)sqlite3_column_int64(s, column);
}
