/* SPDX-License-Identifier: MIT */
/*
 * vm_recorder: from a source's records to blocks: a lane for each CPU, and the description of who was there.
 *
 * The kernel's side tells who ran, but not which code lies where. Names of processes are told at the start, and what a process
 * has mapped is read when the first sample shows that it is needed: of one that was there before it holds from
 * the start on. The names of the kernel's functions that were seen come at the end.
 *
 * All memory is there before it starts. It never waits.
 */
#ifndef KISEKI_DEVICE_VM_VM_RECORDER_H
#define KISEKI_DEVICE_VM_VM_RECORDER_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/profile/pace.h"
#include "device/vm/vm_source.h"
#include "wire/block_out.h"

struct told_objects;
struct vm_recorder;
struct vm_guests;

struct vm_recorder_options {
	const struct vm_settings *settings; /* borrowed, as are all of these */
	struct vm_source *source;
	struct block_out *out;
	struct told_objects *told; /* is told of mappings, too; NULL: nobody */
	const char *name;	   /* of this machine */
	struct pace_options pace;
	bool is_live;		  /* somebody reads along */
	struct vm_guests *guests; /* NULL: nobody listens to guests */
};

struct vm_counts {
	uint64_t samples, guests; /* guests: samples in one */
	uint64_t events;	  /* all others */
	uint64_t lost;
	uint64_t used_ns;     /* what the source's records took inside the kernel */
	uint64_t undescribed; /* blocks of the description that had no room */
};

int vm_recorder_new(struct vm_recorder **ret, const struct vm_recorder_options *o, struct error *e);
void vm_recorder_free(struct vm_recorder *r);
DEFINE_CLEANUP(vm_recorder, vm_recorder_free)

/* Puts the description and lets the source start. */
int vm_recorder_start(struct vm_recorder *r, struct error *e);

/* Takes what it has by now. */
int vm_recorder_turn(struct vm_recorder *r, struct error *e);

/* Another pace from the next turn on, as a collector says it. -EOPNOTSUPP: it samples by cycles. */
int vm_recorder_set_pace(struct vm_recorder *r, const struct message_config *c, struct error *e);

/* Its source has nothing to be waited for. */
bool vm_recorder_is_paused(const struct vm_recorder *r);

/* How long the next turn may be waited for, of which `ms` are usual. */
int vm_recorder_wait_ms(const struct vm_recorder *r, int ms);

/* Lets it stop, takes the rest, and puts the names of the kernel's functions and the description as it is known now.
 * It is complete if nobody had to say that it should end. */
int vm_recorder_stop(struct vm_recorder *r, bool is_complete, struct error *e);

void vm_recorder_get_counts(const struct vm_recorder *r, struct vm_counts *ret);

#endif
