/* SPDX-License-Identifier: MIT */
/* clickhouse_url: see clickhouse_url.h. */
#include "store/clickhouse/clickhouse_url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME "clickhouse://"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define NAME LETTERS "0123456789_"
#define HOST NAME ".-:[]"

static int refuse(struct error *e, const char *why)
{
	return error_set(e, EINVAL,
			 "cannot use that ClickHouse: %s; write it as "
			 "clickhouse://[USER@]HOST:PORT/DATABASE",
			 why);
}

bool clickhouse_url_is(const char *text)
{
	return !strncmp(text, SCHEME, strlen(SCHEME));
}

/* A part of the text that is made of these characters alone. */
static bool copy(char *out, size_t room, const char *from, size_t len, const char *of)
{
	if (!len || len >= room)
		return false;
	memcpy(out, from, len);
	out[len] = 0;
	return strspn(out, of) == len;
}

static int parse_server(struct clickhouse_server *ret, const char *from, size_t len,
			struct error *e)
{
	const char *colon = len ? memrchr(from, ':', len) : NULL;
	size_t host = colon ? (size_t)(colon - from) : 0;
	char port[8];
	long n;

	if (!colon || !copy(port, sizeof(port), colon + 1, len - host - 1, "0123456789"))
		return refuse(e, "a server has a host and a port");
	n = strtol(port, NULL, 10);
	if (n < 1 || n > UINT16_MAX)
		return refuse(e, "a port is a number from 1 to 65535");
	if (!copy(ret->host, sizeof(ret->host), from, host, HOST) ||
	    (strchr(ret->host, ':') && ret->host[0] != '['))
		return refuse(e, "there is no such host name");
	ret->port = (uint16_t)n;
	return 0;
}

static int parse_servers(struct clickhouse_url *ret, const char *from, size_t len, struct error *e)
{
	size_t n;
	int r = 0;

	for (;;) {
		const char *comma = memchr(from, ',', len);

		n = comma ? (size_t)(comma - from) : len;
		if (ret->n_servers == CLICKHOUSE_SERVERS_MAX)
			return refuse(e, "it has more than 16 servers");
		r = parse_server(&ret->servers[ret->n_servers++], from, n, e);
		if (r < 0 || !comma)
			return r;
		from += n + 1;
		len -= n + 1;
	}
}

static int parse_setting(struct clickhouse_url *ret, const char *from, size_t len, struct error *e)
{
	static const char cluster[] = "cluster=", file[] = "password-file=";
	size_t n = sizeof(cluster) - 1;

	if (len > n && !strncmp(from, cluster, n))
		return copy(ret->cluster, sizeof(ret->cluster), from + n, len - n, NAME)
			       ? 0
			       : refuse(e, "a cluster's name has letters, digits and underscores");
	n = sizeof(file) - 1;
	if (len <= n || strncmp(from, file, n) != 0 || len - n >= sizeof(ret->password_file))
		return refuse(e, "behind the database come cluster=NAME and password-file=PATH");
	memcpy(ret->password_file, from + n, len - n);
	return 0;
}

static int parse_settings(struct clickhouse_url *ret, const char *from, struct error *e)
{
	size_t n;
	int r = 0;

	for (; r == 0 && *from; from += n + !!from[n]) {
		n = strcspn(from, "&");
		r = parse_setting(ret, from, n, e);
	}
	return r;
}

int clickhouse_url_parse(struct clickhouse_url *ret, const char *text, struct error *e)
{
	const char *from = text + strlen(SCHEME), *slash, *at;
	size_t n;
	int r;

	memset(ret, 0, sizeof(*ret));
	if (!clickhouse_url_is(text))
		return refuse(e, "it does not begin with " SCHEME);
	slash = strchr(from, '/');
	if (!slash)
		return refuse(e, "it names no database");
	at = memchr(from, '@', (size_t)(slash - from));
	if (at && memchr(from, ':', (size_t)(at - from)))
		return refuse(e, "a password is read from password-file=PATH or from "
				 "$KISEKI_CLICKHOUSE_PASSWORD");
	if (at && !copy(ret->user, sizeof(ret->user), from, (size_t)(at - from), NAME))
		return refuse(e, "a user's name has letters, digits and underscores");
	from = at ? at + 1 : from;
	r = parse_servers(ret, from, (size_t)(slash - from), e);
	if (r < 0)
		return r;
	n = strcspn(slash + 1, "?");
	if (!copy(ret->database, sizeof(ret->database), slash + 1, n, NAME))
		return refuse(e, "a database's name has letters, digits and underscores");
	if (ret->n_servers > 1 && !strstr(slash, "cluster="))
		return refuse(e, "several servers are a cluster: add ?cluster=NAME");
	return slash[1 + n] ? parse_settings(ret, slash + 2 + n, e) : 0;
}
