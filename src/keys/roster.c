/* SPDX-License-Identifier: MIT */
/*
 * roster: see roster.h. What is committed is on the disk (synchronous = FULL): a token that was used
 * is used, also after a power cut.
 */
#include "keys/roster.h"

#include <ctype.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/key_file.h"
#include "keys/row.h"
#include "store/sealed_table.h"

#define BUSY_MS 5000
#define ENTRIES_MAX 1000000U

enum statement {
	ST_BEGIN,
	ST_COMMIT,
	ST_ROLLBACK,
	ST_VERSION,
	ST_PUT_TOKEN,
	ST_COUNT_TOKENS,
	ST_GET_TOKEN,
	ST_USE_TOKEN,
	ST_PUT,
	ST_GET,
	ST_GET_OWNER,
	ST_REVOKE,
	ST_DROP_TOKENS,
	ST_DROP_DAMAGED_TOKENS,
	ST_DROP_DAMAGED,
	ST_DROP_ENDED,
	ST_SHORTEN,
	ST_ENTRIES,
	STATEMENTS,
};

#define TOKEN "hash, name, made, until, valid, used, used_from"
#define TOKEN_FITS "seal IS row_seal(" TOKEN ")"
#define CERTIFICATE "serial, name, device, made, until, valid, revoked"
#define CERTIFICATE_FITS "seal IS row_seal(" CERTIFICATE ")"

static const char *const tables[] = { "token", "certificate", NULL };

static const char *const texts[STATEMENTS] = {
	[ST_BEGIN] = "BEGIN IMMEDIATE",
	[ST_COMMIT] = "COMMIT",
	[ST_ROLLBACK] = "ROLLBACK",
	[ST_VERSION] = "PRAGMA data_version",
	[ST_PUT_TOKEN] = "INSERT INTO token (" TOKEN ") VALUES (?1, ?2, ?3, ?4, ?5, 0, '')",
	[ST_COUNT_TOKENS] = "SELECT count(*) FROM token WHERE used = 0",
	[ST_GET_TOKEN] = "SELECT " TOKEN ", " TOKEN_FITS " FROM token WHERE hash = ?1",
	[ST_USE_TOKEN] = "UPDATE token SET used = ?2, used_from = ?3 WHERE hash = ?1",
	[ST_PUT] = "INSERT INTO certificate (" CERTIFICATE ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)",
	[ST_GET] = "SELECT " CERTIFICATE ", " CERTIFICATE_FITS " FROM certificate "
		   "WHERE serial = ?1",
	[ST_GET_OWNER] = "SELECT name FROM certificate WHERE device = ?1 AND name <> ?2 AND "
			 "revoked = 0 AND until > ?3 LIMIT 1",
	[ST_REVOKE] = "UPDATE certificate SET revoked = ?2 WHERE name = ?1 AND revoked = 0",
	[ST_DROP_TOKENS] = "DELETE FROM token WHERE name = ?1 AND used = 0",
	[ST_DROP_DAMAGED_TOKENS] = "DELETE FROM token WHERE NOT " TOKEN_FITS,
	[ST_DROP_DAMAGED] = "DELETE FROM certificate WHERE NOT " CERTIFICATE_FITS,
	[ST_DROP_ENDED] = "DELETE FROM certificate WHERE name = ?1 AND until < ?2",
	[ST_SHORTEN] = "UPDATE certificate SET made = ?2 - 1, until = ?2 + valid WHERE name = ?1 "
		       "AND revoked = 0 AND made >= ?2",
	[ST_ENTRIES] = "SELECT serial, name, device, max(made), until, valid, revoked, "
		       "sum(NOT " CERTIFICATE_FITS "), 0 "
		       "FROM certificate GROUP BY name UNION ALL "
		       "SELECT x'', name, x'', max(made), until, valid, 0, "
		       "sum(NOT " TOKEN_FITS "), 1 FROM token WHERE "
		       "used = 0 AND name NOT IN (SELECT name FROM certificate) GROUP BY name "
		       "ORDER BY 2",
};

static const char schema[] =
	"PRAGMA synchronous = FULL;"
	"CREATE TABLE IF NOT EXISTS token (hash BLOB PRIMARY KEY, name TEXT, made INTEGER,"
	" until INTEGER, valid INTEGER, used INTEGER, used_from TEXT) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS certificate (serial BLOB PRIMARY KEY, name TEXT, device BLOB,"
	" made INTEGER, until INTEGER, valid INTEGER, revoked INTEGER) WITHOUT ROWID;"
	"CREATE INDEX IF NOT EXISTS by_name ON certificate (name);"
	"CREATE INDEX IF NOT EXISTS by_device ON certificate (device);";

struct roster {
	sqlite3 *db;
	sqlite3_stmt *st[STATEMENTS];
	int version; /* of the file, as seen last */
};

static int say(struct roster *r, struct error *e, const char *verb)
{
	int rc = sqlite3_errcode(r->db);

	return error_set(e, rc == SQLITE_BUSY ? EBUSY : EIO, "cannot %s the roster of keys: %s",
			 verb, sqlite3_errmsg(r->db));
}

