/* SPDX-License-Identifier: MIT */
/*
 * summary_db: see summary_db.h.
 *
 * All statements are made when the file is opened. The log is the truth, so nothing waits for the
 * disk (synchronous = NORMAL): after a power cut the file is as it was at some commit, and that says
 * itself how far it is. Whether a row is as it was written is seen when it is read.
 */
#include "collector/summary_db.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/row_seal.h"

#define VERSION "3"
#define BUSY_MS 10000

enum statement {
	ST_BEGIN,
	ST_COMMIT,
	ST_GET_RUN,
	ST_NEXT_RUN,
	ST_GET_CARRY,
	ST_NEXT_CHUNK,
	ST_READS, /* those from here on write */
	ST_PUT_RUN = ST_READS,
	ST_PUT_CARRY,
	ST_PUT_CHUNK,
	ST_DROP_CHUNKS,
	ST_DROP_RUN,
	ST_DROP_RUN_CARRY,
	ST_DROP_RUN_CHUNKS,
	STATEMENTS,
};

static const char *const texts[STATEMENTS] = {
	[ST_BEGIN] = "BEGIN",
	[ST_COMMIT] = "COMMIT",
	[ST_GET_RUN] = "SELECT id, mult, shift, base_ns,"
		       " seal IS row_seal(run, id, mult, shift, base_ns) FROM run WHERE run = ?1",
	[ST_NEXT_RUN] = "SELECT run FROM run WHERE run > ?1 ORDER BY run LIMIT 1",
	[ST_GET_CARRY] = "SELECT carry, seal IS row_seal(run, cpu, carry) FROM stream"
			 " WHERE run = ?1 AND cpu = ?2",
	[ST_NEXT_CHUNK] =
		"SELECT chunk, buckets, seal IS row_seal(run, cpu, level, chunk, buckets) "
		"FROM chunk WHERE run = ?1 AND cpu = ?2 AND "
		"level = ?3 AND chunk >= ?4 ORDER BY chunk LIMIT 1",
	[ST_PUT_RUN] = "INSERT OR REPLACE INTO run VALUES (?1, ?2, ?3, ?4, ?5,"
		       " row_seal(?1, ?2, ?3, ?4, ?5))",
	[ST_PUT_CARRY] = "INSERT OR REPLACE INTO stream VALUES (?1, ?2, ?3, row_seal(?1, ?2, ?3))",
	[ST_PUT_CHUNK] = "INSERT OR REPLACE INTO chunk VALUES (?1, ?2, ?3, ?4, ?5,"
			 " row_seal(?1, ?2, ?3, ?4, ?5))",
	[ST_DROP_CHUNKS] = "DELETE FROM chunk WHERE run = ?1 AND cpu = ?2 AND level = ?3 AND "
			   "chunk < ?4",
	[ST_DROP_RUN] = "DELETE FROM run WHERE run = ?1",
	[ST_DROP_RUN_CARRY] = "DELETE FROM stream WHERE run = ?1",
	[ST_DROP_RUN_CHUNKS] = "DELETE FROM chunk WHERE run = ?1",
};

static const char schema[] =
	"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
	"BEGIN;"
	"CREATE TABLE IF NOT EXISTS run (run INTEGER PRIMARY KEY, id BLOB, mult INTEGER,"
	" shift INTEGER, base_ns INTEGER, seal INTEGER);"
	"CREATE TABLE IF NOT EXISTS stream (run INTEGER, cpu INTEGER, carry BLOB,"
	" seal INTEGER, PRIMARY KEY (run, cpu)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS chunk (run INTEGER, cpu INTEGER, level INTEGER, chunk INTEGER,"
	" buckets BLOB, seal INTEGER, PRIMARY KEY (run, cpu, level, chunk)) WITHOUT ROWID;"
	"PRAGMA user_version = " VERSION ";"
	"COMMIT;";

struct summary_db {
	sqlite3 *db;
	char *path;
	bool begun;
	sqlite3_stmt *statements[STATEMENTS];
};

void summary_db_free(struct summary_db *d)
{
	size_t i;

	if (!d)
		return;
	for (i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(d->statements[i]);
	sqlite3_close(d->db); /* what was begun and not committed is undone */
	free(d->path);
	free(d);
}

static int code_of(int sqlite)
{
	switch (sqlite & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_FORMAT:
		return -EBADMSG;
	case SQLITE_CANTOPEN:
		return -ENOENT;
	default:
		return -EIO;
	}
}

int summary_db_error(struct summary_db *d, struct error *e, const char *what)
{
	int r = code_of(sqlite3_extended_errcode(d->db));

	return error_set(e, r ? -r : EIO, "cannot %s the summaries in %s: %s", what, d->path,
			 sqlite3_errmsg(d->db));
}

static int prepare(struct summary_db *d, size_t n, struct error *e)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (sqlite3_prepare_v3(d->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &d->statements[i], NULL) != SQLITE_OK)
			return summary_db_error(d, e, "read");
	return 0;
}

