/* SPDX-License-Identifier: MIT */
/*
 * agent: the loop that holds the program together.
 *
 * One thread sleeps until a timer, the socket, a source whose ring fills up, or a signal wakes it.
 * While it traces, the timer comes ten times a second; each time it takes what the kernel has,
 * and sends what became a block. The acknowledgements of the collector do not wake it then: it
 * reads them with the next tick (SO_RCVLOWAT is above the size of an ACK and below that of a PING,
 * which must be answered at once). So a device that traces wakes up ten times a second, and one
 * that does not, for the protocol alone.
 *
 * What to do (trace or not, and what) comes from the settings, then from the collector. If tracing
 * is wanted and cannot be had, it is tried again every RETRY_MS.
 */
#ifndef KISEKI_DEVICE_AGENT_AGENT_H
#define KISEKI_DEVICE_AGENT_AGENT_H

#include "base/cleanup.h"
#include "base/error.h"

struct agent;
struct settings;

struct agent_options {
	const struct settings *settings; /* borrowed */
	void (*log)(void *context, const char *line);
	void *log_context;
};

int agent_new(struct agent **ret, const struct agent_options *o, struct error *e);
void agent_free(struct agent *a);
DEFINE_CLEANUP(agent, agent_free)

/* Until a signal ends it, or a connection that was given to it and is over. */
int agent_run(struct agent *a, struct error *e);

#endif
