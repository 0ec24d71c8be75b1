/* SPDX-License-Identifier: MIT */
/*
 * running: who had the CPUs (`kiseki report sched`).
 *
 * Per task its CPU time, how often it left a CPU and why, how often it was woken, how long it
 * waited; per CPU how long it was busy, idle, or nobody knows. What counts as known, inferred and
 * unknown is the tracker's business (tracker.h); for every CPU busy + idle + unknown is exactly the
 * length of the trace, which is from its first to its last event.
 *
 * A task is a life of a pid: two tasks that had one pid, one after the other, are two rows. Where there
 * are more than the tracker keeps apart, the ones with the least CPU time that ended are one sum.
 */
#ifndef KISEKI_ANALYSIS_RUNNING_H
#define KISEKI_ANALYSIS_RUNNING_H

#include "base/cleanup.h"
#include "base/error.h"
#include "trace/filter.h"
#include "trace/source.h"

struct running_task {
	int32_t pid;
	int32_t tgid;			 /* -1: not known */
	char comm[SCHED_COMM_LEN];	 /* as last seen, */
	char first_comm[SCHED_COMM_LEN]; /* and as first */
	bool birth_seen;		 /* else born_ns is when it was first seen */
	bool ended;
	uint64_t born_ns;
	uint64_t ended_ns;	  /* if it did */
	uint64_t cpu_ns;	  /* all of its time on CPUs */
	uint64_t inferred_ns;	  /* the part of it with an inferred start or end */
	uint64_t switches;	  /* recorded switches in which it left a CPU */
	uint64_t preemptions;	  /* those of them in state R */
	uint64_t wakeups;	  /* waking and wakeup of the same one are one */
	uint64_t migrations;	  /* runs on another CPU than the run before */
	uint64_t waits;		  /* wakeups whose run is known */
	uint64_t wait_ns;	  /* sum of these: from wakeup to run */
	uint64_t wait_max_ns;	  /* the longest of these */
	uint64_t waits_unknown;	  /* across a loss, or with a missing switch, or not ended */
	uint64_t preempted_waits; /* the same for the waits that began with a preemption */
	uint64_t preempted_ns;
	uint64_t preempted_max_ns;
	uint64_t preempted_unknown;
};

struct running_cpu {
	uint64_t busy_ns;
	uint64_t idle_ns;
	uint64_t unknown_ns;
	uint64_t inferred_ns; /* the part of busy + idle with an inferred start or end */
	uint64_t events;
	uint64_t switches; /* recorded */
	uint64_t inferred; /* slices with an inferred start or end */
	uint64_t losses;
	uint64_t lost;	       /* events, in the losses whose count is known */
	uint64_t lost_unknown; /* losses whose count is not known */
};

/* Sums over all tasks, and over the CPUs that have any item: a source may not know how many CPUs
 * there were, and nothing can be said of the others. */
struct running_total {
	uint32_t cpus;
	uint64_t from_ns;
	uint64_t to_ns;
	struct running_cpu cpu;
	struct running_task task; /* its maxima are the greatest of all; pid and name are empty */
	uint64_t tasks;		  /* in all, */
	uint64_t folded;	  /* of which so many are only in the sum `others` */
	struct running_task others;
};

enum running_order {
	RUNNING_BY_CPU = 0, /* CPU time */
	RUNNING_BY_SWITCHES,
	RUNNING_BY_WAKEUPS,
	RUNNING_BY_PREEMPTIONS,
	RUNNING_BY_MIGRATIONS,
	RUNNING_BY_WAIT, /* average wait */
	RUNNING_BY_WAIT_MAX,
	RUNNING_BY_PID, /* rising; all others fall */
	RUNNING_BY_COMM,
	RUNNING_ORDERS,
};

struct running;

/* info (that of the source) must outlive it. 0 or -ENOMEM. */
int running_new(struct running **ret, const struct trace_info *info);
void running_free(struct running *r);
DEFINE_CLEANUP(running, running_free)

/* Before the first item: only these tasks are listed and summed up, by the name they have in the
 * end; the CPUs are not touched. All events must still be added: who had a CPU follows from those of
 * the others, too. The filter must be settled and outlive it; only its tasks count. */
void running_select(struct running *r, const struct trace_filter *only);

/* Before the first item: keeps at most so many tasks apart that ended (TRACKER_TASKS_MAX). */
void running_allow(struct running *r, uint32_t most);

/* Before running_finish(): the tasks of this thread group are neither listed nor summed up; 0 leaves
 * out none. Which tasks belong to it, the trace's table of tasks says. Its tasks
 * must be selected before the first item, since some may have ended and be folded before the last. */
void running_leave_out(struct running *r, int32_t tgid);

int running_add(struct running *r, const struct trace_item *item, struct error *e);
int running_finish(struct running *r, struct error *e); /* once, after the last item */

/* After running_finish(); they stay valid until running_free(). */
void running_sort(struct running *r, enum running_order order);
const struct running_task *running_get_tasks(const struct running *r, size_t *ret_n);
const struct running_cpu *running_get_cpus(const struct running *r, size_t *ret_n);
const struct running_total *running_get_total(const struct running *r);

bool running_has_cpu(const struct running_cpu *c);	     /* any event or loss */
uint64_t running_wait_average(const struct running_task *t); /* 0 if it never waited */

#endif