void roster_close(struct roster *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(r->st[i]);
	sqlite3_close(r->db);
	free(r);
}

int roster_open(struct roster **ret, const char *folder, struct error *e)
{
	CLEANUP(roster) struct roster *r = calloc(1, sizeof(*r));
	char path[KEY_PATH_MAX];
	size_t i;
	int rc = key_file_touch(folder, ROSTER_FILE, e);

	if (rc < 0)
		return rc;
	if (!r)
		return error_set(e, ENOMEM, "cannot open the roster of keys: out of memory");
	snprintf(path, sizeof(path), "%s/%s", folder, ROSTER_FILE);
	if (sqlite3_open_v2(path, &r->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		return r->db ? say(r, e, "open")
			     : error_set(e, ENOMEM, "cannot open %s: out of memory", path);
	sqlite3_busy_timeout(r->db, BUSY_MS);
	if (sqlite3_exec(r->db, schema, NULL, NULL, NULL) != SQLITE_OK ||
	    sealed_table_keep(r->db, tables) != SQLITE_OK)
		return say(r, e, "open");
	for (i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v2(r->db, texts[i], -1, &r->st[i], NULL) != SQLITE_OK)
			return say(r, e, "open");
	roster_has_changed(r);
	*ret = take_ptr(r);
	return 0;
}

bool roster_is_name(const char *name)
{
	const char *p;

	for (p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return false;
	return p > name && p - name < (int)ROSTER_NAME_MAX && name[0] != '.';
}

/* --- statements --- */

/* A statement that changes something. */
static int run(struct roster *r, enum statement which, struct error *e, const char *verb)
{
	sqlite3_stmt *s = r->st[which];
	int rc = sqlite3_step(s), code = rc == SQLITE_DONE ? 0 : say(r, e, verb);

	sqlite3_reset(s);
	return code;
}

int roster_begin(struct roster *r, struct error *e)
{
	return run(r, ST_BEGIN, e, "change");
}

int roster_end(struct roster *r, bool keep, struct error *e)
{
	return run(r, keep ? ST_COMMIT : ST_ROLLBACK, e, "change");
}

bool roster_has_changed(struct roster *r)
{
	sqlite3_stmt *s = r->st[ST_VERSION];
	int version = r->version;

	if (sqlite3_step(s) == SQLITE_ROW)
		version = sqlite3_column_int(s, 0);
	sqlite3_reset(s);
	if (version == r->version)
		return false;
	r->version = version;
	return true;
}

/* --- tokens --- */

int roster_put_token(struct roster *r, const struct roster_token *t, struct error *e)
{
	sqlite3_stmt *s = r->st[ST_COUNT_TOKENS];
	bool full = sqlite3_step(s) == SQLITE_ROW && row_get_number(s, 0) >= ROSTER_TOKENS_MAX;

	sqlite3_reset(s);
	if (full)
		return error_set(e, EDQUOT, "cannot make a token: %u wait to be used",
				 ROSTER_TOKENS_MAX);
	s = r->st[ST_PUT_TOKEN];
	row_bind_bytes(s, 1, t->hash, sizeof(t->hash));
	row_bind_text(s, 2, t->name);
	row_bind_number(s, 3, t->made_s);
	row_bind_number(s, 4, t->until_s);
	row_bind_number(s, 5, t->valid_s);
	return run(r, ST_PUT_TOKEN, e, "write");
}

int roster_get_token(struct roster *r, const uint8_t hash[ROSTER_HASH_LEN],
		     struct roster_token *ret, struct error *e)
{
	sqlite3_stmt *s = r->st[ST_GET_TOKEN];
	int rc, code = 0;

	row_bind_bytes(s, 1, hash, ROSTER_HASH_LEN);
	rc = sqlite3_step(s);
	if (rc == SQLITE_DONE)
		code = -ENOENT;
	else if (rc != SQLITE_ROW)
		code = say(r, e, "read");
	else if (!row_get_number(s, 7))
		code = error_set(e, EBADMSG, "the row of its token is damaged; make another");
	if (code == 0) {
		memset(ret, 0, sizeof(*ret));
		memcpy(ret->hash, hash, ROSTER_HASH_LEN);
		row_get_text(s, 1, ret->name, sizeof(ret->name));
		ret->made_s = row_get_number(s, 2);
		ret->until_s = row_get_number(s, 3);
		ret->valid_s = row_get_number(s, 4);
		ret->used_s = row_get_number(s, 5);
		row_get_text(s, 6, ret->used_from, sizeof(ret->used_from));
	}
	sqlite3_reset(s);
	return code;
}

int roster_use_token(struct roster *r, const struct roster_token *t, struct error *e)
{
	sqlite3_stmt *s = r->st[ST_USE_TOKEN];

	row_bind_bytes(s, 1, t->hash, sizeof(t->hash));
	row_bind_number(s, 2, t->used_s);
	row_bind_text(s, 3, t->used_from);
	return run(r, ST_USE_TOKEN, e, "write");
}

/* --- certificates --- */

int roster_put(struct roster *r, const struct roster_row *row, struct error *e)
{
	sqlite3_stmt *s = r->st[ST_PUT];
	int code;

	row_bind_bytes(s, 1, row->serial, sizeof(row->serial));
	row_bind_text(s, 2, row->name);
	row_bind_bytes(s, 3, row->device.bytes, sizeof(row->device.bytes));
	row_bind_number(s, 4, row->made_s);
	row_bind_number(s, 5, row->until_s);
	row_bind_number(s, 6, row->valid_s);
	code = run(r, ST_PUT, e, "write");
	if (code < 0)
		return code;
	row_bind_text(r->st[ST_DROP_ENDED], 1, row->name);
	row_bind_number(r->st[ST_DROP_ENDED], 2, row->made_s);
	return run(r, ST_DROP_ENDED, e, "write");
}

static void get_row(sqlite3_stmt *s, struct roster_row *ret)
{
	memset(ret, 0, sizeof(*ret));
	row_get_bytes(s, 0, ret->serial, sizeof(ret->serial));
	row_get_text(s, 1, ret->name, sizeof(ret->name));
	row_get_bytes(s, 2, ret->device.bytes, sizeof(ret->device.bytes));
	ret->made_s = row_get_number(s, 3);
	ret->until_s = row_get_number(s, 4);
	ret->valid_s = row_get_number(s, 5);
	ret->revoked_s = row_get_number(s, 6);
}

int roster_get(struct roster *r, const uint8_t serial[AUTHORITY_SERIAL_LEN], struct roster_row *ret,
	       struct error *e)
{
	sqlite3_stmt *s = r->st[ST_GET];
	int rc, code = 0;

	row_bind_bytes(s, 1, serial, AUTHORITY_SERIAL_LEN);
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW && row_get_number(s, 7))
		get_row(s, ret);
	else if (rc == SQLITE_ROW)
		code = error_set(e, EBADMSG,
				 "the row of its certificate is damaged; enroll it again");
	else
		code = rc == SQLITE_DONE ? -ENOENT : say(r, e, "read");
	sqlite3_reset(s);
	return code;
}

int roster_get_owner(struct roster *r, const struct roster_row *row, char ret[ROSTER_NAME_MAX],
		     struct error *e)
{
	sqlite3_stmt *s = r->st[ST_GET_OWNER];
	int rc, code = 0;

	row_bind_bytes(s, 1, row->device.bytes, sizeof(row->device.bytes));
	row_bind_text(s, 2, row->name);
	row_bind_number(s, 3, row->made_s);
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		row_get_text(s, 0, ret, ROSTER_NAME_MAX);
		code = 1;
	} else if (rc != SQLITE_DONE) {
		code = say(r, e, "read");
	}
	sqlite3_reset(s);
	return code;
}

int roster_revoke(struct roster *r, const char *name, uint64_t now_s, struct error *e)
{
	int code, n;

	row_bind_text(r->st[ST_REVOKE], 1, name);
	row_bind_number(r->st[ST_REVOKE], 2, now_s);
	code = run(r, ST_REVOKE, e, "write");
	if (code < 0)
		return code;
	n = sqlite3_changes(r->db);
	row_bind_text(r->st[ST_DROP_TOKENS], 1, name);
	code = run(r, ST_DROP_TOKENS, e, "write");
	return code < 0 ? code : n + sqlite3_changes(r->db);
}

int roster_drop_damaged(struct roster *r, struct error *e)
{
	int n, code = run(r, ST_DROP_DAMAGED_TOKENS, e, "write");

	if (code < 0)
		return code;
	n = sqlite3_changes(r->db);
	code = run(r, ST_DROP_DAMAGED, e, "write");
	return code < 0 ? code : n + sqlite3_changes(r->db);
}

int roster_shorten(struct roster *r, const char *name, uint64_t now_s, struct error *e)
{
	row_bind_text(r->st[ST_SHORTEN], 1, name);
	row_bind_number(r->st[ST_SHORTEN], 2, now_s);
	return run(r, ST_SHORTEN, e, "write");
}

int roster_dup_entries(struct roster *r, struct roster_entry **ret, size_t *ret_n, struct error *e)
{
	_cleanup_free_ struct roster_entry *list = NULL;
	sqlite3_stmt *s = r->st[ST_ENTRIES];
	size_t n = 0, room = 0;
	int rc;

	while ((rc = sqlite3_step(s)) == SQLITE_ROW && n < ENTRIES_MAX) {
		if (n == room) {
			struct roster_entry *more;

			room = room ? 2 * room : 64;
			more = realloc(list, room * sizeof(*list));
			if (!more) {
				sqlite3_reset(s);
				return error_set(e, ENOMEM, "cannot list keys: out of memory");
			}
			list = more;
		}
		get_row(s, &list[n].row);
		list[n].is_damaged = row_get_number(s, 7);
		list[n++].is_token = row_get_number(s, 8);
	}
	sqlite3_reset(s);
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		return say(r, e, "read");
	*ret = take_ptr(list);
	*ret_n = n;
	return 0;
}