static int open_file(struct summary_db **ret, const char *path, int flags, struct error *e)
{
	CLEANUP(summary_db) struct summary_db *d = calloc(1, sizeof(*d));

	if (!d || !(d->path = strdup(path)))
		return error_set(e, ENOMEM, "cannot open %s: out of memory", path);
	if (sqlite3_open_v2(path, &d->db, flags, NULL) != SQLITE_OK)
		return d->db ? summary_db_error(d, e, "open")
			     : error_set(e, ENOMEM, "cannot open %s: out of memory", path);
	sqlite3_busy_timeout(d->db, BUSY_MS);
	if (row_seal_register(d->db) != SQLITE_OK)
		return summary_db_error(d, e, "open");
	*ret = take_ptr(d);
	return 0;
}

/* Of another version, or no number at all: 0. */
static int has_version(struct summary_db *d, bool *ret, struct error *e)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->db, "PRAGMA user_version", -1, &s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	*ret = rc == SQLITE_ROW && sqlite3_column_int(s, 0) == atoi(VERSION);
	sqlite3_finalize(s);
	return rc == SQLITE_ROW ? 0 : summary_db_error(d, e, "read");
}

static int open_writer(struct summary_db **ret, const char *path, struct error *e)
{
	CLEANUP(summary_db) struct summary_db *d = NULL;
	bool known;
	int r = open_file(&d, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e);

	if (r == 0)
		r = has_version(d, &known, e);
	if (r == 0 && !known &&
	    sqlite3_exec(d->db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL) !=
		    SQLITE_OK)
		r = summary_db_error(d, e, "read");
	if (r < 0)
		return r;
	if (sqlite3_exec(d->db, schema, NULL, NULL, NULL) != SQLITE_OK)
		return summary_db_error(d, e, "set up");
	r = prepare(d, STATEMENTS, e);
	if (r == 0)
		*ret = take_ptr(d);
	return r;
}

void summary_db_remove(const char *path)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
	char name[4096];
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (snprintf(name, sizeof(name), "%s%s", path, ends[i]) < (int)sizeof(name))
			unlink(name);
}

/* Whether the file is one of this version, or a new one; everything else is made again. */
static bool is_usable(const char *path)
{
	CLEANUP(summary_db) struct summary_db *d = NULL;
	bool known = false;

	if (access(path, F_OK) < 0)
		return true;
	return open_file(&d, path, SQLITE_OPEN_READWRITE, NULL) == 0 &&
	       has_version(d, &known, NULL) == 0 && known;
}

int summary_db_open(struct summary_db **ret, const char *path, struct error *e)
{
	int r;

	if (!is_usable(path))
		summary_db_remove(path);
	r = open_writer(ret, path, e);
	if (r != -EBADMSG && r != -EIO)
		return r;
	summary_db_remove(path);
	return open_writer(ret, path, e);
}

int summary_db_open_reader(struct summary_db **ret, const char *path, struct error *e)
{
	CLEANUP(summary_db) struct summary_db *d = NULL;
	bool known = false;
	int r = open_file(&d, path, SQLITE_OPEN_READONLY, e);

	if (r == 0)
		r = has_version(d, &known, e);
	if (r == 0 && !known)
		r = error_set(e, ENOENT, "cannot read %s: it is of another version", path);
	if (r == 0)
		r = prepare(d, ST_READS, e);
	if (r == 0)
		r = summary_db_begin(d, e);
	if (r == 0)
		*ret = take_ptr(d);
	return r;
}

/* --- statements --- */

static sqlite3_stmt *use(struct summary_db *d, enum statement which, const int64_t *numbers, int n)
{
	sqlite3_stmt *s = d->statements[which];
	int i;

	sqlite3_reset(s);
	for (i = 0; i < n; i++)
		sqlite3_bind_int64(s, i + 1, numbers[i]);
	return s;
}

/* Runs one that gives no rows. */
static int run_to_end(sqlite3_stmt *s)
{
	int rc = sqlite3_step(s);

	sqlite3_reset(s);
	return rc == SQLITE_DONE ? 0 : code_of(rc);
}

int summary_db_begin(struct summary_db *d, struct error *e)
{
	if (run_to_end(use(d, ST_BEGIN, NULL, 0)) < 0)
		return summary_db_error(d, e, "write");
	d->begun = true;
	return 0;
}

int summary_db_commit(struct summary_db *d, struct error *e)
{
	if (run_to_end(use(d, ST_COMMIT, NULL, 0)) < 0)
		return summary_db_error(d, e, "write");
	d->begun = false;
	return 0;
}

void summary_db_undo(struct summary_db *d)
{
	size_t i;

	for (i = 0; i < STATEMENTS; i++)
		sqlite3_reset(d->statements[i]);
	if (d->begun)
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	d->begun = false;
}

