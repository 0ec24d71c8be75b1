/* SPDX-License-Identifier: MIT */
/*
 * logins: who is logged in with a browser. Kept in memory alone: with the collector all logins end.
 *
 * A login is known by 256 random bits, which the browser has in a cookie and the collector as a hash. It ends when it
 * was not used for some time, when it is too old, and when its user logs out; whether the user is still there, with the same
 * password, is asked elsewhere by its stamp. From any thread.
 */
#ifndef KISEKI_COLLECTOR_LOGINS_H
#define KISEKI_COLLECTOR_LOGINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "keys/people.h"

#define LOGINS_MAX 1024U
#define LOGINS_USER_MAX 16U /* of one user; with one more, the one that rests longest ends */
#define LOGIN_ID_LEN 64U    /* digits */
#define LOGIN_PROOF_LEN 32U
#define LOGIN_HASH_LEN 32U

struct logins;

struct login {
	char user[PEOPLE_NAME_MAX];
	uint8_t stamp[PEOPLE_STAMP_LEN];
	uint8_t hash[LOGIN_HASH_LEN]; /* of its id */
	char proof[LOGIN_PROOF_LEN +
		   1]; /* what the page shows with each request that changes something */
	uint64_t made_ms, used_ms;
};

struct logins_limits {
	uint64_t idle_ms, length_ms;
};
int logins_new(struct logins **ret, const struct logins_limits *l, struct error *e);
void logins_free(struct logins *l);
DEFINE_CLEANUP(logins, logins_free)

/* The id is for the browser alone. */
int logins_add(struct logins *l, const struct people_user *u, uint64_t now_ms,
	       char id[LOGIN_ID_LEN + 1], struct error *e);

/* By what stands in a cookie; it has been used then. False: there is none. */
bool logins_use(struct logins *l, const char *id, uint64_t now_ms, struct login *ret);
/* The same by its hash, which is no use of it. */
bool logins_get(struct logins *l, const uint8_t hash[LOGIN_HASH_LEN], uint64_t now_ms,
		struct login *ret);

void logins_remove(struct logins *l, const uint8_t hash[LOGIN_HASH_LEN]);
/* All of a user: how many there were. */
unsigned int logins_remove_user(struct logins *l, const char *user);
unsigned int logins_count_user(struct logins *l, const char *user, uint64_t now_ms);

#endif
