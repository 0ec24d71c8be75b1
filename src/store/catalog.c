/* SPDX-License-Identifier: MIT */
/*
 * catalog: see catalog.h. Every call prepares its statement, since none is made more than a few
 * times a second. Numbers of 64 bits are stored as SQLite's signed ones, bit by bit.
 *
 * A transaction belongs to a connection: so one thread at a time writes, and one reads, for a
 * statement that begins while another thread's is at work would see what that one sees, however old
 * it is. In memory there is one connection, and readers must wait for the writer, too.
 */
#include "store/catalog.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "store/catalog_seal.h"
#include "store/database.h"
#include "store/row_seal.h"

struct catalog {
	pthread_mutex_t write_lock, read_lock; /* see below */
	sqlite3 *writer;
	sqlite3 *reader; /* in memory: the same */
};

static const char schema[] =
	"BEGIN; PRAGMA user_version = 2;"
	"CREATE TABLE files (file INTEGER PRIMARY KEY, bytes INTEGER, first_ns INTEGER,"
	" last_ns INTEGER, rows INTEGER, seal INTEGER);"
	"CREATE TABLE runs (run INTEGER, file INTEGER, device BLOB, id BLOB, boot BLOB,"
	" from_tick INTEGER, to_tick INTEGER, state_in BLOB, state_out BLOB, seal INTEGER,"
	" PRIMARY KEY (run, file)) WITHOUT ROWID;"
	"CREATE INDEX runs_file ON runs (file);"
	"CREATE TABLE ledger (run INTEGER, file INTEGER, stream INTEGER, cause INTEGER,"
	" from_tick INTEGER, to_tick INTEGER, count INTEGER, seal INTEGER);"
	"CREATE INDEX ledger_run ON ledger (run);"
	"CREATE INDEX ledger_file ON ledger (file);"
	"CREATE TABLE devices (id BLOB, file INTEGER, name TEXT, kernel TEXT, machine TEXT,"
	" agent TEXT, cpus INTEGER, seen_ns INTEGER, seal INTEGER, PRIMARY KEY (id, file)) WITHOUT "
	"ROWID; "
	"COMMIT;";

static int fail(sqlite3 *db, struct error *e)
{
	int code = sqlite3_errcode(db);

	return error_set(e,
			 code == SQLITE_NOMEM  ? ENOMEM
			 : code == SQLITE_FULL ? ENOSPC
					       : EIO,
			 "cannot use the catalog: %s", sqlite3_errmsg(db));
}

static int run_sql(sqlite3 *db, const char *sql, struct error *e)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(db, e);
}

static int user_version(sqlite3 *db)
{
	sqlite3_stmt *q = NULL;
	int version = -1;

	if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &q, NULL) == SQLITE_OK &&
	    sqlite3_step(q) == SQLITE_ROW)
		version = sqlite3_column_int(q, 0);
	sqlite3_finalize(q);
	return version;
}

/* 0, or what makes this file of no use. */
static int open_database(sqlite3 **ret, const char *path, struct error *e)
{
	sqlite3 *db = NULL;
	int r = 0, version;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
	    SQLITE_OK) {
		r = db ? fail(db, e) : error_set(e, ENOMEM, "cannot use the catalog: no memory");
		sqlite3_close(db);
		return r;
	}
	sqlite3_busy_timeout(db, 10000);
	if (row_seal_register(db) != SQLITE_OK)
		r = fail(db, e);
	if (r == 0)
		r = run_sql(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;", e);
	version = r == 0 ? user_version(db) : -1;
	if (r == 0 && version == 0)
		r = run_sql(db, schema, e);
	else if (r == 0 && version != CATALOG_VERSION)
		r = error_set(e, EBADMSG, "cannot use the catalog: version %d", version);
	if (r < 0) {
		sqlite3_close(db);
		return r;
	}
	*ret = db;
	return 0;
}

static void remove_database(const char *path)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	char name[4096];
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, ends[i]);
		unlink(name);
	}
}

int catalog_open(struct catalog **ret, const char *dir, struct error *e)
{
	CLEANUP(catalog) struct catalog *c = calloc(1, sizeof(*c));
	char path[4000];
	int r;

	if (!c)
		return error_set(e, ENOMEM, "cannot open the catalog: out of memory");
	pthread_mutex_init(&c->write_lock, NULL);
	pthread_mutex_init(&c->read_lock, NULL);
	snprintf(path, sizeof(path), "%s/catalog.sqlite", dir ? dir : "");
	if (dir && database_check(path, NULL) == -EBADMSG)
		remove_database(path);
	r = open_database(&c->writer, dir ? path : ":memory:", e);
	if (r == 0)
		r = catalog_seal_check(c->writer, e);
	if (r < 0 && dir) {
		sqlite3_close(take_ptr(c->writer));
		remove_database(path);
		r = open_database(&c->writer, path, e);
	}
	if (r < 0)
		return r;
	c->reader = c->writer;
	if (dir) {
		r = open_database(&c->reader, path, e);
		if (r < 0) {
			c->reader = NULL;
			return r;
		}
	}
	*ret = take_ptr(c);
	return 0;
}

