/* SPDX-License-Identifier: MIT */
/*
 * spans: everything in a range of time that a detailed picture of it shows: who had each CPU, what
 * state each task was in, who woke whom, and what was lost.
 *
 * Who had a CPU is the tracker's answer (tracker.h), cut to the range. A task's states follow from
 * the same runs: before and between them it is what its last switch-out, wakeup, fork or exit says,
 * and not known where nothing says it. Where a CPU lost events, the tasks that were last on it are
 * not known from there until they are seen again: they may have run meanwhile. The same holds for
 * the time before a CPU's first item.
 *
 * A task is a life of a pid (trace/lives.h): before it, it is not born, and after it, dead; so a pid may
 * be that of several. The leader of each task's group is there for its name, if the trace's table of
 * tasks has it.
 *
 * It takes the items of the trace in order of time, from some time before the range on, and from
 * behind it the first item of each CPU: that one says who had the CPU until then. So the answer for
 * a range is what that range looks like in the whole trace, as far back as was read.
 *
 * docs/format/slices.md says how it is sent (spans_pack.h).
 */
#ifndef KISEKI_ANALYSIS_SPANS_H
#define KISEKI_ANALYSIS_SPANS_H

#include "analysis/tracker.h"

#define SPANS_EVENTS_MAX (1U << 23) /* before, in and behind the range */

/* The numbers are part of the format. */
enum span_state {
	SPAN_UNKNOWN = 0,
	SPAN_RUNNING = 1,
	SPAN_WOKEN = 2,	    /* runnable, since it was woken */
	SPAN_PREEMPTED = 3, /* runnable, since it was switched out */
	SPAN_SLEEPING = 4,
	SPAN_BLOCKED = 5, /* uninterruptible */
	SPAN_STOPPED = 6, /* or traced */
	SPAN_DEAD = 7,
	SPAN_IDLE = 8, /* a kernel thread without work, or parked */
	SPAN_UNBORN = 9,
	SPAN_STATES = 10,
};

struct span {
	uint64_t length_ns;
	uint32_t cpu; /* SPAN_RUNNING */
	uint8_t state;
};

struct span_task {
	int32_t pid;
	int32_t tgid;	 /* -1: not known */
	uint32_t parent; /* task, or TRACKER_NONE */
	bool shown;	 /* it is in the answer */
	char comm[SCHED_COMM_LEN];
	size_t first_span, n_spans;
};

struct span_slice {
	uint64_t length_ns;
	uint32_t task; /* SLICE_TASK */
	uint8_t type;  /* enum slice_type */
	bool inferred;
};

struct span_cpu {
	struct span_slice *slices; /* without gap from from_ns to to_ns */
	size_t n, room;
	uint64_t at_ns; /* they reach so far */
};

struct span_wakeup {
	uint64_t ns;
	uint64_t ran_ns; /* 0: not in the range, or not known */
	uint32_t task;
	uint32_t waker; /* TRACKER_NONE: an interrupt, or not known */
	uint32_t cpu;	/* of the waker */
	bool softirq;	/* in a softirq: the waker is who ran then, most often the sender */
};

struct span_loss {
	uint64_t from_ns, to_ns; /* cut to the range */
	uint64_t count;		 /* LOSS_UNKNOWN */
	uint32_t cpu;
	uint8_t cause;
};

struct spans_work;

/* After spans_finish() all of it is there. */
struct spans {
	uint64_t from_ns, to_ns;
	uint64_t events; /* in the range */
	uint32_t n_cpus;
	struct span_cpu *cpus;
	uint32_t n_tasks;
	struct span_task *tasks;
	size_t n_spans, room_spans;
	struct span *spans; /* task after task; each task's from from_ns on */
	size_t n_wakeups, room_wakeups;
	struct span_wakeup *wakeups; /* by time */
	size_t n_losses, room_losses;
	struct span_loss *losses; /* by beginning, then CPU */
	struct spans_work *work;
};

/* info must outlive it. 0, -ENOMEM, or -EINVAL if nothing lies between the two times. */
int spans_new(struct spans **ret, const struct trace_info *info, uint64_t from_ns, uint64_t to_ns);
void spans_free(struct spans *s);
DEFINE_CLEANUP(spans, spans_free)

/* -E2BIG beyond SPANS_EVENTS_MAX. */
int spans_add(struct spans *s, const struct trace_item *item, struct error *e);
int spans_finish(struct spans *s, struct error *e);

/* What a task that left its CPU in this prev_state is: SPAN_PREEMPTED, SPAN_SLEEPING, … */
enum span_state span_state_of(const struct sched_dialect *d, uint64_t prev_state);

/* Did an event happen in an interrupt's handler? Then who ran has nothing to do with it. In a softirq
 * he often has: what a task sends to another on the same machine arrives so. */
bool span_is_interrupt(const struct sched_dialect *d, const struct sched_event *ev);

#endif
