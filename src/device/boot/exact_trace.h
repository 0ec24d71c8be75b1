/* SPDX-License-Identifier: MIT */
/*
 * exact_trace: the scheduler's events beside the samples, in the same process, spool and file: the agent's tracing
 * (agent/tracing.h), with ticks of a nanosecond, as the boot chart's are.
 *
 * tracefs may not be mounted yet, so the start is tried again for a while.
 */
#ifndef KISEKI_DEVICE_BOOT_EXACT_TRACE_H
#define KISEKI_DEVICE_BOOT_EXACT_TRACE_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/boot/boot_settings.h"

#define EXACT_TRACE_SLOTS 32U /* pages of each CPU that are read and not yet in blocks */
#define EXACT_TRACE_PATIENCE_MS 10000U

struct memory;
struct spool;
struct exact_trace;

struct exact_trace_options {
	const struct boot_settings *settings; /* borrowed, as all */
	struct memory *memory;
	struct spool *spool;
	const char *device;
	uint32_t cpus;
};

int exact_trace_new(struct exact_trace **ret, const struct exact_trace_options *o, struct error *e);
void exact_trace_free(struct exact_trace *x);
DEFINE_CLEANUP(exact_trace, exact_trace_free)

/* Begins, or takes what the kernel has. -EAGAIN: it could not begin yet; else it is over, and e says why. */
int exact_trace_turn(struct exact_trace *x, uint64_t now_ms, struct error *e);
int exact_trace_stop(struct exact_trace *x, struct error *e);

bool exact_trace_is_on(const struct exact_trace *x);
uint64_t exact_trace_next(const struct exact_trace *x); /* ms */
int exact_trace_fd(const struct exact_trace *x);

/* Loads the driver that the settings name, with its parameters, and tells it which boot this is. proc: a descriptor of /proc. */
int exact_trace_load(const struct boot_settings *s, int proc, struct error *e);

#endif