void catalog_free(struct catalog *c)
{
	if (!c)
		return;
	if (c->reader != c->writer)
		sqlite3_close(c->reader);
	sqlite3_close(c->writer);
	pthread_mutex_destroy(&c->write_lock);
	pthread_mutex_destroy(&c->read_lock);
	free(c);
}

static int prepare(sqlite3 *db, sqlite3_stmt **ret, const char *sql, struct error *e)
{
	return sqlite3_prepare_v2(db, sql, -1, ret, NULL) == SQLITE_OK ? 0 : fail(db, e);
}

static void finalize(sqlite3_stmt **q)
{
	sqlite3_finalize(*q);
}

#define CLEANUP_QUERY __attribute__((cleanup(finalize)))

/* Runs a statement without results; it can be bound and run again. */
static int step(sqlite3 *db, sqlite3_stmt *q, struct error *e)
{
	int code = sqlite3_step(q);

	sqlite3_reset(q);
	return code == SQLITE_DONE || code == SQLITE_ROW ? 0 : fail(db, e);
}

/* --- adding --- */

static int add_runs(sqlite3 *db, const struct log_index *x, struct error *e)
{
	CLEANUP_QUERY sqlite3_stmt *q = NULL;
	struct index_run run;
	uint32_t i;
	int r = prepare(db, &q,
			"INSERT OR REPLACE INTO runs VALUES"
			" (?1,?2,?3,?4,?5,?6,?7,?8,?9, row_seal(?1,?2,?3,?4,?5,?6,?7,?8,?9))",
			e);

	for (i = 0; i < x->n_runs && r == 0; i++) {
		log_index_run_at(x, i, &run);
		sqlite3_bind_int64(q, 1, run.number);
		sqlite3_bind_int64(q, 2, x->number);
		sqlite3_bind_blob(q, 3, &run.ids.device, 16, SQLITE_TRANSIENT);
		sqlite3_bind_blob(q, 4, &run.ids.run, 16, SQLITE_TRANSIENT);
		sqlite3_bind_blob(q, 5, &run.ids.boot, 16, SQLITE_TRANSIENT);
		if (run.has_tick) {
			sqlite3_bind_int64(q, 6, (sqlite3_int64)run.from_tick);
			sqlite3_bind_int64(q, 7, (sqlite3_int64)run.to_tick);
		} else {
			sqlite3_bind_null(q, 6);
			sqlite3_bind_null(q, 7);
		}
		sqlite3_bind_blob(q, 8, run.in, (int)run.in_len, SQLITE_TRANSIENT);
		sqlite3_bind_blob(q, 9, run.out, (int)run.out_len, SQLITE_TRANSIENT);
		r = step(db, q, e);
	}
	return r;
}

static int add_losses(sqlite3 *db, const struct log_index *x, struct error *e)
{
	CLEANUP_QUERY sqlite3_stmt *q = NULL;
	struct store_loss l;
	uint32_t i;
	int r = prepare(db, &q,
			"INSERT INTO ledger VALUES"
			" (?1,?2,?3,?4,?5,?6,?7, row_seal(?1,?2,?3,?4,?5,?6,?7))",
			e);

	for (i = 0; i < x->n_losses && r == 0; i++) {
		log_index_loss_at(x, i, &l);
		sqlite3_bind_int64(q, 1, l.run);
		sqlite3_bind_int64(q, 2, x->number);
		sqlite3_bind_int64(q, 3, l.stream);
		sqlite3_bind_int64(q, 4, l.cause);
		sqlite3_bind_int64(q, 5, (sqlite3_int64)l.from_tick);
		sqlite3_bind_int64(q, 6, (sqlite3_int64)l.to_tick);
		sqlite3_bind_int64(q, 7, (sqlite3_int64)l.count);
		r = step(db, q, e);
	}
	return r;
}

