/* SPDX-License-Identifier: MIT */
/*
 * profile_recorder: from the kernel's records to blocks: a lane for each CPU, and the description of who was there.
 *
 * Processes that come while it records are told by the kernel: their start, program, mappings and end. Of those that
 * were there before, the name is told at the start, and their mappings are read when the first sample, or
 * the first process that they make, shows that they are needed: of some hundred processes few ever run.
 *
 * All memory is there before it starts. It never waits.
 */
#ifndef KISEKI_DEVICE_PROFILE_PROFILE_RECORDER_H
#define KISEKI_DEVICE_PROFILE_PROFILE_RECORDER_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/profile/perf_events.h"
#include "wire/block_out.h"
#include "wire/message.h"

struct told_objects;
struct profile_recorder;

struct profile_recorder_options {
	const struct profile_settings *settings; /* borrowed, as are all of these */
	struct perf_events *events;
	struct block_out *out;
	struct told_objects *told; /* is told of mappings, too; NULL: nobody */
	const char *device;	   /* its name */
	pid_t command;		   /* 0: none */
	bool is_live;		   /* somebody reads along */
};

struct profile_counts {
	uint64_t samples, lost; /* lost: as far as it is known how many */
	uint64_t bytes;		/* of all blocks */
	uint64_t throttled;	/* times that the kernel did not let us */
	bool has_unknown;	/* some more are lost */
	uint64_t undescribed;	/* blocks of the description that had no room */
};

int profile_recorder_new(struct profile_recorder **ret, const struct profile_recorder_options *o,
			 struct error *e);
void profile_recorder_free(struct profile_recorder *r);
DEFINE_CLEANUP(profile_recorder, profile_recorder_free)

/* Puts the description and starts sampling. */
int profile_recorder_start(struct profile_recorder *r, struct error *e);

/* Takes what the rings have by now. */
void profile_recorder_turn(struct profile_recorder *r);

/* Another pace from the next turn on, as a collector says it; of all CPUs alone. */
void profile_recorder_set_pace(struct profile_recorder *r, const struct message_config *c);

/* How long the next turn may be waited for, of which `ms` are usual. */
int profile_recorder_wait_ms(const struct profile_recorder *r, int ms);

/* Stops sampling, takes the rest, and puts the names of the kernel's functions and the description as it is known now.
 * It is complete if nobody had to say that it should end. */
void profile_recorder_stop(struct profile_recorder *r, bool is_complete);

void profile_recorder_get_counts(const struct profile_recorder *r, struct profile_counts *ret);

#endif
