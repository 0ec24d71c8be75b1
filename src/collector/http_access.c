/* SPDX-License-Identifier: MIT */
/* http_access: see http_access.h. */
#include "collector/http_access.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <microhttpd.h>
#include <string.h>

#include "base/clock.h"
#include "base/hex.h"
#include "collector/throttle.h"

#define IDLE_S 3600U
#define LENGTH_S (12U * 3600)
#define USER_LONGEST_S 30U /* or anybody could lock a user out */
#define ADDRESS_LONGEST_S 900U
#define CHECKS_MAX                                                                                 \
	8U /* passwords that wait to be checked; each takes a CPU and 16 MiB for some time */
#define LOOK_MS 250U

struct http_access {
	pthread_mutex_t lock; /* of people */
	struct people *people;
	struct throttle *users, *addresses;
	struct logins *logins;
	pthread_mutex_t checking;
	atomic_uint checks;
	char nobody
		[PASSWORD_HASH_MAX]; /* what passwords of users that are not there are compared with */
};

/* Nobody logs in with it: it is forgotten at once. */
static int make_nobody(struct http_access *a, struct error *e)
{
	char password[2 * 16 + 1];
	uint8_t random[16];

	if (gnutls_rnd(GNUTLS_RND_KEY, random, sizeof(random)) < 0)
		return error_set(e, EIO, "cannot serve logins: no random numbers");
	hex_format(random, sizeof(random), password);
	return password_hash(password, a->nobody, e);
}

int http_access_new(struct http_access **ret, const struct http_access_options *o, struct error *e)
{
	CLEANUP(http_access) struct http_access *a = calloc(1, sizeof(*a));
	const struct logins_limits limits = {
		.idle_ms = 1000 * (o->idle_s ? o->idle_s : IDLE_S),
		.length_ms = 1000 * (o->length_s ? o->length_s : LENGTH_S),
	};
	int r;

	if (!a)
		return error_set(e, ENOMEM, "cannot serve logins: out of memory");
	pthread_mutex_init(&a->lock, NULL);
	pthread_mutex_init(&a->checking, NULL);
	r = people_open(&a->people, o->folder, e);
	if (r == 0)
		r = throttle_new(&a->users, USER_LONGEST_S, e);
	if (r == 0)
		r = throttle_new(&a->addresses, ADDRESS_LONGEST_S, e);
	if (r == 0)
		r = logins_new(&a->logins, &limits, e);
	if (r == 0)
		r = make_nobody(a, e);
	if (r < 0)
		return r;
	*ret = take_ptr(a);
	return 0;
}

void http_access_free(struct http_access *a)
{
	if (!a)
		return;
	people_close(a->people);
	throttle_free(a->users);
	throttle_free(a->addresses);
	logins_free(a->logins);
	pthread_mutex_destroy(&a->lock);
	pthread_mutex_destroy(&a->checking);
	free(a);
}

struct logins *http_access_logins(struct http_access *a)
{
	return a->logins;
}

struct people *http_access_lock(struct http_access *a)
{
	pthread_mutex_lock(&a->lock);
	return a->people;
}

void http_access_unlock(struct http_access *a)
{
	pthread_mutex_unlock(&a->lock);
}

/* --- who it is --- */

static uint64_t now_s(void)
{
	return clock_real_ns() / CLOCK_NS_PER_S;
}

/* What a token may that was found: -EKEYREJECTED, if it has ended. */
static int take_token(struct http_who *w, const struct people_token *t, struct error *e)
{
	if (t->until_s && t->until_s <= now_s())
		return error_set(e, EKEYREJECTED,
				 "the token %s has ended; `kiseki keys token add` makes another",
				 t->name);
	w->kind = WHO_TOKEN;
	w->role = t->role;
	memcpy(w->name, t->name, sizeof(w->name));
	memcpy(w->hash, t->hash, sizeof(w->hash));
	return 0;
}

