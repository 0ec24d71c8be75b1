/* SPDX-License-Identifier: MIT */
/*
 * side_link: the connection of a recorder beside the agent, of a boot or of a profile, with the collector: what the
 * spool has goes there when there is a network, and leaves the spool when it is acknowledged. The protocol is the
 * agent's (agent/uplink.h), and so is the identity of the device, or the driver's where that is in the kernel: what it
 * brings stands beside the device's other traces.
 *
 * Instructions are refused, unless it can change its pace: it records what it was started for.
 */
#ifndef KISEKI_DEVICE_AGENT_SIDE_LINK_H
#define KISEKI_DEVICE_AGENT_SIDE_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "wire/message.h"

struct spool;
struct side_link;

/* Files that the collector may ask for; NULL functions: none. */
struct side_link_objects {
	void *context;
	void (*want)(void *context, const struct message_want *m);
	/* As uplink_hooks.piece. */
	uint32_t (*piece)(void *context, uint8_t *body, uint64_t now_ms);
	/* When there will be one, if not now; UINT64_MAX: when it is asked for. */
	uint64_t (*next)(void *context);
	bool anywhere; /* also to a collector that is not on this machine */
};

/* What it can be told while it records; NULL: nothing. */
struct side_link_orders {
	void *context;
	int (*take)(void *context, const struct message_instruction *m, struct error *e);
	uint32_t abilities; /* which these are */
};

struct side_link_options {
	struct spool *spool;   /* borrowed, as are the texts */
	const char *collector; /* HOST:PORT */
	const char *name;      /* "" the host name */
	const char *state_dir;
	uint32_t entry_max; /* the largest body of a spool's entry */
	const char *who;    /* "the recorder of a boot" */
	const char *bye;    /* the last words */
	struct side_link_objects objects;
	struct side_link_orders orders;
};

/* Needs the root that init will have: names of hosts and the device's identity are files in it. */
int side_link_new(struct side_link **ret, const struct side_link_options *o, struct error *e);
void side_link_free(struct side_link *l);
DEFINE_CLEANUP(side_link, side_link_free)

/* Goes on. is_recording: what the collector is told. Something that failed is in e, once, and is tried again:
 * -EAGAIN. */
int side_link_turn(struct side_link *l, uint64_t now_ms, bool is_recording, struct error *e);

/* Says what the recorder has done. */
void side_link_tell(struct side_link *l, const struct message_status *m);

int side_link_fd(const struct side_link *l);
short side_link_events(struct side_link *l);
uint64_t side_link_next(const struct side_link *l); /* ms */
bool side_link_is_welcome(const struct side_link *l);

/* The last words, if there is somebody. */
void side_link_bye(struct side_link *l, uint64_t now_ms);

#endif
