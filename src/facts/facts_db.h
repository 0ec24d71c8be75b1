/* SPDX-License-Identifier: MIT */
/*
 * facts_db: a connection to facts.sqlite (docs/format/facts.md, section 6), with its statements and the names that it knows.
 *
 * There is one writer at a time, by the file's own lock, and any number of readers, each with a connection: a reader sees one state of
 * the file from facts_db_begin() on. Not all of the file is derived: minutes outlive the blocks that they were made of. So nothing
 * here throws it away.
 */
#ifndef KISEKI_FACTS_FACTS_DB_H
#define KISEKI_FACTS_FACTS_DB_H

#include <sqlite3.h>

#include "base/error.h"
#include "facts/facts.h"

enum facts_statement {
	FACTS_ST_BEGIN,
	FACTS_ST_BEGIN_WRITE,
	FACTS_ST_COMMIT,
	FACTS_ST_CHANGES,
	FACTS_ST_NAME_BY_HASH,
	FACTS_ST_NAME_BY_NUMBER,
	FACTS_ST_NAME_BY_TEXT,
	FACTS_ST_NAME_BY_OBJECT,
	FACTS_ST_NAME_MOST,
	FACTS_ST_FIND,
	FACTS_ST_PLAN,
	FACTS_ST_PLAN_CLOSED,
	FACTS_ST_STALE_HOURS,
	FACTS_ST_STALE_OF_HOUR,
	FACTS_ST_GET,
	FACTS_ST_GET_HEAD,
	FACTS_ST_GET_TREE,
	FACTS_ST_GET_BODY,
	FACTS_ST_GET_CARRY,
	FACTS_ST_STALE,
	FACTS_ST_LABELS,
	FACTS_ST_LABEL_COUNT,
	FACTS_ST_OLDEST,
	FACTS_ST_CHANGE, /* those from here on write */
	FACTS_ST_PUT_NAME,
	FACTS_ST_PUT,
	FACTS_ST_PUT_BODY,
	FACTS_ST_DROP,
	FACTS_ST_DROP_BODY,
	FACTS_ST_PUT_STALE,
	FACTS_ST_DROP_STALE,
	FACTS_ST_DROP_MINUTES,
	FACTS_ST_DROP_MINUTES_BODY,
	FACTS_ST_DROP_HOURS,
	FACTS_ST_DROP_HOURS_BODY,
	FACTS_ST_CLOSE_HOURS,
	FACTS_ST_PUT_CARRY,
	FACTS_ST_DROP_CARRY,
	FACTS_ST_PUT_LABEL,
	FACTS_ST_DROP_LABEL,
	FACTS_STATEMENTS,
};

struct facts_names;

struct facts_db {
	sqlite3 *sqlite;
	char *path;
	bool begun;
	sqlite3_stmt *statements[FACTS_STATEMENTS]; /* made when they are first used */
	struct facts_names *names;
};

/* The writer makes the file if it is not there; a reader gets -ENOENT. -EBADMSG: damaged, or of another version. */
int facts_db_open(struct facts_db **ret, const char *path, bool is_writer, struct error *e);
void facts_db_free(struct facts_db *d);
DEFINE_CLEANUP(facts_db, facts_db_free)

/* A transaction: what is written is there after the commit, or not at all. Reading, the state is fixed here and told by its number. */
int facts_db_begin(struct facts_db *d, uint64_t *ret_state, struct error *e);
int facts_db_begin_write(struct facts_db *d, struct error *e);
int facts_db_commit(struct facts_db *d, struct error *e);
void facts_db_undo(struct facts_db *d);

/* A statement, ready to be bound: the first of its values are these numbers. NULL: facts_db_error() says why. */
sqlite3_stmt *facts_db_use(struct facts_db *d, enum facts_statement which, const int64_t *numbers,
			   int n);
/* 1: there is a row, 0: no more, < 0 with the reason. */
int facts_db_step(struct facts_db *d, sqlite3_stmt *s, struct error *e);
/* Of one that gives no rows. */
int facts_db_run(struct facts_db *d, sqlite3_stmt *s, struct error *e);
int facts_db_error(struct facts_db *d, struct error *e);

static inline void facts_db_bind_id(sqlite3_stmt *s, int at, const struct message_id *id)
{
	sqlite3_bind_blob(s, at, id->bytes, sizeof(id->bytes), SQLITE_STATIC);
}

/* All zeros if it is none. */
struct message_id facts_db_get_id(sqlite3_stmt *s, int column);
uint64_t facts_db_get_number(sqlite3_stmt *s, int column);

#endif
