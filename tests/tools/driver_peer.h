/* SPDX-License-Identifier: MIT */
/*
 * driver_peer: the driver's side of a connection with blocks of its own, for tests against the
 * collector's. Both sides call their part `session`, so this one is compiled under another name, and
 * nothing of it is seen here.
 *
 * It holds `blocks` blocks of each of two streams of one run, and an END. Like the exporter it sends
 * from where they lie, as far as the window goes, and forgets what is acknowledged.
 */
#ifndef KISEKI_TESTS_DRIVER_PEER_H
#define KISEKI_TESTS_DRIVER_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void driver_peer_init(uint32_t blocks);

void driver_peer_open(void);
void driver_peer_close(void);

/* Up to `room` bytes that it sends; a frame may be cut. */
size_t driver_peer_pull(uint8_t *out, size_t room);

/* What session_push() said. */
int driver_peer_push(const uint8_t *bytes, size_t len);
const char *driver_peer_why(void);

/* All is acknowledged. */
bool driver_peer_is_done(void);

uint32_t driver_peer_verb(void); /* of the last instruction */

#endif
