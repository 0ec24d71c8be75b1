/* SPDX-License-Identifier: MIT */
/*
 * http_access: who asks, and whether he may (docs/design/keys.md). A collector without keys has none of this: whoever
 * reaches it on loopback may do everything.
 *
 * All requests go through http_access_judge(), before their body is read; what each route needs stands in the table of
 * http_routes.c. Users and tokens are looked up in people.db each time.
 */
#ifndef KISEKI_COLLECTOR_HTTP_ACCESS_H
#define KISEKI_COLLECTOR_HTTP_ACCESS_H

#include "collector/http_request.h"
#include "collector/logins.h"
#include "keys/people.h"

#define HTTP_COOKIE "__Host-kiseki"
#define HTTP_PROOF "Kiseki-Csrf"

struct http_access;

struct http_access_options {
	const char *folder;	   /* of keys */
	uint64_t idle_s, length_s; /* of a login; 0: the usual ones */
};

int http_access_new(struct http_access **ret, const struct http_access_options *o, struct error *e);
void http_access_free(struct http_access *a);
DEFINE_CLEANUP(http_access, http_access_free)

/* Sets q->who. Refused: the reply's status is set. */
int http_access_judge(struct http_request *q, struct http_reply *reply, struct error *e);

/* For handlers that are of no use without keys: -EOPNOTSUPP. */
int http_access_need(const struct http_request *q, struct error *e);

/* For answers that take long: is what judge() found still so? Asks now and then. */
bool http_access_holds(const struct http_request *q);

/* Logs in. -EACCES: the name or the password is wrong, and nobody is told which; -EAGAIN: *retry_s is how long to
 * wait; -EBUSY: others are being checked. */
struct http_access_try {
	const char *user, *password, *address;
	uint32_t retry_s;
	char id[LOGIN_ID_LEN + 1]; /* for the cookie */
	struct people_user found;
};
int http_access_login(struct http_access *a, struct http_access_try *t, struct error *e);

struct logins *http_access_logins(struct http_access *a);

/* For those who list: people.db, for one thread at a time. */
struct people *http_access_lock(struct http_access *a);
void http_access_unlock(struct http_access *a);

#endif
