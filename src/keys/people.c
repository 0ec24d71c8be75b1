/* SPDX-License-Identifier: MIT */
/* people: see people.h. What is committed is on the disk, as in the roster: who was removed stays so. */
#include "keys/people.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <string.h>

#include "base/hex.h"
#include "base/key_file.h"
#include "keys/certificate.h"
#include "keys/roster.h"
#include "keys/row.h"
#include "store/sealed_table.h"

#define FILE_NAME "people.db"
#define BUSY_MS 5000
#define SECRET_LEN 32U

enum statement {
	ST_ADD_USER,
	ST_CHANGE_USER,
	ST_GET_USER,
	ST_REMOVE_USER,
	ST_USERS,
	ST_ADD_TOKEN,
	ST_GET_TOKEN,
	ST_REMOVE_TOKEN,
	ST_TOKENS,
	ST_DROP_DAMAGED_USERS,
	ST_DROP_DAMAGED_TOKENS,
	STATEMENTS,
};

#define USER "name, role, hash, stamp, made, changed"
#define USER_FITS "seal IS row_seal(" USER ")"
#define TOKEN "name, role, hash, made, until"
#define TOKEN_FITS "seal IS row_seal(" TOKEN ")"

static const char *const tables[] = { "user", "token", NULL };

/* The ceilings stand in the statements, so that two programs at once keep them, too. */
static const char *const texts[STATEMENTS] = {
	[ST_ADD_USER] = "INSERT INTO user (" USER ") SELECT ?1, ?2, ?3, ?4, ?5, ?6 "
			"WHERE (SELECT count(*) FROM user) < ?7",
	[ST_CHANGE_USER] = "UPDATE user SET hash = ?2, stamp = ?3, changed = ?4 WHERE name = ?1",
	[ST_GET_USER] = "SELECT " USER ", " USER_FITS " FROM user WHERE name = ?1",
	[ST_REMOVE_USER] = "DELETE FROM user WHERE name = ?1",
	[ST_USERS] = "SELECT " USER ", " USER_FITS " FROM user ORDER BY name",
	[ST_ADD_TOKEN] = "INSERT INTO token (" TOKEN ") SELECT ?1, ?2, ?3, ?4, ?5 "
			 "WHERE (SELECT count(*) FROM token) < ?6",
	[ST_GET_TOKEN] = "SELECT " TOKEN ", " TOKEN_FITS " FROM token WHERE hash = ?1",
	[ST_REMOVE_TOKEN] = "DELETE FROM token WHERE name = ?1",
	[ST_TOKENS] = "SELECT " TOKEN ", " TOKEN_FITS " FROM token ORDER BY name",
	[ST_DROP_DAMAGED_USERS] = "DELETE FROM user WHERE NOT " USER_FITS,
	[ST_DROP_DAMAGED_TOKENS] = "DELETE FROM token WHERE NOT " TOKEN_FITS,
};

static const char schema[] =
	"PRAGMA synchronous = FULL;"
	"CREATE TABLE IF NOT EXISTS user (name TEXT PRIMARY KEY, role INTEGER, hash TEXT,"
	" stamp BLOB, made INTEGER, changed INTEGER) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS token (name TEXT PRIMARY KEY, role INTEGER, hash BLOB UNIQUE,"
	" made INTEGER, until INTEGER) WITHOUT ROWID;";

static const char *const role_names[] = {
	[ROLE_NOBODY] = "nobody",
	[ROLE_VIEW] = "view",
	[ROLE_CONTROL] = "control",
	[ROLE_ADMIN] = "admin",
};

struct people {
	sqlite3 *db;
	sqlite3_stmt *st[STATEMENTS];
};

const char *people_role_name(enum people_role role)
{
	return role_names[role <= ROLE_ADMIN ? role : ROLE_NOBODY];
}

enum people_role people_role_parse(const char *text)
{
	enum people_role r;

