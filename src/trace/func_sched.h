/* SPDX-License-Identifier: MIT */
/*
 * func_sched: calls with what the scheduler did to their threads, on one axis of time.
 *
 * Out of the scheduler's events of the same machine (switches and wakings of threads that have
 * calls) it makes OS records and lays them between the calls of their thread:
 *
 *	SWITCH_IN   value: the CPU
 *	SWITCH_OUT  value: the state as the event has it; 0 if it has no letter but R: preempted
 *	WAKING      value: pid of who woke it; of the kinds waking, wakeup and wakeup_new the first
 *	            that the trace has counts, since one wakeup may be told by two of them
 *
 * They begin with a thread's first call, for it ran then, and end with its exit. A tid that several
 * threads had one after the other is that of the one that called last. What the scheduler's trace
 * lost comes as a loss `os_only` of each thread that was alive, or began while it lasted: any of them
 * may have run.
 *
 * A thread that has records of its own, from an agent that watched it (FUNC_OS_WATCH), keeps these and
 * gets no others: they also have its system calls.
 *
 * Ticks are those of the calls. The scheduler's clock must be CLOCK_MONOTONIC ("mono"), or both must
 * know the real time.
 */
#ifndef KISEKI_TRACE_FUNC_SCHED_H
#define KISEKI_TRACE_FUNC_SCHED_H

#include "trace/func_source.h"

/* What the scheduler's nanoseconds lack to those of the calls' clock, modulo 2^64. -EXDEV. */
int func_sched_offset(const struct trace_clock *calls, const struct trace_clock *sched,
		      uint64_t *ret_ns, struct error *e);

/* Takes both, also when it fails. -EXDEV: their clocks have nothing in common. */
int func_sched_new(struct func_source *calls, struct trace_source *sched, struct func_source **ret,
		   struct error *e);

#endif
