/* SPDX-License-Identifier: MIT */
/*
 * keys: the folder of keys, open, as a collector and `kiseki keys` use it: authority, roster and
 * credentials together. All of one thread.
 */
#ifndef KISEKI_KEYS_KEYS_H
#define KISEKI_KEYS_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "keys/credentials.h"
#include "keys/roster.h"
#include "wire/enroll.h"

#define KEYS_VALID_S (90U * 86400U) /* how long a device's certificate holds */
#define KEYS_TOKEN_S 86400U	    /* and a token waits */

struct keys;

/* Are there keys, or what is left of them? */
bool keys_exist(const char *folder);

int keys_open(struct keys **ret, const char *folder, struct error *e);
void keys_close(struct keys *k);
DEFINE_CLEANUP(keys, keys_close)

/* A token for the device, for people to carry. */
struct keys_wish {
	const char *name;
	uint64_t now_s, wait_s, valid_s;
};
int keys_make_token(struct keys *k, const struct keys_wish *w, char ret[TOKEN_TEXT_LEN + 1],
		    struct error *e);

/* How many certificates and tokens that was. */
int keys_revoke(struct keys *k, const char *name, uint64_t now_s, struct error *e);

/* Rows of the roster that the disk has damaged: how many were dropped. */
int keys_drop_damaged(struct keys *k, struct error *e);

/* A new authority; only the collector's own certificate, if `collector_alone`. */
int keys_rotate(struct keys *k, bool collector_alone, struct error *e);

int keys_dup_entries(struct keys *k, struct roster_entry **ret, size_t *ret_n, struct error *e);

/* --- of the collector --- */

/* 1: somebody changed something; 0: nobody did. What is shown to those who come next is of then on; the
 * collector's own certificate is renewed when it is old. An error leaves what was. */
int keys_turn(struct keys *k, uint64_t now_s, struct error *e);

/* Borrowed, until keys_turn(). */
struct credentials *keys_get_credentials(struct keys *k);

/* Whose certificate this is. -EKEYREJECTED with the reason, if it does not hold. */
int keys_judge(struct keys *k, const uint8_t serial[AUTHORITY_SERIAL_LEN], uint64_t now_s,
	       struct roster_row *ret, struct error *e);

/* A certificate for who has a token, or, without one, for the peer again. -EKEYREJECTED, or what
 * went wrong here. *ret is borrowed until the next call. */
struct keys_asking {
	const struct message_enroll *message;
	const struct roster_row *peer; /* NULL: it showed no certificate */
	const char *from;	       /* its address */
	uint64_t now_s;
};
int keys_enroll(struct keys *k, const struct keys_asking *a, struct message_certificate *ret,
		struct error *e);

/* For whom that was. */
const char *keys_get_enrolled(const struct keys *k);

#endif
