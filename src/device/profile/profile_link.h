/* SPDX-License-Identifier: MIT */
/*
 * profile_link: the blocks of a profile on their way to a collector, while it is recorded.
 *
 * They go through a spool (agent/spool.h) in memory, which keeps what the collector has not acknowledged, and over the
 * connection of a recorder beside the agent (agent/side_link.h). While there is no connection the spool fills up; then it
 * takes no more, and whoever puts counts what is missing where it is missing. The collector comes to the same
 * count by the headers, or by the run's end. A part of the spool is kept for the end: a recording can always be ended.
 *
 * It never waits, until profile_link_drain().
 */
#ifndef KISEKI_DEVICE_PROFILE_PROFILE_LINK_H
#define KISEKI_DEVICE_PROFILE_PROFILE_LINK_H

#include <poll.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "device/profile/profile_child.h"
#include "wire/block.h"
#include "wire/message.h"

#define PROFILE_LINK_SPOOL (4U << 20)
#define PROFILE_LINK_SPOOL_LEAST (512U << 10)
#define PROFILE_LINK_SPOOL_MOST (1U << 30)
#define PROFILE_LINK_OBJECTS_RATE (1U << 20)
#define PROFILE_LINK_STATE_DIR "/var/lib/kiseki-agent"

struct profile_link;

struct profile_link_options {
	const char *collector; /* HOST:PORT; borrowed, as are all texts */
	const char *name;      /* of the device; "": the host's */
	const char *state_dir;
	uint64_t spool_bytes;
	uint64_t objects_rate; /* bytes in a second of files that it asks for; 0: none are sent */
	bool objects_anywhere; /* also to a collector that is not on this machine */
	struct profile_link_pace {
		void *context;
		/* What is given of it; while it records. NULL: its pace cannot be changed. */
		int (*set)(void *context, const struct message_config *c, struct error *e);
		uint8_t of; /* enum config_pace_of */
	} pace;
};

int profile_link_new(struct profile_link **ret, const struct profile_link_options *o,
		     struct error *e);
void profile_link_free(struct profile_link *l);
DEFINE_CLEANUP(profile_link, profile_link_free)

/* To be told of mappings; NULL: no files are sent. Borrowed. */
struct told_objects *profile_link_get_told(struct profile_link *l);

/* As block_out.put(). */
int profile_link_put(struct profile_link *l, const struct block *b, uint8_t *payload, bool must);

/* A block of the stream is behind us, whether it was put or only others had room for it: what the end says. */
void profile_link_count(struct profile_link *l, const struct block *b);

/* What it waits for. */
struct pollfd profile_link_get_poll(struct profile_link *l);

/* Goes on with the connection. What is wrong with it is said once. */
void profile_link_turn(struct profile_link *l);

/* From now on the room for the end may be used. */
void profile_link_begin_end(struct profile_link *l);

/* Puts the run's end. */
int profile_link_end(struct profile_link *l, struct error *e);

/* Waits until the collector has everything, as long as it goes on, or a signal comes: -EAGAIN. */
int profile_link_drain(struct profile_link *l, struct profile_child *signals, struct error *e);

/* Of the blocks that were put. */
uint64_t profile_link_bytes(const struct profile_link *l);

#endif
