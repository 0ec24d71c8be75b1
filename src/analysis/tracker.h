/* SPDX-License-Identifier: MIT */
/*
 * tracker: follows every CPU and every task through a trace, and says how sure it is.
 *
 * The reports ask the same two things: who had this CPU from when to when, and how long did this
 * task wait until it ran. The tracker answers both by calling back, so that what is certain, what
 * is inferred and what is unknown is decided in one place (docs/reports.md has it in words).
 *
 * Time of a CPU is handed out as slices: without gap or overlap, from the first event of the trace
 * to the last one, whichever CPU they were on.
 *  - Between two recorded events of a CPU nothing but the recorded happened, unless a loss lies
 *    between them: then the stretch from the last event before the loss to the first one after it
 *    is SLICE_UNKNOWN, and the task that ran before it is counted to the last event before it.
 *  - An event names the task that ran (common_pid, or prev_pid of a switch). If that is not the
 *    task that should be running, a switch is missing: the named task is taken to have started as
 *    early as the evidence allows (after the last event of the other task on this CPU, after its
 *    own wakeup, after it left its last CPU), and the slices on both sides are marked inferred.
 *  - Before its first and after its last event, a CPU that idles then is taken to idle (inferred).
 *    A task is not taken to run there: recordings are often cut off at different times on each CPU,
 *    and a task hardly runs for long without any event. That time is SLICE_UNKNOWN, and so is all
 *    the time of a CPU without events.
 *
 * A wait starts when a task that is not running is woken (the first of waking, wakeup and
 * wakeup_new) or when it is switched out in state R, and ends when it is switched in.
 *  - A wakeup that arrives while the task is still on its way out of a CPU counts from the moment
 *    it has left it: it did not wait before.
 *  - A wait is unknown if a loss (or the time before the first event) lies within it on the CPU it
 *    ran on, the CPU named by the wakeup or the CPU it had last; or if the task is woken again
 *    without having been seen to run. If one of these CPUs is busy and shows no event during the
 *    wait, it is held back until the next event there shows that its recording was not cut off; so
 *    waits do not come strictly in order. At the end of the trace what is held back is unknown.
 *
 * A task is a life of a pid (trace/lives.h): a pid that is given out again is another task. A life that
 * ended while it waited, which nobody saw, ends its wait unknown.
 *
 * Memory: one fixed record per task and per CPU, at most TRACE_TASKS_MAX and TRACE_CPUS_MAX. Beyond
 * TRACKER_TASKS_MAX tasks (or tracker_allow()) those that ended are folded, the lighter half of them at
 * a time, and their numbers given out again, if there is somebody to take them: ops->fold.
 */
#ifndef KISEKI_ANALYSIS_TRACKER_H
#define KISEKI_ANALYSIS_TRACKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "trace/lives.h"
#include "trace/source.h"

#define TRACKER_NONE UINT32_MAX	     /* no task, no CPU */
#define TRACKER_TASKS_MAX (1U << 18) /* kept apart while those that ended can be folded */

enum slice_type {
	SLICE_TASK = 0,
	SLICE_IDLE = 1,
	SLICE_UNKNOWN = 2,
};

struct tracker_slice {
	enum slice_type type;
	bool inferred; /* one of its ends is */
	uint32_t cpu;
	uint32_t task; /* SLICE_TASK: index of the task */
	uint64_t from_ns;
	uint64_t to_ns;
};

enum wait_type {
	WAIT_WAKEUP = 0,    /* from the wakeup */
	WAIT_PREEMPTED = 1, /* from a switch-out in state R */
	WAIT_TYPES = 2,
};

enum wait_end {
	WAIT_RAN = 0,	   /* it ran at to_ns, and nothing is missing in between */
	WAIT_UNKNOWN = 1,  /* a loss lies within, or a run that was not recorded */
	WAIT_INFERRED = 2, /* it ran, but the switch that started it is missing */
	WAIT_NEVER = 3,	   /* it had not run when the trace ended */
	WAIT_UNSEEN = 4,   /* it slept and ran again; its wakeup is not in the trace */
	WAIT_ENDS = 5,
};

struct tracker_wait {
	enum wait_type type;
	enum wait_end end;
	uint32_t task;
	uint32_t cpu;	     /* where it ran; TRACKER_NONE with WAIT_NEVER */
	uint32_t target_cpu; /* what the wakeup said, or TRACKER_NONE */
	uint32_t waker;	     /* task, or TRACKER_NONE: the idle task or not known */
	uint32_t waker_cpu;  /* or TRACKER_NONE */
	uint64_t from_ns;
	uint64_t to_ns;
};

/* Any of them may be NULL; a negative return ends tracker_add() with it. */
struct tracker_ops {
	int (*slice)(void *context, const struct tracker_slice *s);
	int (*wait)(void *context, const struct tracker_wait *w);
	/* A wakeup; waking and wakeup of the same one are one. */
	int (*wakeup)(void *context, uint32_t task);
	/* A recorded switch-out of a task (not of the idle task). */
	int (*leave)(void *context, uint32_t task, bool preempted);
	/* A task's life is over, and nobody saw it leave its CPU for the last time. */
	int (*over)(void *context, uint32_t task);
	/* Tasks that ended, rising, whose numbers other tasks may get from now on. Without it none is
	 * folded. They come in rising order of weight, or, without one, all at once. */
	int (*fold)(void *context, const uint32_t *tasks, uint32_t n);
	uint64_t (*weight)(const void *context, uint32_t task);
};

struct tracker;

/* info must outlive the tracker. */
int tracker_new(struct tracker **ret, const struct trace_info *info, const struct tracker_ops *ops,
		void *context);
void tracker_free(struct tracker *t);
DEFINE_CLEANUP(tracker, tracker_free)

/* Before the first item: keeps at most so many tasks apart, if others can be folded. */
void tracker_allow(struct tracker *t, uint32_t most);

int tracker_add(struct tracker *t, const struct trace_item *item, struct error *e);

/* Ends all slices and waits at the time of the last event. To be called once. */
int tracker_finish(struct tracker *t, struct error *e);

uint32_t tracker_n_tasks(const struct tracker *t);	       /* their numbers are below this */
uint32_t tracker_n_cpus(const struct tracker *t);	       /* complete after tracker_finish() */
bool tracker_has_task(const struct tracker *t, uint32_t task); /* it is not folded */
const struct life *tracker_get_task(const struct tracker *t, uint32_t task);
const struct lives *tracker_get_lives(const struct tracker *t);
/* The pid's current life; TRACKER_NONE: never seen. */
uint32_t tracker_find_task(const struct tracker *t, int32_t pid);
uint64_t tracker_from_ns(const struct tracker *t); /* of the first event; 0 if there is none */
uint64_t tracker_to_ns(const struct tracker *t);   /* of the last event */

#endif
