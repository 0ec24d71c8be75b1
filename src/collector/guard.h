/* SPDX-License-Identifier: MIT */
/*
 * guard: what a device must show before it is listened to, where the collector has keys
 * (docs/design/keys.md). Between the socket of connection.c and its session; all of the loop's thread.
 */
#ifndef KISEKI_COLLECTOR_GUARD_H
#define KISEKI_COLLECTOR_GUARD_H

#include "keys/channel.h"
#include "keys/keys.h"

struct connection;
struct message_hello;
struct server;

enum guard_state {
	GUARD_OFF = 0, /* there are no keys: anybody who reaches us is listened to */
	GUARD_FIRST,   /* its first byte tells whether it speaks TLS */
	GUARD_PLAIN,   /* it does not, and may not need to */
	GUARD_TLS,
};

struct guard {
	enum guard_state state;
	bool is_local; /* it comes from loopback */
	bool is_judged;
	bool has_peer; /* it showed a certificate that holds */
	struct channel *channel;
	struct roster_row peer;
};

/* Opens the keys of the options, if there are any. */
int guard_open(struct server *s, struct error *e);
void guard_close(struct server *s);

void guard_init(struct connection *c, bool is_local);
void guard_done(struct connection *c);

/* What came, as the session shall see it: *bytes and *len become that. False: nothing for it now; it
 * may have been told to end. */
bool guard_take(struct connection *c, const uint8_t **bytes, size_t *len);

/* Sends what the session says, if it may be said: false, and the caller sends it as it is. */
bool guard_send(struct connection *c, const uint8_t *bytes, size_t len);

/* May it be who it says? Its name becomes the one that it was given. -EKEYREJECTED. */
int guard_admit(struct connection *c, struct message_hello *m, struct error *e);

int guard_enroll(struct connection *c, const struct message_enroll *m,
		 struct message_certificate *ret, struct error *e);

/* Now and then: ends those whose certificate was revoked or has ended. */
void guard_turn(struct server *s);

#endif
