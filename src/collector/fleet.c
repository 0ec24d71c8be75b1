/* SPDX-License-Identifier: MIT */
/* fleet: see fleet.h. One connection to the file, with a lock around each statement. */
#include "collector/fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "store/sealed_table.h"

#define VERSION "2"
#define BUSY_MS 10000
#define CONFIG_ROOM 4096U
#define DROP_EVERY 256U /* rows beyond the ceiling are dropped so many at once */
#define DAMAGED "this row was damaged on the disk: nothing in it can be trusted"

enum statement {
	ST_PUSH,
	ST_SETTLE,
	ST_SETTLE_LATE,
	ST_SETTLE_DEVICE,
	ST_REPLACE,
	ST_DROP,
	ST_LIST,
	ST_LIST_DEVICE,
	ST_PUT_GROUP,
	ST_DROP_GROUP,
	ST_DEVICES,
	STATEMENTS,
};

#define COLUMNS                                                                                    \
	"number, device, at_ns, settled_ns, verb, config, whence, client, outcome, code, text"

static const char *const texts[STATEMENTS] = {
	[ST_PUSH] =
		"INSERT INTO instruction (device, at_ns, settled_ns, verb, config, whence, client,"
		" outcome, code, text) VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, 0, 0, '')",
	[ST_SETTLE] = "UPDATE instruction SET outcome = ?2, code = ?3, text = ?4, settled_ns = ?5"
		      " WHERE number = ?1 AND outcome = 0",
	[ST_SETTLE_LATE] = "UPDATE instruction SET outcome = ?2, code = ?3, text = ?4,"
			   " settled_ns = ?5 WHERE number = ?1 AND outcome IN (0, 3, 4, 5)",
	[ST_SETTLE_DEVICE] = "UPDATE instruction SET outcome = ?2, code = ?3, text = ?4,"
			     " settled_ns = ?5 WHERE device = ?1 AND outcome IN (3, 4)",
	[ST_REPLACE] = "UPDATE instruction SET outcome = ?2, code = ?3, text = ?4, settled_ns = ?5"
		       " WHERE device = ?1 AND number < ?6 AND verb IN (?7, ?8)"
		       " AND outcome IN (3, 4)",
	[ST_DROP] = "DELETE FROM instruction WHERE number <= ?1",
	[ST_LIST] = "SELECT " COLUMNS " FROM instruction WHERE number < ?2 ORDER BY number DESC"
		    " LIMIT 1",
	[ST_LIST_DEVICE] = "SELECT " COLUMNS " FROM instruction WHERE device = ?1 AND number < ?2"
			   " ORDER BY number DESC LIMIT 1",
	[ST_PUT_GROUP] = "INSERT OR REPLACE INTO device (id, name) VALUES (?1, ?2)",
	[ST_DROP_GROUP] = "DELETE FROM device WHERE id = ?1",
	[ST_DEVICES] = "SELECT id, name, 0 FROM device UNION ALL"
		       " SELECT DISTINCT device, '', 1 FROM instruction WHERE outcome IN (3, 4)",
};

/* Nobody else opens the file: so the index of the journal is in memory, and a full disk keeps nobody from reading. */
static const char settings[] =
	"PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;";

static const char schema[] =
	"BEGIN;"
	"CREATE TABLE IF NOT EXISTS instruction (number INTEGER PRIMARY KEY AUTOINCREMENT,"
	" device BLOB, at_ns INTEGER, settled_ns INTEGER, verb INTEGER, config BLOB, whence TEXT,"
	" client TEXT, outcome INTEGER, code INTEGER, text TEXT);"
	"CREATE INDEX IF NOT EXISTS of_device ON instruction (device, number);"
	"CREATE INDEX IF NOT EXISTS waiting ON instruction (device) WHERE outcome IN (3, 4);"
	"CREATE TABLE IF NOT EXISTS device (id BLOB PRIMARY KEY, name TEXT);"
	"PRAGMA user_version = " VERSION ";"
	"COMMIT;";

static const char *const tables[] = { "instruction", "device", NULL };

/* What the disk has damaged. That there was an instruction is kept, and that nobody knows which; sealed anew, so it is found once. */
static const char repair[] = "BEGIN;"
			     "UPDATE instruction SET outcome = 2, code = 0, text = '" DAMAGED "',"
			     " seal = row_seal(number, device, at_ns, settled_ns, verb, config, "
			     "whence, client, 2, 0, '" DAMAGED "')"
			     " WHERE seal IS NOT row_seal(" COLUMNS ");"
			     "DELETE FROM device WHERE seal IS NOT row_seal(id, name);"
			     "COMMIT;";

