/* SPDX-License-Identifier: MIT */
/*
 * http: the collector's answers to people and programs (docs/api/README.md).
 *
 * One thread per connection, their number bounded: handlers may block, so each reads as the sequence
 * of what it does, and an answer is made only as fast as its client takes it. http_routes.c has the
 * table of all paths.
 */
#ifndef KISEKI_COLLECTOR_HTTP_H
#define KISEKI_COLLECTOR_HTTP_H

#include "base/cleanup.h"
#include "base/error.h"
#include "collector/registry.h"
#include "store/store.h"

struct collector;
struct summaries;
struct work;
struct http;

struct http_options {
	const char *listen; /* "HOST:PORT" */
	bool insecure;	    /* not only on loopback: the network is trusted */
	const char *
		keys; /* the folder of keys: TLS, and only for those who are known; NULL: plain, for anybody */
	uint64_t login_idle_s, login_s; /* when a login ends; 0: the usual */
	const char *certificate, *key;	/* instead of those of the folder; NULL: those */
	struct store *store;
	struct registry *registry;   /* NULL: only what the store knows */
	struct summaries *summaries; /* NULL: no timelines */
	struct collector *collector; /* NULL: no counters of it */
	struct work *work;	     /* NULL: no facts, and nobody who makes or watches them */
	const char *symbols;	     /* folder of devices' objects, to name functions; NULL: none */
	const char *objects;	     /* those that devices sent themselves; NULL: none */
	const char *tables;	     /* folder of their tables; NULL: they are not kept */
	uint64_t tables_bytes;	     /* its ceiling; 0: the usual one */
	/* One line for each thing worth telling; from any thread; may be NULL. */
	void (*log)(void *context, const char *line);
	void *log_context;
};

/* Listens when it returns. What the options point to must stay until http_stop(). */
int http_start(struct http **ret, const struct http_options *o, struct error *e);
void http_stop(struct http *h); /* ends all answers, joins all threads; NULL is fine */
DEFINE_CLEANUP(http, http_stop)

uint16_t http_port(const struct http *h);
bool http_is_secure(const struct http *h); /* is it HTTPS? */

#endif