static int know_token(struct http_access *a, const char *text, struct http_who *w, struct error *e)
{
	struct people_token t;
	int r;

	r = people_find_token(http_access_lock(a), text, &t, e);
	http_access_unlock(a);
	if (r == -ENOENT)
		return error_set(e, EKEYREJECTED,
				 "the token is not known here, or was revoked; `kiseki keys token "
				 "add` makes another");
	return r < 0 ? r : take_token(w, &t, e);
}

/* Is the login's user still there, with the password of then? */
static int take_login(struct http_access *a, struct http_who *w, const struct login *l,
		      struct error *e)
{
	struct people_user u;
	int r;

	r = people_get_user(http_access_lock(a), l->user, &u, e);
	http_access_unlock(a);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r < 0 || gnutls_memcmp(u.stamp, l->stamp, sizeof(u.stamp)) != 0) {
		logins_remove(a->logins, l->hash);
		return error_set(e, EKEYREJECTED, "the login has ended; log in again");
	}
	w->kind = WHO_LOGIN;
	w->role = u.role;
	memcpy(w->name, u.name, sizeof(w->name));
	memcpy(w->hash, l->hash, sizeof(w->hash));
	memcpy(w->proof, l->proof, sizeof(w->proof));
	return 0;
}

/* -EKEYREJECTED: what it shows is no good. Who shows nothing is nobody. */
static int know(struct http_access *a, struct http_request *q, struct error *e)
{
	const char *authorization = http_request_header(q, MHD_HTTP_HEADER_AUTHORIZATION);
	char text[PEOPLE_TOKEN_LEN + 1];
	struct login l;

	if (authorization) {
		if (!http_bearer_get(authorization, text, sizeof(text)))
			return error_set(e, EKEYREJECTED,
					 "cannot read Authorization: write it as Bearer TOKEN");
		return know_token(a, text, &q->who->state, e);
	}
	if (!http_cookie_get(http_request_header(q, MHD_HTTP_HEADER_COOKIE), HTTP_COOKIE, text,
			     sizeof(text)))
		return 0;
	if (!logins_use(a->logins, text, clock_mono_ms(), &l))
		return error_set(e, EKEYREJECTED, "the login has ended; log in again");
	return take_login(a, &q->who->state, &l, e);
}

/* --- what it may --- */

static int refuse_stranger(struct http_reply *reply, struct error *e)
{
	reply->status = MHD_HTTP_UNAUTHORIZED;
	return error_set(
		e, EKEYREJECTED,
		"who asks? Log in at the page, or send a token as Authorization: Bearer "
		"(`kiseki keys token add`; the program kiseki reads it from KISEKI_TOKEN)");
}

static int refuse_role(const struct http_who *w, enum people_role need, struct http_reply *reply,
		       struct error *e)
{
	reply->status = MHD_HTTP_FORBIDDEN;
	return error_set(
		e, EACCES,
		"%s may %s, and this needs the role %s; an admin of the collector gives it",
		w->name, people_role_name(w->role), people_role_name(need));
}

/* A page of another site can make the browser send its cookie, but cannot know this. */
static bool has_proof(const struct http_request *q)
{
	const char *proof = http_request_header(q, HTTP_PROOF);

	return proof && strlen(proof) == LOGIN_PROOF_LEN &&
	       !gnutls_memcmp(proof, q->who->state.proof, LOGIN_PROOF_LEN);
}

