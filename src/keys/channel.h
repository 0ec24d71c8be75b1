/* SPDX-License-Identifier: MIT */
/*
 * channel: the collector's side of TLS on one connection, from bytes to bytes: it knows no socket.
 *
 * Whoever has the connection gives it what came and takes what that says; what it wants sent goes to
 * a hook at once. It holds what the library holds: a record that is not whole.
 */
#ifndef KISEKI_KEYS_CHANNEL_H
#define KISEKI_KEYS_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "keys/authority.h"
#include "keys/credentials.h"

#define CHANNEL_RECORD_MAX 16640U /* what of a record may wait in the library */
#define CHANNEL_FIRST_BYTE 22U	  /* of a peer that begins a handshake */

struct channel;

struct channel_hooks {
	void *context;
	/* False: the connection is broken. */
	bool (*send)(void *context, const uint8_t *bytes, size_t len);
};

int channel_new(struct channel **ret, struct credentials *credentials,
		const struct channel_hooks *hooks, struct error *e);
void channel_free(struct channel *c);
DEFINE_CLEANUP(channel, channel_free)

/* Takes all of what came. The plain bytes go to `out`, which has room for len and
 * CHANNEL_RECORD_MAX more: how many. -EPROTO: it is over. */
struct channel_bytes {
	const uint8_t *at;
	size_t len;
};
int channel_push(struct channel *c, struct channel_bytes raw, uint8_t *out, size_t room,
		 struct error *e);

/* The handshake is done: both sides may speak, and the peer can be judged. */
bool channel_is_open(const struct channel *c);

/* -EPIPE if it is not open, or broken. */
int channel_send(struct channel *c, const uint8_t *bytes, size_t len);
void channel_bye(struct channel *c);

/* 1: the peer showed a certificate for clients that is signed by one of ours; 0: it showed none;
 * -EKEYREJECTED: one that is not good, with the reason. */
int channel_get_serial(struct channel *c, uint8_t ret[AUTHORITY_SERIAL_LEN], struct error *e);

#endif
