/* SPDX-License-Identifier: MIT */
/* http_connections: see http_connections.h. */
#include "collector/http_connections.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/condition.h"

#define LOOK_MS 500
#define KNOWN_MS (3600U * 1000)
#define KNOWN_MAX 64U /* addresses that are remembered without a connection */

/* An address; one of IPv6 is the network of 64 bits that a single host may have for itself. */
struct owner {
	struct owner *next;
	uint8_t address[16];
	size_t connections;	 /* also those that are shut */
	size_t strangers;	 /* those of strangers, without these */
	uint64_t known_until_ms; /* 0: it is not known */
};

struct http_connection {
	struct http_connection *next, *last;
	struct owner *owner;
	int fd;
	bool waiting; /* for the request */
	bool shut;
	bool known;		   /* a request of it was let in */
	struct credentials *shown; /* of TLS; the library's own thread alone touches it */
	uint64_t since_ms;	   /* it waits, or is answered */
};

struct http_connections {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t watcher;
	bool stop;
	struct http_connections_limits limits;
	size_t n, open,
		strangers; /* all; those that are not shut; those of strangers among these */
	struct http_connection *first;
	struct owner *owners;
};

/* --- owners --- */

static void take_address(const struct sockaddr *from, uint8_t ret[16])
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
	const struct sockaddr_in *four = (const struct sockaddr_in *)from;

	memset(ret, 0, 16);
	if (from && from->sa_family == AF_INET) {
		ret[10] = ret[11] = 0xff; /* as IPv6 writes it */
		memcpy(ret + 12, &four->sin_addr, 4);
	} else if (from && from->sa_family == AF_INET6) {
		memcpy(ret, &six->sin6_addr, IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) ? 16 : 8);
	}
}

static struct owner *find_owner(const struct http_connections *c, const uint8_t address[16])
{
	struct owner *o;

	for (o = c->owners; o; o = o->next)
		if (!memcmp(o->address, address, sizeof(o->address)))
			return o;
	return NULL;
}

/* Frees owners without a connection: those that are not known any more and, of more than KNOWN_MAX
 * that are, the one that was known first. */
static void forget_owners(struct http_connections *c, uint64_t now)
{
	struct owner **at = &c->owners, **oldest = NULL, *o;
	size_t n = 0;

	while ((o = *at)) {
		if (!o->connections && o->known_until_ms <= now) {
			*at = o->next;
			free(o);
			continue;
		}
		if (!o->connections) {
			n++;
			if (!oldest || o->known_until_ms < (*oldest)->known_until_ms)
				oldest = at;
		}
		at = &o->next;
	}
	if (n > KNOWN_MAX) {
		o = *oldest;
		*oldest = o->next;
		free(o);
	}
}

static struct owner *get_owner(struct http_connections *c, const struct sockaddr *from)
{
	uint8_t address[16];
	struct owner *o;

	take_address(from, address);
	o = find_owner(c, address);
	if (o)
		return o;
	o = calloc(1, sizeof(*o));
	if (!o)
		return NULL;
	memcpy(o->address, address, sizeof(address));
	o->next = c->owners;
	c->owners = o;
	return o;
}

static bool is_known(const struct owner *o, uint64_t now)
{
	return o && o->known_until_ms > now;
}

/* --- who goes --- */

/* Takes the connection out of what is counted. */
static void uncount(struct http_connections *c, const struct http_connection *one)
{
	if (one->shut)
		return;
	c->open--;
	if (one->known)
		return;
	c->strangers--;
	one->owner->strangers--;
}

/* Under the lock a descriptor is that of its connection: http_connections_pop() comes before the
 * library closes it. */
static void shut(struct http_connections *c, struct http_connection *one)
{
	uncount(c, one);
	one->shut = true;
	shutdown(one->fd, SHUT_RDWR);
}

/* May it go, for somebody else's sake? A stranger whose answer takes as long as a request may gives
 * way, too. */
static bool may_go(const struct http_connections *c, const struct http_connection *one,
		   uint64_t now)
{
	return !one->shut &&
	       (one->waiting || (!one->known && now - one->since_ms >= c->limits.late_ms));
}

/* The one that may go, of that owner (NULL: of anybody) and kind, which rests for the longest time
 * and for `least_ms` at least. */
