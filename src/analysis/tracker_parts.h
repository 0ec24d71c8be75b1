/* SPDX-License-Identifier: MIT */
/* tracker_parts: what a tracker keeps, for tracker.c and tracker_fold.c alone. */
#ifndef KISEKI_ANALYSIS_TRACKER_PARTS_H
#define KISEKI_ANALYSIS_TRACKER_PARTS_H

#include "analysis/tracker.h"

#define TRACKER_HELD_MAX                                                                           \
	(1U << 16) /* waits that are held back; of more than these the rest is unknown */

enum cpu_state {
	CPU_NEW = 0,	  /* no event yet */
	CPU_NEW_LOST = 1, /* no event yet, but a loss */
	CPU_RUNNING = 2,
	CPU_LOST = 3, /* a loss after `since` */
};

struct cpu {
	enum cpu_state state;
	bool inferred; /* the start of the current stretch */
	uint32_t task; /* CPU_RUNNING: TRACKER_NONE is the idle task */
	uint64_t since_ns;
	uint64_t seen_ns;
	uint64_t lost_until_ns; /* end of the last unknown stretch */
	uint32_t held; /* first of the waits that need a sign of life from here, or TRACKER_NONE */
};

struct held_wait {
	struct tracker_wait wait;
	uint32_t next; /* of the same CPU, or free */
};

enum off_reason {
	OFF_UNKNOWN = 0,
	OFF_SLEEP = 1,
	OFF_PREEMPTED = 2,
};

struct task {
	bool on_cpu;
	bool woken;	     /* off the CPU and woken at wake_ns */
	bool woken_on_cpu;   /* woken while it still had a CPU */
	bool known_off;	     /* since_ns is when it left its CPU */
	bool over;	     /* its life has ended */
	enum off_reason off; /* why it is off the CPU */
	uint32_t cpu;	     /* the last it was on, or TRACKER_NONE */
	uint32_t waker;
	uint32_t waker_cpu;
	uint32_t target_cpu;
	uint64_t since_ns; /* when it came to or left `cpu` */
	uint64_t wake_ns;
	uint32_t n_held; /* its waits that are held back */
};

struct tracker {
	const struct trace_info *info;
	const struct tracker_ops *ops;
	void *context;
	struct cpu *cpus;
	uint32_t n_cpus;
	struct lives *lives;
	struct task *tasks; /* by number of the life */
	uint32_t room_tasks;
	struct held_wait *held; /* room_held of them, in the list of a CPU or in the free one */
	uint32_t room_held;
	uint32_t free_held;
	uint64_t dead_mask; /* bits of prev_state that say that a task will not run again */
	bool begun;
	uint64_t from_ns;
	uint64_t to_ns;
};

/* Room for another task: folds tasks that ended, or allows more. 0, -ENOMEM, -E2BIG, or what ops->fold
 * returned. */
int tracker_fold(struct tracker *t);

#endif