/* Whoever waited for these answers has ended with the collector. */
static const char orphans[] =
	"UPDATE instruction SET outcome = 4, text = 'the collector ended before the answer came'"
	" WHERE outcome = 0;";

const char *const fleet_outcome_words[FLEET_OUTCOMES] = {
	[FLEET_SENT] = "sent",		 [FLEET_DONE] = "done",
	[FLEET_FAILED] = "failed",	 [FLEET_DEFERRED] = "deferred",
	[FLEET_TIMED_OUT] = "timed_out", [FLEET_REPLACED] = "replaced",
};

struct fleet {
	pthread_mutex_t lock;
	sqlite3 *db;
	atomic_uint_least64_t changes;
	char path[PATH_MAX];
	sqlite3_stmt *statements[STATEMENTS];
};

static int set_error(struct fleet *f, const char *what, struct error *e)
{
	int code = sqlite3_errcode(f->db) & 0xff;
	bool is_damaged = code == SQLITE_NOTADB || code == SQLITE_CORRUPT;

	return error_set(e,
			 code == SQLITE_NOMEM  ? ENOMEM
			 : code == SQLITE_FULL ? ENOSPC
			 : is_damaged	       ? EBADMSG
					       : EIO,
			 "cannot %s %s: %s", what, f->path, sqlite3_errmsg(f->db));
}

/* --- opening --- */

static int prepare(struct fleet *f, struct error *e)
{
	size_t i;

	for (i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v3(f->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &f->statements[i], NULL) != SQLITE_OK)
			return set_error(f, "read", e);
	return 0;
}

static int take_version(void *context, int n, char **values, char **names)
{
	(void)names;
	*(bool *)context = n == 1 && values[0] && !strcmp(values[0], VERSION);
	return 0;
}

