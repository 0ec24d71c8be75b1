/* SPDX-License-Identifier: MIT */
/*
 * http_connections: who is connected, who takes too long to say what he wants, and who makes room.
 *
 * The HTTP library ends connections on which nothing happens. A client that sends a byte from time
 * to time keeps its thread for ever that way, and some hundred of them keep everybody else out. So
 * each connection has a time by which its request must have come whole; a watcher shuts down those
 * that are late. A connection that rests between two requests counts as one that sends slowly.
 *
 * Nobody is kept out by others who hold all places meanwhile, either. A connection is a stranger's
 * until a request of it was let in (http_connection_set_known). Strangers of one address, or of one
 * /64 of IPv6, keep few places; of all places, strangers leave some to addresses that are known; and
 * when no place is free, the address with the most strangers loses its oldest one. Many
 * clients of one address that connect at the same moment are no attack: a connection gives way to
 * its own address only after it was silent for some time (`patience_ms`).
 */
#ifndef KISEKI_COLLECTOR_HTTP_CONNECTIONS_H
#define KISEKI_COLLECTOR_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/error.h"

struct http_connections;
struct http_connection;
struct credentials;

struct http_connections_limits {
	unsigned int late_ms;	  /* a request must have come whole by then */
	unsigned int patience_ms; /* so long a stranger may be silent before he gives way */
	unsigned int most;	  /* connections */
	unsigned int reserved;	  /* of these, for addresses that are known */
	unsigned int strangers;	  /* of one address, once they are silent for `patience_ms` */
};

int http_connections_new(struct http_connections **ret,
			 const struct http_connections_limits *limits, struct error *e);
void http_connections_free(struct http_connections *c); /* when no connection is left */

/* May one more connection come from there? Shuts another one down, where it needs its place. */
bool http_connections_admit(struct http_connections *c, const struct sockaddr *from);

/* NULL: out of memory; the connection is not watched then. */
struct http_connection *http_connections_push(struct http_connections *c,
					      const struct sockaddr *from, int fd);
void http_connections_pop(struct http_connections *c, struct http_connection *one);

/* The request is here, the server's turn begins; or it has been answered. Takes NULL. */
void http_connection_set_waiting(struct http_connections *c, struct http_connection *one,
				 int waiting);

/* A request of it was let in. Its address is known for an hour from now on. Takes NULL. */
void http_connection_set_known(struct http_connections *c, struct http_connection *one);

/* What it was shown; take gives it back, for the one who has to give it back in turn. */
void http_connection_set_shown(struct http_connection *one, struct credentials *shown);
struct credentials *http_connection_take_shown(struct http_connection *one);

size_t http_connections_count(struct http_connections *c);

#endif
