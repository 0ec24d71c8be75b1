/* SPDX-License-Identifier: MIT */
/*
 * connection: one device's socket in the loop of server.c, and the session on it. All of this
 * belongs to the loop's thread.
 *
 * A connection ends in two steps: after the session's BYE its sending side is shut, and what still
 * comes is read and thrown away for a short while, because a socket that is closed with unread bytes
 * resets the connection, and the peer would never see why.
 */
#ifndef KISEKI_COLLECTOR_CONNECTION_H
#define KISEKI_COLLECTOR_CONNECTION_H

#include <stdatomic.h>
#include <uv.h>

#include "collector/committer.h"
#include "collector/endpoint.h"
#include "collector/guard.h"
#include "collector/objects.h"
#include "collector/server.h"
#include "collector/session.h"
#include "collector/wheel.h"

/* Of one device: its agent, and recorders beside it. */
#define DEVICE_CONNECTIONS_MAX 32U
/* What may be held of frames that are not whole: of one device, and of all. */
#define DEVICE_HELD_MAX (4U << 20)
#define SERVER_HELD_MAX (256U << 20)

/* With keys, so much is read at once: in what it says there may be the end of a record before it. */
#define GUARD_READ_MAX (SESSION_READ_MAX - CHANNEL_RECORD_MAX)

/* Written by the loop's thread alone, read by any. */
struct loop_counters {
	atomic_uint_fast64_t connections, connections_now, refused;
	atomic_uint_fast64_t frames, blocks, bytes, events, func_events, duplicates;
	atomic_uint_fast64_t lost[LOSS_CAUSES];
};

/* What a device has of what all share, by its place in the registry. */
struct place {
	struct connection *agent;
	uint32_t connections;
	uint64_t held;
};

struct server {
	struct server_options o;
	uv_loop_t loop;
	uv_tcp_t listener;
	uv_async_t wake;
	uv_mutex_t wake_lock; /* other threads wake the loop while it can be woken */
	bool can_wake;
	uv_timer_t timer;
	uv_thread_t thread;
	uint16_t port;
	struct committer *committer;
	struct keys *keys; /* NULL: none */
	uint64_t last_guard_ms;
	struct session_env env;
	struct wheel wheel;
	struct connection *connections; /* all */
	struct connection *waiting;	/* for a commit */
	struct connection *ready;	/* oldest first: have yielded, and want another turn */
	struct connection *last_ready;
	uint32_t n_ready;
	uv_idle_t idle;	      /* while there are any */
	uv_prepare_t prepare; /* counts turns */
	uint64_t turn;	      /* of the loop */
	uint64_t held;	      /* bytes, of all connections */
	struct place *places; /* of the registry */
	uint32_t n_places;
	uint32_t n_connections;
	uint64_t sessions; /* the last number */
	uint64_t last_second_ms;
	bool stopping, finishing;
	bool turns_away;  /* connections could not be taken, and that was said */
	bool has_caller;  /* one waits at the listener for memory */
	int reserve_fd;	  /* to take one and close it where no file is left; < 0: none */
	uint64_t stop_ms; /* when it stops waiting for a commit */
	atomic_bool stop;
	atomic_uint_fast64_t durable;
	struct loop_counters counters;
	uint8_t buffer[SESSION_READ_MAX];
	uint8_t plain[SESSION_READ_MAX]; /* what that says, with keys */
};

struct connection {
	uv_tcp_t tcp;
	struct server *server;
	struct session session;
	struct guard guard;
	struct wheel_entry deadline;
	struct connection *next, *prev;
	struct connection *next_waiting, *prev_waiting;
	struct connection *next_ready, *prev_ready;
	struct message_id device, boot;
	uint32_t slot; /* in the registry, if is_known */
	uint8_t paces; /* 1 << enum config_pace_of: a recorder that can be told how to pace itself */
	bool is_beside; /* a recorder, not the agent */
	bool is_known;	/* it has said HELLO */
	bool has_slot, reading, greeted, lingering, closing, broken, is_waiting;
	bool has_objects;	/* it may be asked for them */
	bool paused;		/* not read for want of room in the batch */
	bool is_ready;		/* in the list of these */
	bool has_place;		/* slot is a place where it counts */
	bool is_late;		/* its time is over, but what it sent may not have been read */
	uint64_t late_turn;	/* since then */
	uint64_t turn;		/* when it last took anything */
	uint64_t held;		/* as the server counts it, */
	uint64_t held_ms;	/* of a frame that is in part since then */
	uint64_t since_ms;	/* it came, or began to linger */
	uint64_t last_frame_ms; /* a whole one */
	uint64_t frames_seen;
	uint64_t next_ping_ms;
	uint64_t asked_ms;     /* when it was, because another wants its place; 0: never */
	uint64_t asked_frames; /* that it had sent by then */
	struct registry_traffic traffic;  /* since the registry was told */
	uint32_t run;			  /* the last that had a block of the scheduler's events, */
	uint32_t func_run;		  /* and of calls; 0: none */
	uint32_t boot_run;		  /* and of a boot; likewise */
	uint32_t sent[REGISTRY_SENT_MAX]; /* of them, as the registry was told */
	char name[STORE_NAME_MAX];
	char address[ENDPOINT_TEXT_MAX];
};

/* What the sessions need of us: ingest.c. */
extern const struct session_ops ingest_ops;

/* Takes a connection that waits at the listener. False: there is no memory, and it waits on. */
bool connection_accept(struct server *s);
/* After anything that may have changed the session: reads on or not, waits, says goodbye. */
void connection_settle(struct connection *c);
/* Counts it among those of its device. Too many: -EUSERS, and e says so. */
int connection_take_place(struct connection *c, uint32_t slot, struct error *e);
/* A commit ended. */
void connection_commit(struct connection *c, uint64_t durable);
void connection_deadline(struct connection *c);
void connection_push_traffic(struct connection *c);
void connection_close(struct connection *c);

/* What the session says; and what goes over the wire. */
void connection_send(struct connection *c, const uint8_t *bytes, size_t len);
void connection_send_raw(struct connection *c, const uint8_t *bytes, size_t len);
__attribute__((format(printf, 2, 3))) void connection_log(const struct connection *c,
							  const char *fmt, ...);

uint64_t server_now_ms(const struct server *s);
struct session_now session_clock_now(void);

#endif
