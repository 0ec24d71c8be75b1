/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compressor: the probes of the scheduler's tracepoints, and a lane for each CPU behind them.
 *
 * A probe runs on the CPU where the event happened, makes the record, asks the filter, and gives it to
 * the CPU's lane with interrupts off: some tracepoints fire with interrupts on, and an interrupt
 * that wakes a task must not find the lane half changed. Nothing is shared between CPUs. When a lane
 * is half full, an irq_work wakes the exporter: a probe may hold the run queue's lock and must
 * not wake anybody itself.
 *
 * All memory is taken at load: for each possible CPU `memory` bytes, of which the lane's state comes
 * first (about 149 KiB) and the rest is its export buffer.
 */
#ifndef KISEKI_DEVICE_DRIVER_COMPRESSOR_H
#define KISEKI_DEVICE_DRIVER_COMPRESSOR_H

#include "device/driver/core/lane.h"
#include "device/driver/counter.h"

struct compressor;

struct compressor_options {
	u32 memory;		     /* bytes of each CPU */
	void (*wake)(void *context); /* from an irq_work: a lane is half full */
	void *context;
	const struct counter *counter;
};

/* -ENOMEM; -EINVAL: too little memory for a lane; -ENOENT: this kernel has no sched_switch. */
int compressor_new(struct compressor **ret, const struct compressor_options *o);
void compressor_free(struct compressor *c); /* takes NULL; stops first */

/* Which of the events this kernel has: 1 << enum sched_kind. */
u32 compressor_kinds(const struct compressor *c);
const struct sched_dialect *compressor_dialect(const struct compressor *c);

/* Starts the lanes anew and registers the probes of config->events (0: all there are). -ENOENT: a
 * cgroup of the filter is not there. `run`: the small number that entries carry. */
int compressor_start(struct compressor *c, const struct message_config *config, u8 codec, u32 run);

/* When it returns, no probe runs, and all that was recorded is in the export buffers. */
void compressor_stop(struct compressor *c);
bool compressor_is_running(const struct compressor *c);

/* Ends the blocks that have waited for `age_ns`, or `few_age_ns` if there is little in them, of CPUs on
 * which nothing happens; only those are interrupted. May sleep. */
void compressor_flush(struct compressor *c, u64 age_ns, u64 few_age_ns);

/* That were found in this run, all CPUs together. */
u64 compressor_events(const struct compressor *c);

/* Borrowed; for every possible CPU, NULL for the others. */
struct lane *compressor_get_lane(struct compressor *c, u32 cpu);

/* Time spent, where `profile` was asked for: in the probes all in all, and of it in the encoder's
 * output (ending blocks). Nanoseconds, summed over the CPUs. */
struct compressor_profile {
	u64 probe_ns, block_ns;
	u64 longest_ns; /* of one probe: so long interrupts were off for our sake */
};

void compressor_set_profile(struct compressor *c, bool on);
void compressor_get_profile(const struct compressor *c, struct compressor_profile *ret);

/* Before the counter is chosen anew, while no probe runs: the sums stay what they are in ns. */
void compressor_keep_profile(struct compressor *c);

u64 compressor_memory(const struct compressor *c);

#endif
