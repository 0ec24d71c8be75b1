/* SPDX-License-Identifier: MIT */
/*
 * line: the connection to the collector, as whoever speaks the protocol sees it: dialled (dial.h), and
 * secured (tls.h) where the device has keys. It never waits.
 *
 * Keys are looked for at each attempt, so those that came meanwhile are used. When the certificate is
 * old, a child process gets the next one.
 */
#ifndef KISEKI_DEVICE_AGENT_LINE_H
#define KISEKI_DEVICE_AGENT_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/error.h"

struct line;

struct line_options {
	const char *collector; /* HOST:PORT, or as dial.h has it; borrowed, as are all */
	const char *name;      /* the agent's */
	const char *state_dir;
	bool is_for_driver; /* it will be taken */
};

int line_new(struct line **ret, const struct line_options *o, struct error *e);
void line_free(struct line *l);
DEFINE_CLEANUP(line, line_free)

/* As dial_open(): 1: connected, and secure if it has to be. */
int line_open(struct line *l, uint64_t now_ms, struct error *e);
void line_close(struct line *l);

/* The socket of a connection, for somebody else to speak on; the caller closes it. Where the line is
 * secure it is the kernel who speaks TLS on it from then on. The line still sees to the certificate,
 * until it is closed. Negative: it cannot be had, and the line is to be closed. */
int line_take(struct line *l, struct error *e);

/* As recv() and send(), but -errno; -EAGAIN: not now. */
ssize_t line_recv(struct line *l, void *out, size_t room);
ssize_t line_send(struct line *l, const void *bytes, size_t len);

int line_fd(const struct line *l);
short line_events(const struct line *l);  /* that an attempt waits for */
uint64_t line_next(const struct line *l); /* when to go on with an attempt; UINT64_MAX: none */
bool line_is_secure(const struct line *l);
bool line_is_local(const struct line *l);   /* the other end is on this machine, or a tunnel's */
bool line_has_unread(const struct line *l); /* the socket does not show it */
bool line_is_spent(const struct line *l);   /* a given socket, and it is gone */

/* What time it is by the collector's clock. A device may have none that is right, and it is the
 * collector who says when a certificate has ended. */
void line_set_time(struct line *l, uint64_t realtime_ns, uint64_t now_ms);

/* Sees to the certificate; true: there is a new one, so connect again. */
bool line_renew(struct line *l, uint64_t now_ms);
/* Whether it is renewed because it was made while the collector's clock was ahead, as that says now. */
bool line_is_ahead(const struct line *l, uint64_t now_ms);
uint64_t line_next_renewal(const struct line *l, uint64_t now_ms); /* when to do so again */

#endif