	for (r = ROLE_VIEW; r <= ROLE_ADMIN; r++)
		if (!strcmp(text, role_names[r]))
			return r;
	return ROLE_NOBODY;
}

static int say(struct people *p, struct error *e, const char *verb)
{
	int rc = sqlite3_errcode(p->db);

	return error_set(e, rc == SQLITE_BUSY ? EBUSY : EIO, "cannot %s the list of people: %s",
			 verb, sqlite3_errmsg(p->db));
}

void people_close(struct people *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(p->st[i]);
	sqlite3_close(p->db);
	free(p);
}

int people_open(struct people **ret, const char *folder, struct error *e)
{
	CLEANUP(people) struct people *p = calloc(1, sizeof(*p));
	char path[KEY_PATH_MAX];
	size_t i;
	int r = key_file_touch(folder, FILE_NAME, e);

	if (r < 0)
		return r;
	if (!p)
		return error_set(e, ENOMEM, "cannot open the list of people: out of memory");
	snprintf(path, sizeof(path), "%s/%s", folder, FILE_NAME);
	if (sqlite3_open_v2(path, &p->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		return p->db ? say(p, e, "open")
			     : error_set(e, ENOMEM, "cannot open %s: out of memory", path);
	sqlite3_busy_timeout(p->db, BUSY_MS);
	if (sqlite3_exec(p->db, schema, NULL, NULL, NULL) != SQLITE_OK ||
	    sealed_table_keep(p->db, tables) != SQLITE_OK)
		return say(p, e, "open");
	for (i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v2(p->db, texts[i], -1, &p->st[i], NULL) != SQLITE_OK)
			return say(p, e, "open");
	*ret = take_ptr(p);
	return 0;
}

/* How many rows it changed; -EEXIST. */
static int run(struct people *p, enum statement which, struct error *e)
{
	sqlite3_stmt *s = p->st[which];
	int rc = sqlite3_step(s), code;

	if (rc == SQLITE_CONSTRAINT)
		code = -EEXIST;
	else
		code = rc == SQLITE_DONE ? sqlite3_changes(p->db) : say(p, e, "write");
	sqlite3_reset(s);
	sqlite3_clear_bindings(s); /* hashes */
	return code;
}

static int check_name(const char *name, const char *what, struct error *e)
{
	if (roster_is_name(name))
		return 0;
	return error_set(e, EINVAL,
			 "cannot name a %s '%s': a name has up to 63 letters, digits, '.', "
			 "'_' and '-'",
			 what, name);
}

/* What became of an INSERT. */
static int added(int r, const char *what, const char *name, struct error *e)
{
	if (r == -EEXIST)
		return error_set(e, EEXIST, "cannot add the %s %s: there is one", what, name);
	if (r == 0)
		return error_set(e, EDQUOT, "cannot add the %s %s: there are %u", what, name,
				 PEOPLE_MAX);
	return r < 0 ? r : 0;
}

static int removed(int r, const char *what, const char *name, struct error *e)
{
	return r ? (r < 0 ? r : 0) : error_set(e, ENOENT, "there is no %s %s", what, name);
}

/* Who asks may be anybody, and is not told whose. */
static int refuse_damaged(struct error *e)
{
	return error_set(e, EBADMSG,
			 "cannot use the list of people: the row is damaged; "
			 "`kiseki keys repair` drops it");
}

int people_drop_damaged(struct people *p, struct error *e)
{
	int users = run(p, ST_DROP_DAMAGED_USERS, e);
	int tokens = users < 0 ? users : run(p, ST_DROP_DAMAGED_TOKENS, e);

	return tokens < 0 ? tokens : users + tokens;
}

/* --- users --- */

static int make_stamp(struct people_user *u, struct error *e)
{
	int r = gnutls_rnd(GNUTLS_RND_NONCE, u->stamp, sizeof(u->stamp));

	return r < 0 ? certificate_error(e, "make a user", r) : 0;
}

int people_add_user(struct people *p, struct people_user *u, struct error *e)
{
	sqlite3_stmt *s = p->st[ST_ADD_USER];
	int r = check_name(u->name, "user", e);

	if (r == 0)
		r = make_stamp(u, e);
	if (r < 0)
		return r;
	row_bind_text(s, 1, u->name);
	row_bind_number(s, 2, u->role);
	row_bind_text(s, 3, u->hash);
	row_bind_bytes(s, 4, u->stamp, sizeof(u->stamp));
	row_bind_number(s, 5, u->made_s);
	row_bind_number(s, 6, u->changed_s);
	row_bind_number(s, 7, PEOPLE_MAX);
	return added(run(p, ST_ADD_USER, e), "user", u->name, e);
}

int people_change_user(struct people *p, struct people_user *u, struct error *e)
{
	sqlite3_stmt *s = p->st[ST_CHANGE_USER];
	int r = make_stamp(u, e);

	if (r < 0)
		return r;
	row_bind_text(s, 1, u->name);
	row_bind_text(s, 2, u->hash);
	row_bind_bytes(s, 3, u->stamp, sizeof(u->stamp));
	row_bind_number(s, 4, u->changed_s);
	return removed(run(p, ST_CHANGE_USER, e), "user", u->name, e);
}

/* A role that a later version may have is nobody's here. */
static enum people_role get_role(sqlite3_stmt *s, int i)
{
	uint64_t role = row_get_number(s, i);

	return role <= ROLE_ADMIN ? (enum people_role)role : ROLE_NOBODY;
}

static void get_user(sqlite3_stmt *s, struct people_user *ret)
{
	memset(ret, 0, sizeof(*ret));
	row_get_text(s, 0, ret->name, sizeof(ret->name));
	ret->role = get_role(s, 1);
	row_get_text(s, 2, ret->hash, sizeof(ret->hash));
	row_get_bytes(s, 3, ret->stamp, sizeof(ret->stamp));
	ret->made_s = row_get_number(s, 4);
	ret->changed_s = row_get_number(s, 5);
	ret->is_damaged = !row_get_number(s, 6);
	ret->role = ret->is_damaged ? ROLE_NOBODY : ret->role;
}

int people_get_user(struct people *p, const char *name, struct people_user *ret, struct error *e)
{
	sqlite3_stmt *s = p->st[ST_GET_USER];
	int rc, code = 0;

	row_bind_text(s, 1, name);
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		get_user(s, ret);
	else
		code = rc == SQLITE_DONE ? error_set(e, ENOENT, "there is no user %s", name)
					 : say(p, e, "read");
	sqlite3_reset(s);
	return code == 0 && ret->is_damaged ? refuse_damaged(e) : code;
}

int people_remove_user(struct people *p, const char *name, struct error *e)
{
	row_bind_text(p->st[ST_REMOVE_USER], 1, name);
	return removed(run(p, ST_REMOVE_USER, e), "user", name, e);
}

int people_dup_users(struct people *p, struct people_user **ret, size_t *n, struct error *e)
{
	struct people_user *list = calloc(PEOPLE_MAX, sizeof(*list));
	sqlite3_stmt *s = p->st[ST_USERS];
	int rc = SQLITE_DONE;

	*n = 0;
	if (!list)
		return error_set(e, ENOMEM, "cannot list users: out of memory");
	while (*n < PEOPLE_MAX && (rc = sqlite3_step(s)) == SQLITE_ROW)
		get_user(s, &list[(*n)++]);
	sqlite3_reset(s);
	*ret = list;
	if (rc == SQLITE_DONE || rc == SQLITE_ROW)
		return 0;
	free(take_ptr(*ret));
	return say(p, e, "read");
}

/* --- tokens --- */

static int hash_token(const char *text, uint8_t ret[PEOPLE_HASH_LEN], struct error *e)
{
	int r = gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), ret);

	return r < 0 ? certificate_error(e, "hash a token", r) : 0;
}

