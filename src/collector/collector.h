/* SPDX-License-Identifier: MIT */
/*
 * collector: the log acquiring server: one process that takes the blocks of many devices, keeps
 * them, and answers.
 *
 * Threads: the loop (libuv) owns all connections and the ingest's side of the store; the committer
 * writes and syncs; the summariser decodes in the background, and workers make facts of what came; one fetches files of code from
 * devices; the HTTP server has its own. They
 * share the store, the registry and the counters, each with its own lock.
 */
#ifndef KISEKI_COLLECTOR_COLLECTOR_H
#define KISEKI_COLLECTOR_COLLECTOR_H

#include "base/cleanup.h"
#include "base/error.h"
#include "collector/registry.h"
#include "store/store.h"

#define COLLECTOR_WORKERS_EACH UINT32_MAX /* one for each CPU */

struct collector_options {
	const char *listen;  /* "HOST:PORT" for devices; "127.0.0.1:7077" */
	const char *http;    /* "HOST:PORT" for people; "127.0.0.1:8080" */
	const char *data;    /* the folder */
	const char *place;   /* where blocks are kept (store_open()); NULL or "": in that folder */
	const char *symbols; /* folder of devices' objects, to name functions; NULL or "": none */
	uint64_t symbols_bytes; /* ceiling of the tables made of them; 0: the usual one */
	uint64_t objects_bytes; /* of files that devices are asked for, at most; 0: they are not */
	const char *keys;	/* the folder of keys; NULL or "": `keys` in data, if it is there */
	/* What browsers and scripts are shown instead of the certificate in keys; NULL or "": that one. */
	const char *http_certificate, *http_key;
	uint64_t login_idle_s, login_s; /* when a login of a browser ends; 0: the usual */
	bool plain_http;     /* with keys, too, HTTP without TLS, for anybody on loopback */
	bool plain_loopback; /* with keys, too, plain frames are taken from loopback */
	bool insecure; /* listen on other addresses than loopback, too: the network is trusted */
	struct store_options store;
	uint32_t workers;	   /* threads that work minutes out; 0: none */
	const char *alert_webhook; /* where alerts are posted; NULL or "": nowhere */
	uint32_t connections_max;  /* 0: 10000 */
	uint64_t device_bytes_max; /* received and not durable, of one device; 0: 4 MiB */
	unsigned int
		commit_ms; /* the longest that a block waits for its commit; 0: what suits the store */
	unsigned int hello_timeout_ms; /* 0: 10000 */
	unsigned int idle_timeout_ms;  /* without any frame; 0: 60000 */
	unsigned int ping_ms;	       /* 0: 10000 */
	/* What happens, one line each, for the program to print; may be called from any thread. */
	void (*log)(void *context, const char *line);
	void *log_context;
};

struct collector;

/* Listens when it returns; *ret then runs in threads of its own. */
int collector_start(struct collector **ret, const struct collector_options *o, struct error *e);
/* Commits what came, closes connections with a BYE, joins all threads. */
void collector_stop(struct collector *c);
DEFINE_CLEANUP(collector, collector_stop)

struct store *collector_store(struct collector *c);
struct registry *collector_registry(struct collector *c);

/* The ports in use, for ":0". */
uint16_t collector_port(const struct collector *c);
uint16_t collector_http_port(const struct collector *c);
bool collector_http_is_secure(const struct collector *c);

/* For /metrics and the live line. */
struct collector_counters {
	uint64_t connections, connections_now, refused;
	uint64_t frames, blocks, bytes, events, func_events, duplicates;
	uint64_t commits, commit_ns, commit_errors;
	uint64_t lost[LOSS_CAUSES];
	uint64_t waiting_bytes;
};
void collector_count(struct collector *c, struct collector_counters *ret);

#endif
