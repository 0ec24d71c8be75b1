/* SPDX-License-Identifier: MIT */
/*
 * http_connections: who is connected, and who takes too long to say what he wants.
 *
 * The HTTP library ends connections on which nothing happens. A client that sends a byte from time
 * to time keeps its thread for ever that way, and some hundred of them keep everybody else out. So
 * each connection has a time by which its request must have come whole; a watcher shuts down those
 * that are late. A connection that rests between two requests counts as one that sends slowly.
 */
#ifndef KISEKI_COLLECTOR_HTTP_CONNECTIONS_H
#define KISEKI_COLLECTOR_HTTP_CONNECTIONS_H

#include <stddef.h>

#include "base/error.h"

struct http_connections;
struct http_connection;
struct credentials;

int http_connections_new(struct http_connections **ret, unsigned int limit_ms, struct error *e);
void http_connections_free(struct http_connections *c); /* when no connection is left */

/* NULL: out of memory; the connection is not watched then. */
struct http_connection *http_connections_push(struct http_connections *c, int fd);
void http_connections_pop(struct http_connections *c, struct http_connection *one);

/* The request is here, the server's turn begins; or it has been answered. Takes NULL. */
void http_connection_set_waiting(struct http_connections *c, struct http_connection *one,
				 int waiting);

/* What it was shown; take gives it back, for the one who has to give it back in turn. */
void http_connection_set_shown(struct http_connection *one, struct credentials *shown);
struct credentials *http_connection_take_shown(struct http_connection *one);

size_t http_connections_count(struct http_connections *c);

#endif