static int make_token(char ret[PEOPLE_TOKEN_LEN + 1], uint8_t hash[PEOPLE_HASH_LEN],
		      struct error *e)
{
	uint8_t secret[SECRET_LEN];
	int r = gnutls_rnd(GNUTLS_RND_KEY, secret, sizeof(secret));

	if (r < 0)
		return certificate_error(e, "make a token", r);
	memcpy(ret, PEOPLE_TOKEN_PREFIX, strlen(PEOPLE_TOKEN_PREFIX));
	hex_format(secret, sizeof(secret), ret + strlen(PEOPLE_TOKEN_PREFIX));
	explicit_bzero(secret, sizeof(secret));
	return hash_token(ret, hash, e);
}

int people_add_token(struct people *p, struct people_token *t, char ret[PEOPLE_TOKEN_LEN + 1],
		     struct error *e)
{
	sqlite3_stmt *s = p->st[ST_ADD_TOKEN];
	int r = check_name(t->name, "token", e);

	if (r == 0)
		r = make_token(ret, t->hash, e);
	if (r < 0)
		return r;
	row_bind_text(s, 1, t->name);
	row_bind_number(s, 2, t->role);
	row_bind_bytes(s, 3, t->hash, sizeof(t->hash));
	row_bind_number(s, 4, t->made_s);
	row_bind_number(s, 5, t->until_s);
	row_bind_number(s, 6, PEOPLE_MAX);
	return added(run(p, ST_ADD_TOKEN, e), "token", t->name, e);
}

