/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_link: a ClickHouse server, asked over HTTP.
 *
 * Any thread may ask at any time; connections are kept and used again. An answer is held back by the
 * server until all of it is there (wait_end_of_query), so that what comes is never the first half of
 * a failure. Of several servers the one that answered last is asked first, then the others in turn.
 *
 * Failures have one line that names the server and the reason: -ECONNREFUSED and the like when it
 * cannot be reached, -ETIMEDOUT when it is too slow, -EACCES for a user or password that it does not
 * know, -ENOSPC when its disk is full, -ENOENT for a database or table that is not there, -EIO for
 * the rest.
 */
#ifndef KISEKI_STORE_CLICKHOUSE_LINK_H
#define KISEKI_STORE_CLICKHOUSE_LINK_H

#include "base/cleanup.h"
#include "store/clickhouse/clickhouse_url.h"
#include "wire/types.h"

struct clickhouse_link;

int clickhouse_link_open(struct clickhouse_link **ret, const struct clickhouse_url *u,
			 struct error *e);
void clickhouse_link_free(struct clickhouse_link *l);
DEFINE_CLEANUP(clickhouse_link, clickhouse_link_free)

/* Takes whole rows from the front of the bytes and returns how many bytes they had, or < 0; what is
 * left comes again with what follows. */
typedef ssize_t (*clickhouse_take_fn)(void *context, const uint8_t *bytes, size_t len);

/* Values that go beside a question, which knows them as `listed`: "… WHERE id GLOBAL IN listed". Thousands in its text would take the
 * server longer to read than to answer. */
struct clickhouse_list {
	const char *type; /* of ClickHouse, of letters, digits and brackets */
	const uint8_t *rows;
	size_t len;
};

struct clickhouse_ask {
	const char *sql; /* without FORMAT */
	clickhouse_take_fn take;
	void *context;
	const struct clickhouse_list *list; /* NULL: none */
};

int clickhouse_link_ask(struct clickhouse_link *l, const struct clickhouse_ask *a, struct error *e);

/* An INSERT with its rows. It may have been done although it failed. */
int clickhouse_link_insert(struct clickhouse_link *l, const char *into, const uint8_t *rows,
			   size_t len, struct error *e);

/* A statement without an answer, at one server of the link, before there is a database. */
int clickhouse_link_tell(struct clickhouse_link *l, uint32_t server, const char *sql,
			 struct error *e);

#endif
