/* SPDX-License-Identifier: MIT */
/* logins: see logins.h. A few hundred at most, so all are looked at; where one was found does not show in the time. */
#include "collector/logins.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/hex.h"

struct logins {
	pthread_mutex_t lock;
	struct logins_limits limits;
	struct login list[LOGINS_MAX]; /* those without a user are free */
};

int logins_new(struct logins **ret, const struct logins_limits *limits, struct error *e)
{
	struct logins *l = calloc(1, sizeof(*l));

	if (!l)
		return error_set(e, ENOMEM, "cannot serve logins: out of memory");
	pthread_mutex_init(&l->lock, NULL);
	l->limits = *limits;
	*ret = l;
	return 0;
}

void logins_free(struct logins *l)
{
	if (!l)
		return;
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static bool holds(const struct logins *l, const struct login *one, uint64_t now_ms)
{
	return one->user[0] && now_ms - one->used_ms < l->limits.idle_ms &&
	       now_ms - one->made_ms < l->limits.length_ms;
}

static bool is_of(const struct login *one, const char *user)
{
	return one->user[0] && !strcmp(one->user, user);
}

/* A place for one more login of the user: the user's own longest rest if it has too many; else one that is free or has ended;
 * else the longest rest of all. */
static struct login *make_room(struct logins *l, const char *user, uint64_t now_ms)
{
	struct login *spare = NULL, *own = NULL, *any = NULL, *one;
	unsigned int n = 0;

	for (one = l->list; one < l->list + LOGINS_MAX; one++) {
		if (!holds(l, one, now_ms)) {
			spare = one;
			continue;
		}
		if (!any || one->used_ms < any->used_ms)
			any = one;
		if (!is_of(one, user))
			continue;
		n++;
		if (!own || one->used_ms < own->used_ms)
			own = one;
	}
	if (n >= LOGINS_USER_MAX)
		return own;
	return spare ? spare : any;
}

static int hash_id(const char *id, uint8_t ret[LOGIN_HASH_LEN])
{
	return gnutls_hash_fast(GNUTLS_DIG_SHA256, id, strlen(id), ret);
}

static int make_secrets(struct login *one, char id[LOGIN_ID_LEN + 1])
{
	uint8_t random[LOGIN_ID_LEN / 2 + LOGIN_PROOF_LEN / 2];
	int r = gnutls_rnd(GNUTLS_RND_KEY, random, sizeof(random));

	if (r < 0)
		return r;
	hex_format(random, LOGIN_ID_LEN / 2, id);
	hex_format(random + LOGIN_ID_LEN / 2, LOGIN_PROOF_LEN / 2, one->proof);
	explicit_bzero(random, sizeof(random));
	return hash_id(id, one->hash);
}

int logins_add(struct logins *l, const struct people_user *u, uint64_t now_ms,
	       char id[LOGIN_ID_LEN + 1], struct error *e)
{
	struct login one = { .made_ms = now_ms, .used_ms = now_ms };

	snprintf(one.user, sizeof(one.user), "%s", u->name);
	memcpy(one.stamp, u->stamp, sizeof(one.stamp));
	if (make_secrets(&one, id) < 0)
		return error_set(e, EIO, "cannot log in: no random numbers");
	pthread_mutex_lock(&l->lock);
	*make_room(l, u->name, now_ms) = one;
	pthread_mutex_unlock(&l->lock);
	return 0;
}

static struct login *find(struct logins *l, const uint8_t hash[LOGIN_HASH_LEN], uint64_t now_ms)
{
	struct login *found = NULL, *one;

	for (one = l->list; one < l->list + LOGINS_MAX; one++)
		if (one->user[0] && !gnutls_memcmp(one->hash, hash, LOGIN_HASH_LEN))
			found = one;
	return found && holds(l, found, now_ms) ? found : NULL;
}

static bool look(struct logins *l, const uint8_t hash[LOGIN_HASH_LEN], uint64_t now_ms,
		 struct login *ret, bool is_use)
{
	struct login *found;

	pthread_mutex_lock(&l->lock);
	found = find(l, hash, now_ms);
	if (found && is_use)
		found->used_ms = now_ms;
	if (found)
		*ret = *found;
	pthread_mutex_unlock(&l->lock);
	return found;
}

bool logins_use(struct logins *l, const char *id, uint64_t now_ms, struct login *ret)
{
	uint8_t hash[LOGIN_HASH_LEN];

	return hash_id(id, hash) >= 0 && look(l, hash, now_ms, ret, true);
}

bool logins_get(struct logins *l, const uint8_t hash[LOGIN_HASH_LEN], uint64_t now_ms,
		struct login *ret)
{
	return look(l, hash, now_ms, ret, false);
}

void logins_remove(struct logins *l, const uint8_t hash[LOGIN_HASH_LEN])
{
	struct login *one;

	pthread_mutex_lock(&l->lock);
	for (one = l->list; one < l->list + LOGINS_MAX; one++)
		if (one->user[0] && !gnutls_memcmp(one->hash, hash, LOGIN_HASH_LEN))
			memset(one, 0, sizeof(*one));
	pthread_mutex_unlock(&l->lock);
}

unsigned int logins_remove_user(struct logins *l, const char *user)
{
	struct login *one;
	unsigned int n = 0;

	pthread_mutex_lock(&l->lock);
	for (one = l->list; one < l->list + LOGINS_MAX; one++)
		if (is_of(one, user)) {
			memset(one, 0, sizeof(*one));
			n++;
		}
	pthread_mutex_unlock(&l->lock);
	return n;
}

unsigned int logins_count_user(struct logins *l, const char *user, uint64_t now_ms)
{
	const struct login *one;
	unsigned int n = 0;

	pthread_mutex_lock(&l->lock);
	for (one = l->list; one < l->list + LOGINS_MAX; one++)
		n += is_of(one, user) && holds(l, one, now_ms);
	pthread_mutex_unlock(&l->lock);
	return n;
}
