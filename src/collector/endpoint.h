/* SPDX-License-Identifier: MIT */
/*
 * endpoint: an address to listen on, and whether it may be listened on.
 *
 * Without keys only loopback is safe: whoever reaches the port may store blocks and tell
 * devices what to do. Any other address is refused, unless the caller says that its network is
 * trusted.
 */
#ifndef KISEKI_COLLECTOR_ENDPOINT_H
#define KISEKI_COLLECTOR_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/error.h"

#define ENDPOINT_TEXT_MAX 64

/* "HOST:PORT", "HOST", ":PORT"; HOST is a numeric address, in brackets if it is of IPv6, or
 * localhost. */
int endpoint_parse(const char *text, uint16_t default_port, struct sockaddr_storage *ret,
		   struct error *e);

bool endpoint_is_loopback(const struct sockaddr_storage *a);

/* endpoint_parse(), and -EPERM with what to do for what is not loopback. */
int endpoint_parse_listen(const char *text, uint16_t default_port, bool insecure,
			  struct sockaddr_storage *ret, struct error *e);

uint16_t endpoint_get_port(const struct sockaddr_storage *a);

/* "127.0.0.1:7077", "[::1]:7077". */
const char *endpoint_format(const struct sockaddr_storage *a, char out[ENDPOINT_TEXT_MAX]);

#endif