static struct http_connection *find_oldest(const struct http_connections *c, const struct owner *o,
					   bool known, unsigned int least_ms)
{
	struct http_connection *one, *oldest = NULL;
	uint64_t now = clock_mono_ms();

	for (one = c->first; one; one = one->next)
		if ((!o || one->owner == o) && one->known == known && may_go(c, one, now) &&
		    now - one->since_ms >= least_ms &&
		    (!oldest || one->since_ms <= oldest->since_ms))
			oldest = one;
	return oldest;
}

/* Of the address with the most strangers; of any, if none of those may go. */
static struct http_connection *find_stranger(const struct http_connections *c)
{
	struct http_connection *one = NULL;
	struct owner *o, *most = NULL;

	for (o = c->owners; o; o = o->next)
		if (!most || o->strangers > most->strangers)
			most = o;
	if (most)
		one = find_oldest(c, most, false, 0);
	return one ? one : find_oldest(c, NULL, false, 0);
}

static bool make_room(struct http_connections *c, const struct owner *o)
{
	const struct http_connections_limits *l = &c->limits;
	bool has_reserve = is_known(o, clock_mono_ms());
	struct http_connection *one = NULL;

	if (o && o->strangers >= l->strangers)
		one = find_oldest(c, o, false, l->patience_ms);
	if (one)
		shut(c, one);
	if (c->open < l->most && (has_reserve || c->strangers < l->most - l->reserved))
		return true;
	one = find_stranger(c);
	if (!one && c->open >= l->most && (has_reserve || c->strangers < l->most - l->reserved))
		one = find_oldest(c, NULL, true, 0);
	if (one)
		shut(c, one);
	return one;
}

bool http_connections_admit(struct http_connections *c, const struct sockaddr *from)
{
	uint8_t address[16];
	bool has_room;

	take_address(from, address);
	pthread_mutex_lock(&c->lock);
	has_room = make_room(c, find_owner(c, address));
	pthread_mutex_unlock(&c->lock);
	return has_room;
}

static void shut_late_ones(struct http_connections *c)
{
	struct http_connection *one;
	uint64_t now = clock_mono_ms();

	for (one = c->first; one; one = one->next) {
		if (!one->waiting || one->shut || now - one->since_ms < c->limits.late_ms)
			continue;
		shut(c, one);
	}
	forget_owners(c, now);
}

/* --- the watcher --- */

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

int http_connections_new(struct http_connections **ret,
			 const struct http_connections_limits *limits, struct error *e)
{
	struct http_connections *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return error_set(e, ENOMEM, "cannot serve HTTP: out of memory");
	c->limits = *limits;
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
	struct owner *o;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->watcher, NULL);
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->lock);
	while ((o = c->owners)) {
		c->owners = o->next;
		free(o);
	}
	free(c);
}

/* --- connections --- */

static bool link_one(struct http_connections *c, struct http_connection *one,
		     const struct sockaddr *from)
{
	one->owner = get_owner(c, from);
	if (!one->owner)
		return false;
	one->owner->connections++;
	one->owner->strangers++;
	c->open++;
	c->strangers++;
	one->next = c->first;
	if (c->first)
		c->first->last = one;
	c->first = one;
	if (!c->n++)
		pthread_cond_signal(&c->wake);
	return true;
}

struct http_connection *http_connections_push(struct http_connections *c,
					      const struct sockaddr *from, int fd)
{
	struct http_connection *one = calloc(1, sizeof(*one));
	bool linked;

	if (!one)
		return NULL;
	one->fd = fd;
	one->waiting = true;
	one->since_ms = clock_mono_ms();
	pthread_mutex_lock(&c->lock);
	linked = link_one(c, one, from);
	pthread_mutex_unlock(&c->lock);
	if (linked)
		return one;
	free(one);
	return NULL;
}

void http_connections_pop(struct http_connections *c, struct http_connection *one)
{
	if (!one)
		return;
	pthread_mutex_lock(&c->lock);
	uncount(c, one);
	one->owner->connections--;
	if (one->next)
		one->next->last = one->last;
	if (one->last)
		one->last->next = one->next;
	else
		c->first = one->next;
	c->n--;
	forget_owners(c, clock_mono_ms());
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

void http_connection_set_known(struct http_connections *c, struct http_connection *one)
{
	if (!one)
		return;
	pthread_mutex_lock(&c->lock);
	if (!one->known && !one->shut) {
		c->strangers--;
		one->owner->strangers--;
	}
	one->known = true;
	one->owner->known_until_ms = clock_mono_ms() + KNOWN_MS;
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
