/* SPDX-License-Identifier: MIT */
/*
 * boot_exact: the scheduler's events of the same boot, laid over its chart.
 *
 * Every run, every wait for a CPU, every sleep and D wait becomes a span to the tick, with who ended it.
 * Processes that the sampler missed come in; starts and ends become those of the events. Threads are laid
 * together: a process runs while any of its threads does, else is runnable while any is, else waits for the
 * disk while any does. Where the scheduler's trace lost events, spans are BOOT_UNKNOWN and there is a gap.
 * Outside of the time that it covers, what samples say stays.
 */
#ifndef KISEKI_ANALYSIS_BOOT_EXACT_H
#define KISEKI_ANALYSIS_BOOT_EXACT_H

#include "analysis/boot.h"
#include "trace/source.h"

/* -EXDEV: the clocks have nothing in common. The source is borrowed. */
int boot_make_exact(struct boot *b, struct trace_source *sched, struct error *e);

/* A boot of which there is nothing but the scheduler's trace. */
int boot_new_from_sched(struct boot **ret, struct trace_source *sched, struct error *e);

#endif
