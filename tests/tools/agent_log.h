/* SPDX-License-Identifier: MIT */
/*
 * agent_log: a collector's disk, for agents that are killed: frames in memory that parent and child
 * share. Its length is stored behind the bytes; what it has when a child dies is what arrived.
 */
#ifndef KISEKI_TESTS_AGENT_LOG_H
#define KISEKI_TESTS_AGENT_LOG_H

#include "device/agent/spool.h"
#include "tools/agent_ledger.h"

#define AGENT_LOG_BYTES (8U << 20)

struct agent_log {
	uint32_t len;
	uint32_t working; /* for the child to say how far it came */
	uint8_t bytes[AGENT_LOG_BYTES];
};

struct agent_log *agent_log_new(void);
void agent_log_free(struct agent_log *l);

/* The spool's next entry; false if there is none, or no room. */
bool agent_log_send(struct agent_log *l, struct spool *s);

/* Everything in it, into the ledger; it is empty then. */
void agent_log_read(struct agent_log *l, struct ledger *to);

#endif
