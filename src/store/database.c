/* SPDX-License-Identifier: MIT */
/* database: see database.h. */
#include "store/database.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sealed_table.h"

#define BUSY_MS 500
#define URI_MAX 4096
#define LEAST_BYTES                                                                                \
	512 /* of the smallest page: what has less was cut, and SQLite would take it for a new file */

static int fail(sqlite3 *db, const char *path, struct error *e)
{
	const int code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;

	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
		return error_set(e, EBADMSG, "%s", sqlite3_errmsg(db));
	if (code == SQLITE_BUSY)
		return error_set(e, EBUSY, "cannot read %s: a collector uses it", path);
	return error_set(e, code == SQLITE_NOMEM ? ENOMEM : EIO, "cannot read %s: %s", path,
			 db ? sqlite3_errmsg(db) : "out of memory");
}

static int look(sqlite3 *db, const char *path, struct error *e)
{
	sqlite3_stmt *s = NULL;
	const char *text = NULL;
	int rc, r = 0;

	sqlite3_busy_timeout(db, BUSY_MS);
	rc = sqlite3_prepare_v2(db, "PRAGMA integrity_check(1)", -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		text = (const char *)sqlite3_column_text(s, 0);
	if (!text)
		r = fail(db, path, e);
	else if (strcmp(text, "ok") != 0)
		r = error_set(e, EBADMSG, "%.*s", (int)strcspn(text, "\n"), text);
	sqlite3_finalize(s);
	if (r == 0)
		r = sealed_table_check(db, e);
	return r == -EIO ? fail(db, path, e) : r;
}

/* SQLite has files beside it while somebody uses it, or after that was broken off. */
static bool is_used(const char *path)
{
	static const char *const ends[] = { "-wal", "-journal" };
	char beside[URI_MAX];
	struct stat st;
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(beside, sizeof(beside), "%s%s", path, ends[i]);
		if (stat(beside, &st) == 0)
			return true;
	}
	return false;
}

/* Else it would make such files by itself, which a folder that is only to be read does not allow. */
static int open_unused(sqlite3 **ret, const char *path)
{
	char name[URI_MAX] = "file:";
	size_t len = strlen(name);

	for (; *path && len < sizeof(name) - 32; path++)
		len += (size_t)snprintf(name + len, 4, strchr("?#%", *path) ? "%%%02x" : "%c",
					(unsigned char)*path);
	if (*path)
		return SQLITE_CANTOPEN;
	snprintf(name + len, sizeof(name) - len, "?immutable=1");
	return sqlite3_open_v2(name, ret, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
}

static int open_and_look(const char *path, bool used, struct error *e)
{
	sqlite3 *db = NULL;
	int rc = used ? sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL)
		      : open_unused(&db, path);
	int r = rc == SQLITE_OK ? look(db, path, e) : fail(db, path, e);

	sqlite3_close(db);
	return r;
}

int database_check(const char *path, struct error *e)
{
	const bool used = is_used(path);
	struct stat st;
	int r;

	if (stat(path, &st) < 0 || access(path, R_OK) < 0)
		return error_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	if (!used && st.st_size < LEAST_BYTES)
		return error_set(e, EBADMSG, "it has only %lld bytes", (long long)st.st_size);
	r = open_and_look(path, used, e);
	/* Somebody may just have begun to write. */
	return r < 0 && !used && is_used(path) ? open_and_look(path, true, e) : r;
}
