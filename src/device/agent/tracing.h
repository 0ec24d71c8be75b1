/* SPDX-License-Identifier: MIT */
/*
 * tracing: one run, from the source through filter and recorder into the spool.
 *
 * It is on or off. A run begins afresh, or goes on where an agent before this one died: then origin
 * and configuration are those that the spool has kept, so that the kernel's part and ours agree.
 * The order of things at the start is what makes a death at any point harmless: the source is made
 * ready, the run and its description are put into the spool, and only then does the kernel record.
 */
#ifndef KISEKI_DEVICE_AGENT_TRACING_H
#define KISEKI_DEVICE_AGENT_TRACING_H

#include "base/error.h"
#include "wire/message.h"

struct device_source;
struct device_source_ops;
struct event_filter;
struct memory;
struct recorder;
struct spool;

struct tracing {
	/* borrowed; set once */
	struct memory *memory;
	struct spool *spool;
	struct recorder *recorder;
	uint32_t cpus;
	const char *instance; /* what the kernel's part is called */
	/* of the run */
	uint8_t origin;		      /* enum trace_origin */
	uint32_t resolution_shift;    /* a tick has so many ns, as a power of two */
	struct message_config config; /* with the resolution that it has, not the one asked for */
	uint64_t refreshed_ms, checked_ms;
	struct event_filter *filter;
	struct device_source *source; /* NULL: off */
};

/* Bits of enum trace_origin: what this machine can do. Those that are known are not tried again. */
uint32_t tracing_origins(uint32_t known);

int tracing_start(struct tracing *t, const struct message_config *c, struct error *e);

/* Goes on with the spool's current run; *ret_config is what it records. -ENOENT: there is none. If
 * what the kernel had of it is gone, the run is left as it is. */
int tracing_resume(struct tracing *t, struct message_config *ret_config, struct error *e);

/* Takes what the kernel has. 1: it has much, come again soon. After a failure what could not be read is
 * still there: it may be tried again, and if that does not help the run should be stopped. */
int tracing_drain(struct tracing *t, uint64_t now_ms, struct error *e);

/* Ends the run and puts its end into the spool. Off afterwards, even if that failed. What the kernel still has
 * and does not give is told as lost. */
int tracing_stop(struct tracing *t, struct error *e);

/* Off, and the kernel goes on recording for the next agent. */
void tracing_leave(struct tracing *t);

int tracing_wake_fd(const struct tracing *t); /* readable: a ring fills up; or -1 */

#endif