int http_access_judge(struct http_request *q, struct http_reply *reply, struct error *e)
{
	enum people_role need = http_route_role(q->route);
	struct http_access *a = q->http->access;
	int r;

	if (!a)
		return 0;
	q->who->state.need = need;
	r = know(a, q, e);
	if (r == -EKEYREJECTED && need != ROLE_NOBODY)
		reply->status = MHD_HTTP_UNAUTHORIZED;
	if (need == ROLE_NOBODY)
		return r == -EKEYREJECTED ? 0 : r;
	if (r < 0)
		return r;
	if (q->who->state.kind == WHO_STRANGER)
		return refuse_stranger(reply, e);
	if (q->who->state.role < need)
		return refuse_role(&q->who->state, need, reply, e);
	if (q->who->state.kind == WHO_LOGIN && strcmp(q->route->method, "GET") != 0 &&
	    !has_proof(q)) {
		reply->status = MHD_HTTP_FORBIDDEN;
		return error_set(e, EACCES,
				 "refused: " HTTP_PROOF " must have what /api/v1/me calls csrf");
	}
	return 0;
}

int http_access_need(const struct http_request *q, struct error *e)
{
	return q->http->access
		       ? 0
		       : error_set(e, EOPNOTSUPP, "this collector has no keys, so it knows nobody");
}

static bool look_again(struct http_access *a, const struct http_who *w)
{
	struct http_who now = { .kind = WHO_STRANGER };
	struct error e = ERROR_INIT;
	struct people_token t;
	struct login l;
	int r;

	if (w->kind == WHO_LOGIN)
		return logins_get(a->logins, w->hash, clock_mono_ms(), &l) &&
		       take_login(a, &now, &l, &e) == 0 && now.role >= w->need;
	r = people_get_token(http_access_lock(a), w->hash, &t, &e);
	http_access_unlock(a);
	return r == 0 && take_token(&now, &t, &e) == 0 && now.role >= w->need;
}

bool http_access_holds(const struct http_request *q)
{
	struct http_asker *who = q->who;
	unsigned long long now = clock_mono_ms(), then;

	if (!q->http->access || who->state.kind == WHO_STRANGER)
		return true;
	then = atomic_load(&who->looked_ms);
	if (now - then < LOOK_MS || !atomic_compare_exchange_strong(&who->looked_ms, &then, now))
		return !atomic_load(&who->is_over);
	if (!look_again(q->http->access, &who->state))
		atomic_store(&who->is_over, true);
	return !atomic_load(&who->is_over);
}

/* --- logging in --- */

/* One after the other, and few that wait. */
static int check(struct http_access *a, const char *password, const char *hash, struct error *e)
{
	bool is_right = false, is_full = atomic_fetch_add(&a->checks, 1) >= CHECKS_MAX;

	if (!is_full) {
		pthread_mutex_lock(&a->checking);
		is_right = password_check(password, hash);
		pthread_mutex_unlock(&a->checking);
	}
	atomic_fetch_sub(&a->checks, 1);
	if (is_full)
		return error_set(e, EBUSY, "others are logging in: try again");
	return is_right;
}

static int may_try(struct http_access *a, struct http_access_try *t, const char *owner,
		   struct error *e)
{
	uint64_t now = clock_mono_ms();

	t->retry_s = throttle_try(a->addresses, owner, now);
	if (!t->retry_s)
		t->retry_s = throttle_try(a->users, t->user, now);
	if (!t->retry_s)
		return 0;
	return error_set(e, EAGAIN, "too many tries: wait %u s", t->retry_s);
}

int http_access_login(struct http_access *a, struct http_access_try *t, struct error *e)
{
	char room[HTTP_HOST_MAX];
	const char *owner = http_peer_owner(t->address, room);
	int found, r = may_try(a, t, owner, e);

	if (r < 0)
		return r;
	found = people_get_user(http_access_lock(a), t->user, &t->found, e);
	http_access_unlock(a);
	if (found < 0 && found != -ENOENT)
		return found;
	r = check(a, t->password, found < 0 ? a->nobody : t->found.hash, e);
	if (r < 0)
		return r;
	if (!r || found < 0)
		return error_set(e, EACCES, "the name or the password is wrong");
	throttle_clear(a->addresses, owner);
	throttle_clear(a->users, t->user);
	return logins_add(a->logins, &t->found, clock_mono_ms(), t->id, e);
}
