/* SPDX-License-Identifier: MIT */
/*
 * agent_state: what the parts of the agent share: agent.c is the loop, agent_link.c the connection,
 * agent_control.c what the collector wants and what it is told, agent_func.c the traced programs.
 */
#ifndef KISEKI_DEVICE_AGENT_AGENT_STATE_H
#define KISEKI_DEVICE_AGENT_AGENT_STATE_H

#include "device/agent/agent.h"
#include "device/agent/identity.h"
#include "device/agent/line.h"
#include "device/agent/memory.h"
#include "device/agent/recorder.h"
#include "device/agent/settings.h"
#include "device/agent/spool.h"
#include "device/agent/tracing.h"
#include "device/agent/uplink.h"
#include "device/feed/func_feed.h"

#define TICK_MS 100U
#define SOON_MS 10U /* when a ring was more than half full */
#define RETRY_MS 10000U
#define PATIENCE_MS 3000U /* with a kernel that does not give what it recorded */
#define STATUS_MS 1000U
#define STATUS_IDLE_MS 10000U
#define LAST_MS 3000U	  /* to send the rest when the agent ends */
#define STAGING_SLOTS 32U /* pages of each CPU that are read and not yet in blocks */
#define SYNC_MS 1000U	  /* a spool on a disk */

struct agent {
	struct agent_options o;
	struct identity identity;
	char instance[SETTINGS_NAME_MAX + 8];
	struct message_config config; /* what is traced, or would be */
	bool wanted;		      /* to trace */
	struct error failure;	      /* why it does not */
	uint64_t failing_ms;	      /* since when the kernel gives nothing; 0: it does */
	struct error disk_failure;    /* the last of the spool's disk that was logged */
	uint32_t ring_most_kib;	      /* that a collector may ask for, for each CPU */
	uint32_t origins;	      /* bits of the sources that this machine can use */
	struct memory *memory;
	struct spool *spool;
	struct recorder *recorder;
	struct tracing tracing;
	struct func_feed *feed;	   /* of traced programs; NULL: there is no socket for them */
	struct error feed_failure; /* the last that was logged */
	struct told_objects *told; /* files of traced programs; NULL: none are sent */
	struct line *line;
	struct uplink *uplink;
	struct error link_failure; /* the last that was logged */
	int timer, signals, statm;
	int low_mark; /* of the socket */
	bool is_ending, is_over;
	uint64_t now_ms;
	uint64_t armed_ms;			       /* what the timer is set to */
	uint64_t tick_ms, status_ms, retry_ms, end_ms; /* when each is due */
	uint64_t wakeups;
};

__attribute__((format(printf, 2, 3))) void agent_log(const struct agent *a, const char *fmt, ...);
bool agent_is_tracing(const struct agent *a);
enum device_state agent_state(const struct agent *a);

/* --- agent_control.c --- */

/* Starts what is wanted; a failure is remembered, logged and tried again. */
int agent_start(struct agent *a, struct error *e);
int agent_stop(struct agent *a, struct error *e);

/* Goes on with what an agent before this one left, or starts if the settings say so. */
void agent_take_up(struct agent *a);

/* The uplink's hooks. */
int agent_instruct(void *context, const struct message_instruction *m, struct error *e);
void agent_clocks(void *context, uint64_t *ret_device_ns, uint64_t *ret_realtime_ns);

void agent_tell_status(struct agent *a);

/* --- agent_func.c --- */

/* Opens the socket for programs, if there is to be one; a failure is logged, and the agent does
 * without. */
void agent_open_feed(struct agent *a);

/* Takes what programs recorded, if it is time. */
void agent_turn_feed(struct agent *a);
void agent_answer_feed(struct agent *a);
uint64_t agent_next_feed(const struct agent *a);
int agent_feed_fd(const struct agent *a); /* -1: none */
bool agent_is_fed(const struct agent *a); /* there are programs that record */

/* Ends the run of calls, or leaves it to the next agent; there is no feed then. */
void agent_end_feed(struct agent *a, bool keep);

/* Whether programs are traced, as an instruction says. */
int agent_set_func(struct agent *a, const struct message_config *c, struct error *e);

/* Files of programs, if a collector may have them; before the uplink and the feed are made. */
void agent_make_told(struct agent *a);
/* The uplink's hooks for files of programs, and when there is a piece of one to send. */
void agent_want_object(void *context, const struct message_want *m);
uint32_t agent_put_piece(void *context, uint8_t *body);
uint64_t agent_next_piece(const struct agent *a);
uint32_t agent_object_ability(const struct agent *a); /* on this connection */

/* --- agent_link.c --- */

/* Connects, reads and writes as far as it goes without waiting. */
void agent_turn_link(struct agent *a);
void agent_drop_link(struct agent *a, const struct error *why);
uint64_t agent_next_link(const struct agent *a);
short agent_link_events(struct agent *a); /* of poll() */

#endif