static void get_token(sqlite3_stmt *s, struct people_token *ret)
{
	memset(ret, 0, sizeof(*ret));
	row_get_text(s, 0, ret->name, sizeof(ret->name));
	ret->role = get_role(s, 1);
	row_get_bytes(s, 2, ret->hash, sizeof(ret->hash));
	ret->made_s = row_get_number(s, 3);
	ret->until_s = row_get_number(s, 4);
	ret->is_damaged = !row_get_number(s, 5);
	ret->role = ret->is_damaged ? ROLE_NOBODY : ret->role;
}

int people_get_token(struct people *p, const uint8_t hash[PEOPLE_HASH_LEN],
		     struct people_token *ret, struct error *e)
{
	sqlite3_stmt *s = p->st[ST_GET_TOKEN];
	int rc, code = 0;

	row_bind_bytes(s, 1, hash, PEOPLE_HASH_LEN);
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		get_token(s, ret);
	else
		code = rc == SQLITE_DONE ? error_set(e, ENOENT, "the token is not known here")
					 : say(p, e, "read");
	sqlite3_reset(s);
	return code == 0 && ret->is_damaged ? refuse_damaged(e) : code;
}

int people_find_token(struct people *p, const char *text, struct people_token *ret, struct error *e)
{
	uint8_t hash[PEOPLE_HASH_LEN];
	int r = hash_token(text, hash, e);

	return r < 0 ? r : people_get_token(p, hash, ret, e);
}

int people_remove_token(struct people *p, const char *name, struct error *e)
{
	row_bind_text(p->st[ST_REMOVE_TOKEN], 1, name);
	return removed(run(p, ST_REMOVE_TOKEN, e), "token", name, e);
}

int people_dup_tokens(struct people *p, struct people_token **ret, size_t *n, struct error *e)
{
	struct people_token *list = calloc(PEOPLE_MAX, sizeof(*list));
	sqlite3_stmt *s = p->st[ST_TOKENS];
	int rc = SQLITE_DONE;

	*n = 0;
	if (!list)
		return error_set(e, ENOMEM, "cannot list tokens: out of memory");
	while (*n < PEOPLE_MAX && (rc = sqlite3_step(s)) == SQLITE_ROW)
		get_token(s, &list[(*n)++]);
	sqlite3_reset(s);
	*ret = list;
	if (rc == SQLITE_DONE || rc == SQLITE_ROW)
		return 0;
	free(take_ptr(*ret));
	return say(p, e, "read");
}
