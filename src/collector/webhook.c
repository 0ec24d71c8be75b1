/* SPDX-License-Identifier: MIT */
/* webhook: see webhook.h. */
#include "collector/webhook.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/condition.h"

#define TIMEOUT_S 10L
#define PAUSE_MS 2000U /* before the second try; twice as much before each further one */

struct webhook {
	char *url;
	pthread_t thread;
	bool is_running;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed;
	char *posts[WEBHOOK_POSTS_MAX];
	size_t first, n;
	uint64_t posted, errors;
	bool ends;
};

static size_t drop_answer(char *data, size_t size, size_t n, void *context)
{
	(void)data;
	(void)context;
	return size * n;
}

/* Without a signal, and without what an answer says. */
static bool send_once(const char *url, const char *text)
{
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	CURL *c = curl_easy_init();
	long status = 0;
	bool sent = false;

	if (c && headers) {
		curl_easy_setopt(c, CURLOPT_URL, url);
		curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, text);
		curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, drop_answer);
		curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
		curl_easy_setopt(c, CURLOPT_TIMEOUT, TIMEOUT_S);
		sent = curl_easy_perform(c) == CURLE_OK &&
		       curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK &&
		       status >= 200 && status < 300;
	}
	curl_easy_cleanup(c);
	curl_slist_free_all(headers);
	return sent;
}

/* The lock is held before and after; false: it shall end. */
static bool pause_ms(struct webhook *w, unsigned int ms)
{
	uint64_t until_ms = clock_mono_ms() + ms;

	while (!w->ends && condition_wait(&w->changed, &w->lock, until_ms))
		;
	return !w->ends;
}

static void send_post(struct webhook *w, const char *text)
{
	unsigned int i;
	bool sent = false;

	for (i = 0; i < WEBHOOK_TRIES && !sent; i++) {
		if (i && !pause_ms(w, PAUSE_MS << (i - 1)))
			break;
		pthread_mutex_unlock(&w->lock);
		sent = send_once(w->url, text);
		pthread_mutex_lock(&w->lock);
	}
	w->posted += sent;
	w->errors += !sent;
}

static void *work(void *context)
{
	struct webhook *w = context;
	char *text;

	pthread_mutex_lock(&w->lock);
	while (!w->ends) {
		if (!w->n) {
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		text = w->posts[w->first];
		w->first = (w->first + 1) % WEBHOOK_POSTS_MAX;
		w->n--;
		send_post(w, text);
		free(text);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

int webhook_start(struct webhook **ret, const char *url, struct error *e)
{
	CLEANUP(webhook) struct webhook *w = NULL;
	int r;

	if (strncmp(url, "http://", 7) && strncmp(url, "https://", 8))
		return error_set(e, EINVAL,
				 "cannot use the webhook: its URL does not begin with http:// or "
				 "https://");
	w = calloc(1, sizeof(*w));
	if (!w)
		return error_set(e, ENOMEM, "cannot use the webhook: out of memory");
	pthread_mutex_init(&w->lock, NULL);
	condition_init(&w->changed);
	w->url = strdup(url);
	if (!w->url || curl_global_init(CURL_GLOBAL_DEFAULT))
		return error_set(e, ENOMEM, "cannot use the webhook: out of memory");
	r = pthread_create(&w->thread, NULL, work, w);
	if (r)
		return error_set(e, r, "cannot use the webhook: %s", strerror(r));
	w->is_running = true;
	*ret = take_ptr(w);
	return 0;
}

void webhook_stop(struct webhook *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ends = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (w->is_running)
		pthread_join(w->thread, NULL);
	for (; w->n; w->n--, w->first = (w->first + 1) % WEBHOOK_POSTS_MAX)
		free(w->posts[w->first]);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w->url);
	free(w);
}

void webhook_post(struct webhook *w, char *text)
{
	pthread_mutex_lock(&w->lock);
	if (w->n == WEBHOOK_POSTS_MAX) {
		free(w->posts[w->first]);
		w->first = (w->first + 1) % WEBHOOK_POSTS_MAX;
		w->n--;
		w->errors++;
	}
	w->posts[(w->first + w->n++) % WEBHOOK_POSTS_MAX] = text;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void webhook_count(struct webhook *w, uint64_t *ret_posted, uint64_t *ret_errors)
{
	pthread_mutex_lock(&w->lock);
	*ret_posted = w->posted;
	*ret_errors = w->errors;
	pthread_mutex_unlock(&w->lock);
}
