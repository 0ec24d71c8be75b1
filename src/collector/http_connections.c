/* SPDX-License-Identifier: MIT */
/* http_connections: see http_connections.h. */
#include "collector/http_connections.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/condition.h"

#define LOOK_MS 500

struct http_connection {
	struct http_connection *next, *last;
	int fd;
	bool waiting; /* for the request */
	bool shut;
	struct credentials *shown; /* of TLS; the library's own thread alone touches it */
	uint64_t since_ms;
};

struct http_connections {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t watcher;
	bool stop;
	unsigned int limit_ms;
	size_t n;
	struct http_connection *first;
};

/* Under the lock a descriptor is that of its connection: http_connections_pop() comes before the
 * library closes it. */
static void shut_late_ones(struct http_connections *c)
{
	struct http_connection *one;
	uint64_t now = clock_mono_ms();

	for (one = c->first; one; one = one->next) {
		if (!one->waiting || one->shut || now - one->since_ms < c->limit_ms)
			continue;
		one->shut = true;
		shutdown(one->fd, SHUT_RDWR);
	}
}

static void *watch(void *context)
{
	struct http_connections *c = context;

	pthread_mutex_lock(&c->lock);
	while (!c->stop) {
		shut_late_ones(c);
		if (c->n)
			condition_wait(&c->wake, &c->lock, clock_mono_ms() + LOOK_MS);
		else
			pthread_cond_wait(&c->wake, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

int http_connections_new(struct http_connections **ret, unsigned int limit_ms, struct error *e)
{
	struct http_connections *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return error_set(e, ENOMEM, "cannot serve HTTP: out of memory");
	c->limit_ms = limit_ms;
	pthread_mutex_init(&c->lock, NULL);
	condition_init(&c->wake);
	r = pthread_create(&c->watcher, NULL, watch, c);
	if (r) {
		pthread_cond_destroy(&c->wake);
		pthread_mutex_destroy(&c->lock);
		free(c);
		return error_set(e, r, "cannot serve HTTP: no thread for its connections");
	}
	*ret = c;
	return 0;
}

void http_connections_free(struct http_connections *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->watcher, NULL);
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

struct http_connection *http_connections_push(struct http_connections *c, int fd)
{
	struct http_connection *one = calloc(1, sizeof(*one));

	if (!one)
		return NULL;
	one->fd = fd;
	one->waiting = true;
	one->since_ms = clock_mono_ms();
	pthread_mutex_lock(&c->lock);
	one->next = c->first;
	if (c->first)
		c->first->last = one;
	c->first = one;
	if (!c->n++)
		pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	return one;
}

void http_connections_pop(struct http_connections *c, struct http_connection *one)
{
	if (!one)
		return;
	pthread_mutex_lock(&c->lock);
	if (one->next)
		one->next->last = one->last;
	if (one->last)
		one->last->next = one->next;
	else
		c->first = one->next;
	c->n--;
	pthread_mutex_unlock(&c->lock);
	free(one);
}

void http_connection_set_waiting(struct http_connections *c, struct http_connection *one,
				 int waiting)
{
	if (!one)
		return;
	pthread_mutex_lock(&c->lock);
	one->waiting = waiting;
	one->since_ms = clock_mono_ms();
	pthread_mutex_unlock(&c->lock);
}

void http_connection_set_shown(struct http_connection *one, struct credentials *shown)
{
	one->shown = shown;
}

struct credentials *http_connection_take_shown(struct http_connection *one)
{
	return one ? take_ptr(one->shown) : NULL;
}

size_t http_connections_count(struct http_connections *c)
{
	size_t n;

	pthread_mutex_lock(&c->lock);
	n = c->n;
	pthread_mutex_unlock(&c->lock);
	return n;
}