int summary_db_get_run(struct summary_db *d, uint32_t run, struct summary_run *ret, struct error *e)
{
	int64_t key = run;
	sqlite3_stmt *s = use(d, ST_GET_RUN, &key, 1);
	int rc = sqlite3_step(s), r = 0;

	if (rc != SQLITE_ROW) {
		r = rc == SQLITE_DONE ? -ENOENT : summary_db_error(d, e, "read");
	} else if (!sqlite3_column_int(s, 4) || sqlite3_column_bytes(s, 0) != sizeof(ret->id)) {
		r = -ENOENT; /* nobody's: all of the run is made again */
	} else {
		memcpy(&ret->id, sqlite3_column_blob(s, 0), sizeof(ret->id));
		ret->mult = (uint32_t)sqlite3_column_int64(s, 1);
		ret->shift = (uint32_t)sqlite3_column_int64(s, 2);
		ret->base_ns = (uint64_t)sqlite3_column_int64(s, 3);
	}
	sqlite3_reset(s);
	return r;
}

int summary_db_put_run(struct summary_db *d, uint32_t run, const struct summary_run *r,
		       struct error *e)
{
	int64_t key = run;
	sqlite3_stmt *s = use(d, ST_PUT_RUN, &key, 1);

	sqlite3_bind_blob(s, 2, &r->id, sizeof(r->id), SQLITE_STATIC);
	sqlite3_bind_int64(s, 3, r->mult);
	sqlite3_bind_int64(s, 4, r->shift);
	sqlite3_bind_int64(s, 5, (int64_t)r->base_ns);
	return run_to_end(s) < 0 ? summary_db_error(d, e, "write") : 0;
}

int summary_db_drop_run(struct summary_db *d, uint32_t run, struct error *e)
{
	static const enum statement all[] = { ST_DROP_RUN, ST_DROP_RUN_CARRY, ST_DROP_RUN_CHUNKS };
	int64_t key = run;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (run_to_end(use(d, all[i], &key, 1)) < 0)
			return summary_db_error(d, e, "write");
	return 0;
}

int summary_db_next_run(struct summary_db *d, int64_t after, uint32_t *ret, struct error *e)
{
	sqlite3_stmt *s = use(d, ST_NEXT_RUN, &after, 1);
	int rc = sqlite3_step(s), r = 0;

	if (rc == SQLITE_ROW)
		*ret = (uint32_t)sqlite3_column_int64(s, 0);
	else
		r = rc == SQLITE_DONE ? -ENOENT : summary_db_error(d, e, "read");
	sqlite3_reset(s);
	return r;
}

static void borrow(sqlite3_stmt *s, int column, const uint8_t **ret, size_t *ret_len)
{
	*ret = sqlite3_column_blob(s, column);
	*ret_len = (size_t)sqlite3_column_bytes(s, column);
}

int summary_db_get_carry(struct summary_db *d, uint32_t run, uint32_t cpu, const uint8_t **ret,
			 size_t *ret_len)
{
	int64_t keys[] = { run, cpu };
	sqlite3_stmt *s = use(d, ST_GET_CARRY, keys, 2);
	int rc = sqlite3_step(s);

	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? -ENOENT : code_of(rc);
	borrow(s, 0, ret, ret_len);
	return sqlite3_column_int(s, 1) ? 0 : -EBADMSG;
}

int summary_db_put_carry(struct summary_db *d, uint32_t run, uint32_t cpu, const uint8_t *data,
			 size_t len)
{
	int64_t keys[] = { run, cpu };
	sqlite3_stmt *s = use(d, ST_PUT_CARRY, keys, 2);

	sqlite3_reset(d->statements[ST_GET_CARRY]);
	sqlite3_bind_blob64(s, 3, data, len, SQLITE_STATIC);
	return run_to_end(s);
}

int summary_db_put_chunk(struct summary_db *d, const struct summary_key *k, const uint8_t *data,
			 size_t len)
{
	int64_t keys[] = { k->run, k->cpu, k->level, (int64_t)k->chunk };
	sqlite3_stmt *s = use(d, ST_PUT_CHUNK, keys, 4);

	sqlite3_bind_blob64(s, 5, data, len, SQLITE_STATIC);
	return run_to_end(s);
}

int summary_db_next_chunk(struct summary_db *d, struct summary_key *k, const uint8_t **ret,
			  size_t *ret_len)
{
	int64_t keys[] = { k->run, k->cpu, k->level, (int64_t)k->chunk };
	sqlite3_stmt *s = use(d, ST_NEXT_CHUNK, keys, 4);
	int rc = sqlite3_step(s);

	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? 0 : code_of(rc);
	k->chunk = (uint64_t)sqlite3_column_int64(s, 0);
	borrow(s, 1, ret, ret_len);
	return sqlite3_column_int(s, 2) ? 1 : -EBADMSG;
}

int summary_db_drop_chunks(struct summary_db *d, const struct summary_key *k)
{
	int64_t keys[] = { k->run, k->cpu, k->level, (int64_t)k->chunk };

	return run_to_end(use(d, ST_DROP_CHUNKS, keys, 4));
}
