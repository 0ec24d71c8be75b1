/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probe: the kernel's tracepoints that are recorded, and the functions they call.
 *
 * Each kind of event has one tracepoint and one probe, which makes a struct sched_event with exactly
 * the fields that tracefs would show of it. Tracepoints are not exported to modules; they are
 * found by name in the list of all.
 */
#ifndef KISEKI_DEVICE_DRIVER_PROBE_H
#define KISEKI_DEVICE_DRIVER_PROBE_H

#include <linux/tracepoint-defs.h>
#include <linux/types.h>

#include "wire/dialect.h"
#include "wire/sched_event.h"

struct compressor;

struct probe_points {
	struct tracepoint *point[SCHED_KINDS]; /* NULL: this kernel has none */
	u32 open;			       /* 1 << enum sched_kind: with our probe on it */
};

void probe_points_init(struct probe_points *p);

/* 1 << enum sched_kind: what this kernel has. */
u32 probe_points_kinds(const struct probe_points *p);

/* Puts the probes of `kinds` on, for all of them or none. */
int probe_points_open(struct probe_points *p, u32 kinds, struct compressor *c);

/* Takes all off; when it returns, none runs. May sleep. */
void probe_points_close(struct probe_points *p, struct compressor *c);

/* What this kernel's events look like. */
void probe_get_dialect(struct sched_dialect *ret);

#endif
