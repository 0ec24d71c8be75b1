/* SPDX-License-Identifier: MIT */
/*
 * bpf_record: a record of the BPF programs (src/device/bpf/sched_record.h) as an event.
 */
#ifndef KISEKI_DEVICE_AGENT_BPF_RECORD_H
#define KISEKI_DEVICE_AGENT_BPF_RECORD_H

#include "wire/dialect.h"
#include "wire/sched_event.h"

/* The record's bytes, aligned to eight as they are in a ring; the event's filename points into
 * them. Its tick is in nanoseconds. false: no program of this version made it. */
bool bpf_record_decode(struct sched_event *ret, const void *record, uint32_t len,
		       const struct sched_dialect *d);

/* Events were dropped between the record before and this one. */
bool bpf_record_has_loss(const void *record);

#endif
