/* SPDX-License-Identifier: MIT */
/*
 * server: the connections of all devices: one thread with a libuv loop, and the committer.
 *
 * It listens, reads, gives what came to the sessions (session.h), and what they put to the store. A
 * commit's end comes back as a wake-up of the loop, which then acknowledges and lets go on those
 * that had to wait.
 *
 * A device that sends faster than the disk takes it is not read for a while, so that TCP slows it
 * down; the others go on. An idle connection holds no buffer: reads go into one that all share.
 */
#ifndef KISEKI_COLLECTOR_SERVER_H
#define KISEKI_COLLECTOR_SERVER_H

#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "collector/registry.h"
#include "store/store.h"

struct objects;
struct server;

struct server_options {
	struct sockaddr_storage address;
	struct store *store;
	struct registry *registry;
	struct objects *objects; /* what devices are asked for; NULL: nothing */
	uint32_t connections_max;
	uint64_t device_bytes_max;
	uint64_t batch_bytes; /* what may wait for a commit, of all devices */
	const char *keys;     /* the folder of keys; NULL: there are none */
	bool plain_loopback;  /* with keys, too, plain frames are taken from loopback */
	unsigned int commit_ms, hello_timeout_ms, idle_timeout_ms, ping_ms;
	void (*log)(void *context, const char *line); /* from the threads of the server */
	void *log_context;
};

struct server_counters {
	uint64_t connections, connections_now, refused;
	uint64_t frames, blocks, bytes, events, func_events, duplicates;
	uint64_t commits, commit_ns, commit_errors;
	uint64_t lost[LOSS_CAUSES]; /* that blocks told of */
};

/* Listens when it returns. */
int server_start(struct server **ret, const struct server_options *o, struct error *e);
/* There are questions to be sent; from any thread. */
void server_wake(struct server *s);
/* Commits what came and acknowledges it, says BYE to all, joins the threads. */
void server_stop(struct server *s);
DEFINE_CLEANUP(server, server_stop)

uint16_t server_port(const struct server *s);
void server_count(struct server *s, struct server_counters *ret);

#endif
