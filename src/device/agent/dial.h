/* SPDX-License-Identifier: MIT */
/*
 * dial: the way to a connection with the collector, without ever waiting.
 *
 * The address is HOST:PORT, [HOST]:PORT for IPv6, or fd:N for a socket that the program was started
 * with; that one is used once and cannot be had again.
 *
 * A name has to be looked up, and the C library does that by waiting, for many seconds if the name
 * server is away. The rings would overflow meanwhile. So a child process does it and writes the
 * addresses into a pipe; it ends with its parent. Numbers need no child. The addresses are tried in
 * their order, each for DIAL_WAIT_MS.
 */
#ifndef KISEKI_DEVICE_AGENT_DIAL_H
#define KISEKI_DEVICE_AGENT_DIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

#define DIAL_WAIT_MS 10000U /* for a name, and for each address */
#define DIAL_ADDRESSES_MAX 8U
#define DIAL_HOST_MAX 256U

struct dial;

/* -EINVAL if the address has none of these forms. */
int dial_new(struct dial **ret, const char *address, struct error *e);
void dial_free(struct dial *d);
DEFINE_CLEANUP(dial, dial_free)

/* Starts an attempt, or goes on with it: 1: connected; 0: come again when the descriptor is ready,
 * or at dial_next(); negative: it failed and is over. */
int dial_open(struct dial *d, uint64_t now_ms, struct error *e);
void dial_close(struct dial *d);
int dial_take(struct dial *d); /* the socket of a connection, for the caller to close */

int dial_fd(const struct dial *d);	  /* the socket, or what an attempt waits for; or -1 */
short dial_events(const struct dial *d);  /* of poll(), that an attempt waits for */
uint64_t dial_next(const struct dial *d); /* UINT64_MAX: no attempt is under way */
bool dial_is_open(const struct dial *d);
bool dial_is_once(const struct dial *d); /* fd:N */

#endif
