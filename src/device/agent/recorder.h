/* SPDX-License-Identifier: MIT */
/*
 * recorder: events of the CPUs into blocks, and the blocks into the spool.
 *
 * One encoder per CPU, all memory fixed when it is made. A block ends when its payload is full or
 * its oldest event has waited flush_ms; a nearly empty one may wait twice as long, because its
 * header would be the largest part of it. A new segment starts by bytes (64 KiB), after a loss
 * behind the encoder, and when the agent was started again.
 *
 * With every event comes the source's position behind it. When a block is in the spool, so is the
 * position, and the source is told that it may forget what was before. An agent that dies loses the
 * block it was filling and nothing else: the next one takes the events from the source again.
 */
#ifndef KISEKI_DEVICE_AGENT_RECORDER_H
#define KISEKI_DEVICE_AGENT_RECORDER_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/agent/source.h"
#include "device/agent/spool.h"
#include "wire/loss.h"
#include "wire/sched_event.h"

#define RECORDER_FLUSH_MS 100U	/* where the configuration says nothing */
#define RECORDER_BLOCK 16384U	/* bytes of payload, likewise */
#define RECORDER_SEGMENT 65536U /* bytes of payload between key blocks */
#define RECORDER_FEW 256U	/* bytes of payload that may wait twice as long */

struct recorder;

struct recorder_options {
	struct spool *spool; /* borrowed */
	const char *device;  /* its name, for the description */
	uint32_t cpus;	     /* possible ones: highest number + 1 */
};

int recorder_new(struct recorder **ret, const struct recorder_options *o, struct error *e);
void recorder_free(struct recorder *r);
DEFINE_CLEANUP(recorder, recorder_free)

/* What a run is made of. The source is open and not yet started; it is borrowed until the run is
 * stopped or another one begins. */
struct recorder_run {
	const struct message_config *config;
	struct device_source *source;
	uint8_t origin; /* enum trace_origin: which source that is */
	uint32_t resolution_shift;
};

/* A new run, with its description in the spool. */
int recorder_start(struct recorder *r, const struct recorder_run *run, struct error *e);

/* Goes on with the spool's current run: tells the source where each CPU goes on. */
int recorder_resume(struct recorder *r, const struct recorder_run *run, struct error *e);

/* After the CPUs were drained: puts the blocks that have waited long enough. now_ms is
 * CLOCK_MONOTONIC. */
void recorder_tick(struct recorder *r, uint64_t now_ms);

/* Puts what is there, and the run's end. The source was stopped and drained. */
int recorder_stop(struct recorder *r, struct error *e);

/* Puts the block of this CPU as it is: its source has no room to wait. */
void recorder_flush(struct recorder *r, uint32_t cpu);

/* Fills in what the recorder knows: events, lost, blocks, bytes. */
void recorder_get_status(const struct recorder *r, struct message_status *ret);

uint64_t recorder_get_fixed_bytes(const struct recorder *r);

/* The event is copied. `position`: the source's, behind it. Never fails: what has no room is
 * counted. */
void recorder_take(struct recorder *r, uint32_t cpu, const struct sched_event *ev,
		   uint64_t position);

/* The source's position moved over something that is no event: filtered, or of another kind. */
void recorder_pass(struct recorder *r, uint32_t cpu, uint64_t position);

/* Events are missing here. `ring_total`: what the kernel has counted on this CPU in all. */
void recorder_lose(struct recorder *r, uint32_t cpu, enum loss_cause cause, uint64_t count,
		   uint64_t ring_total);

/* The block's losses as far as the kernel counted them, for the source to compare with. */
uint64_t recorder_ring_total(const struct recorder *r, uint32_t cpu);

#endif