static int add_devices(sqlite3 *db, const struct log_index *x, struct error *e)
{
	CLEANUP_QUERY sqlite3_stmt *q = NULL;
	struct store_device d;
	uint32_t i;
	int r = prepare(db, &q,
			"INSERT OR REPLACE INTO devices VALUES"
			" (?1,?2,?3,?4,?5,?6,?7,?8, row_seal(?1,?2,?3,?4,?5,?6,?7,?8))",
			e);

	for (i = 0; i < x->n_devices && r == 0; i++) {
		if (log_index_device_at(x, i, &d) < 0)
			continue;
		sqlite3_bind_blob(q, 1, &d.id, 16, SQLITE_TRANSIENT);
		sqlite3_bind_int64(q, 2, x->number);
		sqlite3_bind_text(q, 3, d.name, -1, SQLITE_TRANSIENT);
		sqlite3_bind_text(q, 4, d.kernel, -1, SQLITE_TRANSIENT);
		sqlite3_bind_text(q, 5, d.machine, -1, SQLITE_TRANSIENT);
		sqlite3_bind_text(q, 6, d.agent, -1, SQLITE_TRANSIENT);
		sqlite3_bind_int64(q, 7, d.cpus);
		sqlite3_bind_int64(q, 8, (sqlite3_int64)d.seen_ns);
		r = step(db, q, e);
	}
	return r;
}

static int add_file(sqlite3 *db, const struct log_index *x, int rows, struct error *e)
{
	CLEANUP_QUERY sqlite3_stmt *q = NULL;
	int r = prepare(db, &q,
			"INSERT OR REPLACE INTO files VALUES"
			" (?1,?2,?3,?4,?5, row_seal(?1,?2,?3,?4,?5))",
			e);

	if (r < 0)
		return r;
	sqlite3_bind_int64(q, 1, x->number);
	sqlite3_bind_int64(q, 2, (sqlite3_int64)x->log_size);
	sqlite3_bind_int64(q, 3, (sqlite3_int64)x->first_ns);
	sqlite3_bind_int64(q, 4, (sqlite3_int64)x->last_ns);
	sqlite3_bind_int64(q, 5, rows);
	return step(db, q, e);
}

static int remove_where(sqlite3 *db, const char *where, struct error *e)
{
	static const char *const tables[] = { "files", "runs", "ledger", "devices" };
	char sql[128];
	size_t i;
	int r = 0;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]) && r == 0; i++) {
		snprintf(sql, sizeof(sql), "DELETE FROM %s WHERE %s", tables[i], where);
		r = run_sql(db, sql, e);
	}
	return r;
}

static int begin_transaction(struct catalog *c, struct error *e)
{
	int r;

	pthread_mutex_lock(&c->write_lock);
	r = run_sql(c->writer, "BEGIN IMMEDIATE", e);
	if (r < 0)
		pthread_mutex_unlock(&c->write_lock);
	return r;
}

static int end_transaction(struct catalog *c, int r, struct error *e)
{
	if (r == 0)
		r = run_sql(c->writer, "COMMIT", e);
	if (r < 0)
		run_sql(c->writer, "ROLLBACK", NULL);
	pthread_mutex_unlock(&c->write_lock);
	return r;
}

int catalog_add_file(struct catalog *c, const struct log_index *x, struct error *e)
{
	char where[32];
	int r = begin_transaction(c, e), before;

	if (r < 0)
		return r;
	snprintf(where, sizeof(where), "file = %u", x->number);
	r = remove_where(c->writer, where, e);
	before = sqlite3_total_changes(c->writer);
	if (r == 0)
		r = add_runs(c->writer, x, e);
	if (r == 0)
		r = add_losses(c->writer, x, e);
	if (r == 0)
		r = add_devices(c->writer, x, e);
	if (r == 0)
		r = add_file(c->writer, x, sqlite3_total_changes(c->writer) - before, e);
	if (r == 0)
		r = log_index_check(x, e);
	return end_transaction(c, r, e);
}

int catalog_remove_file(struct catalog *c, uint32_t file, struct error *e)
{
	char where[32];
	int r = begin_transaction(c, e);

	snprintf(where, sizeof(where), "file = %u", file);
	return r < 0 ? r : end_transaction(c, remove_where(c->writer, where, e), e);
}

/* --- asking --- */

static int begin_reading(struct catalog *c, sqlite3_stmt **ret, const char *sql, struct error *e)
{
	pthread_mutex_lock(c->reader == c->writer ? &c->write_lock : &c->read_lock);
	return prepare(c->reader, ret, sql, e);
}

static void get_id(sqlite3_stmt *q, int column, struct message_id *ret)
{
	const void *p = sqlite3_column_blob(q, column);

	memset(ret, 0, sizeof(*ret));
	if (p && sqlite3_column_bytes(q, column) == (int)sizeof(*ret))
		memcpy(ret, p, sizeof(*ret));
}

static int end_reading(struct catalog *c, sqlite3_stmt **q, int code, int r, struct error *e)
{
	if (r == 0 && code != SQLITE_DONE)
		r = fail(c->reader, e);
	sqlite3_finalize(*q);
	*q = NULL;
	pthread_mutex_unlock(c->reader == c->writer ? &c->write_lock : &c->read_lock);
	return r;
}

