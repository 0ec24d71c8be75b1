/* SPDX-License-Identifier: MIT */
/*
 * boot_clock: what the clock of a trace lacks to the CLOCK_MONOTONIC of a boot.
 *
 * A driver stamps with the kernel's own clock, not with CLOCK_MONOTONIC; what both know is the real time. But a machine
 * without a battery thinks of 1970 until it has asked somebody, and so the real time is set in the middle of the boot. The
 * trace says what it was when the trace began, and the boot what it was at each time: the one that counts is the one which
 * was in force when, going by it, the trace began.
 *
 * Where one of them does not say it, both may have been measured by a collector against its own real time. That is less
 * exact, by the time that a message takes.
 */
#ifndef KISEKI_ANALYSIS_BOOT_CLOCK_H
#define KISEKI_ANALYSIS_BOOT_CLOCK_H

#include "analysis/boot.h"
#include "trace/source.h"

/* It is CLOCK_MONOTONIC itself. */
bool boot_clock_is_same(const struct trace_clock *c);

/* When its first event was, on its own clock; 0 if it has none. The source is at its start afterwards. */
int boot_clock_get_start(struct trace_source *sched, uint64_t *ret_ns, struct error *e);

/* What has to be added to nanoseconds of a clock whose trace began at start_ns. False: nobody knows. */
bool boot_clock_join(const struct boot *b, const struct trace_clock *c, uint64_t start_ns,
		     uint64_t *ret_add_ns);

#endif