static int open_file(struct fleet *f, const char *path, struct error *e)
{
	bool is_made = false;

	if (sqlite3_open_v2(path, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
	    SQLITE_OK)
		return set_error(f, "open", e);
	sqlite3_busy_timeout(f->db, BUSY_MS);
	if (sqlite3_exec(f->db, settings, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(f->db, "PRAGMA user_version", take_version, &is_made, NULL) != SQLITE_OK ||
	    (!is_made && sqlite3_exec(f->db, schema, NULL, NULL, NULL) != SQLITE_OK) ||
	    sealed_table_keep(f->db, tables) != SQLITE_OK)
		return set_error(f, "open", e);
	/* It is no matter if these have to wait for the next start. */
	if (sqlite3_exec(f->db, repair, NULL, NULL, NULL) != SQLITE_OK)
		sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_exec(f->db, orphans, NULL, NULL, NULL);
	return prepare(f, e);
}

static void close_file(struct fleet *f)
{
	size_t i;

	for (i = 0; i < STATEMENTS; i++) {
		sqlite3_finalize(f->statements[i]);
		f->statements[i] = NULL;
	}
	sqlite3_close(f->db);
	f->db = NULL;
}

/* A collector on a disk that is full must start, or nobody could make room or look. If there is no room even for an
 * empty file, what is said is only known until it ends. */
int fleet_open(struct fleet **ret, const char *dir, struct error *e)
{
	CLEANUP(fleet) struct fleet *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return error_set(e, ENOMEM, "cannot open %s/fleet.db: out of memory", dir);
	pthread_mutex_init(&f->lock, NULL);
	if (snprintf(f->path, sizeof(f->path), "%s/fleet.db", dir) >= (int)sizeof(f->path))
		return error_set(e, ENAMETOOLONG, "cannot open %s/fleet.db: too long a name", dir);
	r = open_file(f, f->path, e);
	if (r == -ENOSPC) {
		close_file(f);
		r = open_file(f, ":memory:", e);
	}
	if (r < 0)
		return r;
	*ret = take_ptr(f);
	return 0;
}

void fleet_free(struct fleet *f)
{
	if (!f)
		return;
	close_file(f);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

/* --- writing; all with the lock held --- */

static void bind_id(sqlite3_stmt *s, int at, const struct message_id *id)
{
	sqlite3_bind_blob(s, at, id->bytes, sizeof(id->bytes), SQLITE_TRANSIENT);
}

static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
	sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
}

static void bind_count(sqlite3_stmt *s, int at, uint64_t v)
{
	sqlite3_bind_int64(s, at, v < INT64_MAX ? (sqlite3_int64)v : INT64_MAX);
}

static int run(struct fleet *f, enum statement which, struct error *e)
{
	sqlite3_stmt *s = f->statements[which];
	int r = sqlite3_step(s) == SQLITE_DONE ? 0 : set_error(f, "write", e);

	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return r;
}

/* … one that changes what fleet_list() says. */
static int run_change(struct fleet *f, enum statement which, struct error *e)
{
	int r = run(f, which, e);

	if (r >= 0 && sqlite3_changes(f->db))
		atomic_fetch_add(&f->changes, 1);
	return r;
}

static void bind_result(sqlite3_stmt *s, const struct fleet_result *result)
{
	sqlite3_bind_int(s, 2, (int)result->outcome);
	bind_count(s, 3, result->code);
	bind_text(s, 4, result->text);
	bind_count(s, 5, clock_real_ns());
}

/* The oldest go, many at once. Numbers have no holes, since rows go nowhere else. */
static int drop_oldest(struct fleet *f, uint64_t number, struct error *e)
{
	if (number <= FLEET_ROWS_MAX || number % DROP_EVERY)
		return 0;
	bind_count(f->statements[ST_DROP], 1, number - FLEET_ROWS_MAX);
	return run(f, ST_DROP, e);
}

int fleet_push(struct fleet *f, const struct fleet_row *row, uint64_t *ret_number, struct error *e)
{
	sqlite3_stmt *s = f->statements[ST_PUSH];
	uint8_t config[CONFIG_ROOM];
	struct byte_writer w;
	int r;

	writer_init(&w, config, sizeof(config));
	config_encode(&w, &row->config);
	pthread_mutex_lock(&f->lock);
	bind_id(s, 1, &row->device);
	bind_count(s, 2, row->at_ns);
	sqlite3_bind_int(s, 3, row->verb);
	sqlite3_bind_blob(s, 4, config, (int)writer_len(&w), SQLITE_TRANSIENT);
	bind_text(s, 5, row->from);
	bind_text(s, 6, row->client);
	r = run_change(f, ST_PUSH, e);
	if (r >= 0) {
		*ret_number = (uint64_t)sqlite3_last_insert_rowid(f->db);
		r = drop_oldest(f, *ret_number, e);
	}
	pthread_mutex_unlock(&f->lock);
	return r;
}

int fleet_settle(struct fleet *f, uint64_t number, const struct fleet_result *result,
		 struct error *e)
{
	int r;

	pthread_mutex_lock(&f->lock);
	bind_count(f->statements[ST_SETTLE], 1, number);
	bind_result(f->statements[ST_SETTLE], result);
	r = run_change(f, ST_SETTLE, e);
	pthread_mutex_unlock(&f->lock);
	return r;
}

/* The thread that takes devices' blocks settles thus: many devices may come back at once, and what a power cut
 * takes is found to wait and settled again at the next arrival. */
static int run_soon(struct fleet *f, enum statement which, struct error *e)
{
	int r;

	sqlite3_exec(f->db, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
	r = run_change(f, which, e);
	sqlite3_exec(f->db, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
	return r;
}

int fleet_settle_late(struct fleet *f, uint64_t number, const struct fleet_result *result,
		      struct error *e)
{
	int r;

	pthread_mutex_lock(&f->lock);
	bind_count(f->statements[ST_SETTLE_LATE], 1, number);
	bind_result(f->statements[ST_SETTLE_LATE], result);
	r = run_soon(f, ST_SETTLE_LATE, e);
	pthread_mutex_unlock(&f->lock);
	return r;
}

int fleet_settle_device(struct fleet *f, const struct message_id *device,
			const struct fleet_result *result, struct error *e)
{
	int r;

	pthread_mutex_lock(&f->lock);
	bind_id(f->statements[ST_SETTLE_DEVICE], 1, device);
	bind_result(f->statements[ST_SETTLE_DEVICE], result);
	r = run_soon(f, ST_SETTLE_DEVICE, e);
	pthread_mutex_unlock(&f->lock);
	return r;
}

int fleet_replace(struct fleet *f, const struct message_id *device, uint64_t by, struct error *e)
{
	sqlite3_stmt *s = f->statements[ST_REPLACE];
	struct fleet_result result = { .outcome = FLEET_REPLACED };
	int r;

	snprintf(result.text, sizeof(result.text), "by instruction %" PRIu64, by);
	pthread_mutex_lock(&f->lock);
	bind_id(s, 1, device);
	bind_result(s, &result);
	bind_count(s, 6, by);
	sqlite3_bind_int(s, 7, INSTRUCTION_START);
	sqlite3_bind_int(s, 8, INSTRUCTION_STOP);
	r = run_change(f, ST_REPLACE, e);
	pthread_mutex_unlock(&f->lock);
	return r;
}

uint64_t fleet_get_changes(struct fleet *f)
{
	return atomic_load(&f->changes);
}

int fleet_set_group(struct fleet *f, const struct message_id *device, const char *group,
		    struct error *e)
{
	enum statement which = *group ? ST_PUT_GROUP : ST_DROP_GROUP;
	int r;

	pthread_mutex_lock(&f->lock);
	bind_id(f->statements[which], 1, device);
	if (*group)
		bind_text(f->statements[which], 2, group);
	r = run(f, which, e);
	pthread_mutex_unlock(&f->lock);
	return r;
}

/* --- reading --- */

static void get_id(sqlite3_stmt *s, int at, struct message_id *ret)
{
	const void *bytes = sqlite3_column_blob(s, at);

	memset(ret, 0, sizeof(*ret));
	if (bytes && sqlite3_column_bytes(s, at) == (int)sizeof(ret->bytes))
		memcpy(ret->bytes, bytes, sizeof(ret->bytes));
}

static void get_text(sqlite3_stmt *s, int at, char *out, size_t room)
{
	const unsigned char *text = sqlite3_column_text(s, at);

	snprintf(out, room, "%s", text ? (const char *)text : "");
}

static void get_config(sqlite3_stmt *s, int at, struct message_config *ret)
{
	const void *bytes = sqlite3_column_blob(s, at);
	int len = sqlite3_column_bytes(s, at);
	struct byte_reader r;

	reader_init(&r, bytes ? bytes : "", bytes && len > 0 ? (size_t)len : 0);
	if (config_decode(ret, &r) != WIRE_OK)
		memset(ret, 0, sizeof(*ret));
}

static void get_row(sqlite3_stmt *s, struct fleet_row *row)
{
	int outcome = sqlite3_column_int(s, 8);

	memset(row, 0, sizeof(*row));
	row->number = (uint64_t)sqlite3_column_int64(s, 0);
	get_id(s, 1, &row->device);
	row->at_ns = (uint64_t)sqlite3_column_int64(s, 2);
	row->settled_ns = (uint64_t)sqlite3_column_int64(s, 3);
	row->verb = (uint8_t)sqlite3_column_int(s, 4);
	get_config(s, 5, &row->config);
	get_text(s, 6, row->from, sizeof(row->from));
	get_text(s, 7, row->client, sizeof(row->client));
	row->result.outcome = outcome >= 0 && outcome < FLEET_OUTCOMES ? (enum fleet_outcome)outcome
								       : FLEET_FAILED;
	row->result.code = (uint32_t)sqlite3_column_int64(s, 9);
	get_text(s, 10, row->result.text, sizeof(row->result.text));
}

/* 1: *row is the next one before that number; 0: there is none. */
static int next_row(struct fleet *f, const struct fleet_query *q, uint64_t before,
		    struct fleet_row *row, struct error *e)
{
	sqlite3_stmt *s = f->statements[q->device ? ST_LIST_DEVICE : ST_LIST];
	int r, got;

	pthread_mutex_lock(&f->lock);
	if (q->device)
		bind_id(s, 1, q->device);
	bind_count(s, 2, before);
	got = sqlite3_step(s);
	if (got == SQLITE_ROW)
		get_row(s, row);
	r = got == SQLITE_ROW ? 1 : got == SQLITE_DONE ? 0 : set_error(f, "read", e);
	sqlite3_reset(s);
	pthread_mutex_unlock(&f->lock);
	return r;
}

int fleet_list(struct fleet *f, const struct fleet_query *q, fleet_row_fn fn, void *context,
	       struct error *e)
{
	uint64_t before = q->before ? q->before : INT64_MAX;
	_cleanup_free_ struct fleet_row *row = malloc(sizeof(*row));
	int r;

	if (!row)
		return error_set(e, ENOMEM, "cannot list the instructions: out of memory");
	while ((r = next_row(f, q, before, row, e)) == 1) {
		before = row->number;
		r = fn(context, row);
		if (r)
			break;
	}
	return r;
}

int fleet_devices(struct fleet *f, fleet_device_fn fn, void *context, struct error *e)
{
	sqlite3_stmt *s = f->statements[ST_DEVICES];
	struct fleet_device d;
	int r = 0, got;

	pthread_mutex_lock(&f->lock);
	while (!r && (got = sqlite3_step(s)) != SQLITE_DONE) {
		if (got != SQLITE_ROW) {
			r = set_error(f, "read", e);
			break;
		}
		get_id(s, 0, &d.id);
		get_text(s, 1, d.group, sizeof(d.group));
		d.waits = sqlite3_column_int(s, 2);
		r = fn(context, &d);
	}
	sqlite3_reset(s);
	pthread_mutex_unlock(&f->lock);
	return r;
}