int catalog_files(struct catalog *c, catalog_file_fn fn, void *context, struct error *e)
{
	sqlite3_stmt *q = NULL;
	struct catalog_file f;
	int r = begin_reading(c, &q, "SELECT * FROM files ORDER BY file", e), code = SQLITE_DONE;

	while (r == 0 && (code = sqlite3_step(q)) == SQLITE_ROW) {
		f.file = (uint32_t)sqlite3_column_int64(q, 0);
		f.size = (uint64_t)sqlite3_column_int64(q, 1);
		f.first_ns = (uint64_t)sqlite3_column_int64(q, 2);
		f.last_ns = (uint64_t)sqlite3_column_int64(q, 3);
		r = fn(context, &f);
	}
	return end_reading(c, &q, code, r, e);
}

int catalog_runs(struct catalog *c, catalog_run_fn fn, void *context, struct error *e)
{
	sqlite3_stmt *q = NULL;
	struct catalog_run row;
	int r = begin_reading(c, &q, "SELECT * FROM runs ORDER BY run, file", e);
	int code = SQLITE_DONE;

	while (r == 0 && (code = sqlite3_step(q)) == SQLITE_ROW) {
		memset(&row, 0, sizeof(row));
		row.run.number = (uint32_t)sqlite3_column_int64(q, 0);
		row.file = (uint32_t)sqlite3_column_int64(q, 1);
		get_id(q, 2, &row.run.ids.device);
		get_id(q, 3, &row.run.ids.run);
		get_id(q, 4, &row.run.ids.boot);
		row.run.has_tick = sqlite3_column_type(q, 5) != SQLITE_NULL;
		row.run.from_tick = (uint64_t)sqlite3_column_int64(q, 5);
		row.run.to_tick = (uint64_t)sqlite3_column_int64(q, 6);
		row.run.in = sqlite3_column_blob(q, 7);
		row.run.in_len = (size_t)sqlite3_column_bytes(q, 7);
		row.run.out = sqlite3_column_blob(q, 8);
		row.run.out_len = (size_t)sqlite3_column_bytes(q, 8);
		r = fn(context, &row);
	}
	return end_reading(c, &q, code, r, e);
}

static void get_text(sqlite3_stmt *q, int column, char out[STORE_NAME_MAX])
{
	const unsigned char *text = sqlite3_column_text(q, column);

	snprintf(out, STORE_NAME_MAX, "%s", text ? (const char *)text : "");
}

/* The latest that is known of each. */
int catalog_devices(struct catalog *c, store_device_fn fn, void *context, struct error *e)
{
	sqlite3_stmt *q = NULL;
	struct store_device d;
	int code = SQLITE_DONE;
	int r = begin_reading(c, &q, "SELECT * FROM devices ORDER BY file", e);

	while (r == 0 && (code = sqlite3_step(q)) == SQLITE_ROW) {
		get_id(q, 0, &d.id);
		get_text(q, 2, d.name);
		get_text(q, 3, d.kernel);
		get_text(q, 4, d.machine);
		get_text(q, 5, d.agent);
		d.cpus = (uint32_t)sqlite3_column_int64(q, 6);
		d.seen_ns = (uint64_t)sqlite3_column_int64(q, 7);
		r = fn(context, &d);
	}
	return end_reading(c, &q, code, r, e);
}

int catalog_ledger(struct catalog *c, const struct catalog_part *part, store_loss_fn fn,
		   void *context, struct error *e)
{
	sqlite3_stmt *q = NULL;
	struct store_loss l = { .run = part->run };
	int code = SQLITE_DONE;
	int r = begin_reading(c, &q,
			      "SELECT stream, cause, from_tick, to_tick, count FROM ledger"
			      " WHERE run = ? AND file >= ? AND file < ? ORDER BY file, rowid",
			      e);

	if (r == 0) {
		sqlite3_bind_int64(q, 1, part->run);
		sqlite3_bind_int64(q, 2, part->first);
		sqlite3_bind_int64(q, 3, part->end);
	}
	while (r == 0 && (code = sqlite3_step(q)) == SQLITE_ROW) {
		l.stream = (uint32_t)sqlite3_column_int64(q, 0);
		l.cause = (uint8_t)sqlite3_column_int64(q, 1);
		l.from_tick = (uint64_t)sqlite3_column_int64(q, 2);
		l.to_tick = (uint64_t)sqlite3_column_int64(q, 3);
		l.count = (uint64_t)sqlite3_column_int64(q, 4);
		if (l.cause < LOSS_CAUSES)
			r = fn(context, &l);
	}
	return end_reading(c, &q, code, r, e);
}
