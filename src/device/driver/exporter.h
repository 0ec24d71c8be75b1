/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exporter: the thread that sends what the CPUs recorded, and listens to the collector.
 *
 * It runs every 100 ms while there is something to send to, half as often on a machine on which nothing
 * else happens, and when it is woken: a buffer is half full, the socket has something, somebody wrote to
 * sysfs. A turn never waits; it is done under the
 * driver's lock, which the files of sysfs take, too. Parts: exporter.c has the thread and its times,
 * exporter_link.c the connection, exporter_send.c what is sent from the export buffers.
 */
#ifndef KISEKI_DEVICE_DRIVER_EXPORTER_H
#define KISEKI_DEVICE_DRIVER_EXPORTER_H

#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/wait.h>

#include "device/driver/controller.h"
#include "device/driver/core/manifest.h"
#include "device/driver/core/session.h"
#include "device/driver/identity.h"
#include "device/driver/link.h"

/* Why the thread is woken: numbers of bits. */
enum exporter_signal {
	SIGNAL_LINK,	/* something about the socket */
	SIGNAL_HALF,	/* an export buffer is half full */
	SIGNAL_TOLD,	/* sysfs changed something */
	SIGNAL_NETWORK, /* an address has come */
	SIGNAL_GO_ON,	/* the last turn had more to do */
};

struct exporter_counts {
	u64 frames_sent, frames_acked;
	u64 bytes_sent;
	u64 connections; /* that were welcome */
	u64 wakeups;
	u64 thread_ns; /* of CPU that the thread has had up to its latest turn */
};

struct exporter {
	struct mutex lock; /* of all below, of the controller and the identity */
	struct controller controller;
	struct identity identity;
	struct session session;
	struct manifest manifest;
	struct link link;
	struct exporter_counts counts;

	struct task_struct *thread;
	wait_queue_head_t wait;
	unsigned long signals;				      /* 1 << enum exporter_signal */
	void (*notify)(void *context, bool state, bool link); /* without the lock */
	void *notify_context;
	struct notifier_block new_address, new_address6, power;

	/* The connection. */
	char collector[SETTINGS_TEXT_LEN]; /* empty: none, it waits for a socket */
	struct socket *handed;		   /* a socket that waits to be used */
	bool is_connecting, is_new_address;
	bool lacks_network; /* the last attempt found no way */
	bool was_welcome;
	bool is_starved; /* the window, or the manifest, is why nothing more is sent */
	u64 connect_ms;	 /* until when an attempt may last */
	u32 hello_runs[CONTROLLER_RUNS];
	char why[SESSION_WHY_LEN]; /* there is no connection */
	char logged[SESSION_WHY_LEN];
	u32 n_logged; /* lines about it since there was one */

	/* What is sent from export buffers. */
	u32 said_run;	 /* the collector thinks that blocks are of this; 0: of none */
	u32 ended_run;	 /* whose END was sent on this connection, the latest */
	u32 last_stream; /* whose turn it was */
	u32 *positions;	 /* of each stream: what is sent next */
	u8 *rest;	 /* of a frame that the socket took in part */
	u32 rest_at, rest_len, rest_size;

	/* Times, in ms. */
	u64 now_ms, tick_ms, status_ms, end_ms;
	u32 clock;	 /* the counter's generation that the connection knows */
	u64 tick_events; /* that there were at the last tick */
	bool is_ending, is_started;
	enum device_state told_state;
	enum session_phase told_phase;
	bool told_connecting;
};

/* The thread is made, and does not run yet. */
int exporter_init(struct exporter *e, struct compressor *compressor, struct counter *counter,
		  const struct settings *settings);

/* Starts to trace if it is wanted, and to work. */
void exporter_start(struct exporter *e, bool trace);

/* Ends tracing; if there is a connection, what is left is sent, for at most two seconds. */
void exporter_stop(struct exporter *e);
void exporter_done(struct exporter *e);

/* From any context. */
void exporter_signal(struct exporter *e, enum exporter_signal signal);

u64 exporter_memory(const struct exporter *e);

/* Of the whole driver, with the lock. */
void exporter_get_status(struct exporter *e, struct message_status *ret);

/* --- exporter_link.c, with the lock --- */

/* Goes on to a connection if it is time, reads what came. */
void exporter_turn_link(struct exporter *e);

/* Sends what it goes without waiting; the connection ends if that fails. */
void exporter_turn_send(struct exporter *e);
void exporter_drop(struct exporter *e, const char *why);
u64 exporter_next_link(const struct exporter *e);

/* -EINVAL. Empty: no address. */
int exporter_set_collector(struct exporter *e, const char *text);

/* A socket that exporter takes over from link_get_handed(). */
void exporter_hand(struct exporter *e, struct socket *sock);

/* --- exporter_send.c, with the lock --- */

/* 0, or the socket's error. */
int exporter_send(struct exporter *e);
void exporter_rewind(struct exporter *e);

/* Hooks of the session. */
void exporter_resume(void *context, u32 run, u32 stream, u64 next_sequence);
void exporter_acked(void *context, u64 frames);

#endif
