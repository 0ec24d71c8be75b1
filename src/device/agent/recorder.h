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

#include "base/error.h"
#include "wire/loss.h"
#include "wire/sched_event.h"

struct recorder;

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
