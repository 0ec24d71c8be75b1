/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compressor_state: what compressor.c and its probes (probe.c) share; nobody else includes it.
 *
 * Each possible CPU has one piece of memory: a struct compressor_cpu, and behind it its export buffer.
 * Its CPU alone writes into it, with interrupts off.
 */
#ifndef KISEKI_DEVICE_DRIVER_COMPRESSOR_STATE_H
#define KISEKI_DEVICE_DRIVER_COMPRESSOR_STATE_H

#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/seqlock.h>

#include "device/driver/compressor.h"
#include "device/driver/filter.h"
#include "device/driver/probe.h"

struct compressor_cpu {
	struct compressor *owner;
	struct irq_work work; /* wakes the exporter */
	seqcount_t profiled;  /* odd while the three change */
	u64 probe_ticks, block_ticks, longest_ticks;
	struct sched_event event; /* the one that the probe is at; what no kind uses stays 0 */
	struct lane lane;
};

struct compressor {
	struct compressor_options options;
	struct mutex lock; /* of starting, stopping and flushing */
	struct probe_points points;
	struct sched_dialect dialect;
	struct task_filter filter;
	bool is_running;
	bool is_open; /* all probes are on: all kinds of events begin and end at one moment */
	bool profile;
	struct compressor_profile kept; /* of counters before this one */
	struct compressor_cpu *cpus[];	/* nr_cpu_ids */
};

#endif
