/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_url: the place of a store in a ClickHouse server, as it is written:
 *
 *	clickhouse://[USER@]HOST:PORT[,HOST:PORT...]/DATABASE[?cluster=NAME][&password-file=PATH]
 *
 * The port is that of HTTP. With several servers, which must be those of a cluster, the first that
 * answers is asked. The names become part of queries, so they are made of letters, digits and
 * underscores alone. A password has no place in it: command lines are read by everybody.
 */
#ifndef KISEKI_STORE_CLICKHOUSE_URL_H
#define KISEKI_STORE_CLICKHOUSE_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define CLICKHOUSE_NAME_MAX 64U
#define CLICKHOUSE_SERVERS_MAX 16U

struct clickhouse_server {
	char host[256]; /* as in a URL */
	uint16_t port;
};

struct clickhouse_url {
	char user[CLICKHOUSE_NAME_MAX]; /* empty: the server's default */
	struct clickhouse_server servers[CLICKHOUSE_SERVERS_MAX];
	uint32_t n_servers;
	char database[CLICKHOUSE_NAME_MAX];
	char cluster[CLICKHOUSE_NAME_MAX]; /* empty: none */
	char password_file[1024];	   /* empty: none */
};

/* Whether it is meant to be one. */
bool clickhouse_url_is(const char *text);
/* 0 or -EINVAL; e says what is wrong. */
int clickhouse_url_parse(struct clickhouse_url *ret, const char *text, struct error *e);

#endif
