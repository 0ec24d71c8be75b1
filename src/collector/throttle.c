/* SPDX-License-Identifier: MIT */
/* throttle: see throttle.h. */
#include "collector/throttle.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <pthread.h>
#include <string.h>

#include "base/siphash.h"

#define PLACES 1024U
#define WAYS 4U
#define DOUBLINGS_MOST 20U

struct
try {
	uint64_t key; /* 0: nobody */
	uint64_t last_ms, free_ms;
	uint32_t n;
};

struct throttle {
	pthread_mutex_t lock;
	uint8_t secret[16];
	uint32_t longest_s;
	struct try tries[PLACES][WAYS];
};

int throttle_new(struct throttle **ret, uint32_t longest_s, struct error *e)
{
	CLEANUP(throttle) struct throttle *t = calloc(1, sizeof(*t));

	if (!t)
		return error_set(e, ENOMEM, "cannot serve logins: out of memory");
	pthread_mutex_init(&t->lock, NULL);
	t->longest_s = longest_s;
	if (gnutls_rnd(GNUTLS_RND_NONCE, t->secret, sizeof(t->secret)) < 0)
		return error_set(e, EIO, "cannot serve logins: no random numbers");
	*ret = take_ptr(t);
	return 0;
}

void throttle_free(struct throttle *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* The key's own place, or the one that it takes over. */
static struct try *find(struct throttle *t, const char *text)
{
	uint64_t key = siphash64(t->secret, text, strlen(text)) | 1;
	struct try *places = t->tries[key / 2 % PLACES], *oldest = &places[0];
	size_t i;

	for (i = 0; i < WAYS; i++) {
		if (places[i].key == key)
			return &places[i];
		if (places[i].last_ms < oldest->last_ms)
			oldest = &places[i];
	}
	*oldest = (struct try){ .key = key };
	return oldest;
}

static uint64_t wait_ms(const struct throttle *t, uint32_t n)
{
	uint32_t doublings = n - THROTTLE_FREE, s;

	s = 1U << (doublings < DOUBLINGS_MOST ? doublings : DOUBLINGS_MOST);
	return 1000ULL * (s < t->longest_s ? s : t->longest_s);
}

uint32_t throttle_try(struct throttle *t, const char *key, uint64_t now_ms)
{
	uint32_t left_s = 0;
	struct try *one;

	pthread_mutex_lock(&t->lock);
	one = find(t, key);
	if (now_ms - one->last_ms > THROTTLE_FORGET_MS)
		one->n = 0;
	if (one->n >= THROTTLE_FREE && now_ms < one->free_ms) {
		left_s = (uint32_t)((one->free_ms - now_ms + 999) / 1000);
	} else {
		one->n++;
		one->last_ms = now_ms;
		one->free_ms = one->n >= THROTTLE_FREE ? now_ms + wait_ms(t, one->n) : now_ms;
	}
	pthread_mutex_unlock(&t->lock);
	return left_s;
}

void throttle_clear(struct throttle *t, const char *key)
{
	pthread_mutex_lock(&t->lock);
	memset(find(t, key), 0, sizeof(struct try));
	pthread_mutex_unlock(&t->lock);
}
