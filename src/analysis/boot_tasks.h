/* SPDX-License-Identifier: MIT */
/*
 * boot_tasks: what the scheduler's trace says about each task of a boot, before tasks are laid together to
 * processes. Private to boot_exact.c and boot_states.c.
 *
 * A task is one life of a pid: a fork of a pid that was there before starts another. What happened to it is a
 * list of changes: it came to a CPU, it left one, it was woken. The tracker (tracker.h) decides
 * who had a CPU when, so that what is recorded, inferred and unknown is the same here as in all reports.
 *
 * A wakeup counts as somebody's only if it was made in the name of who ran: one that was made by an interrupt
 * says nothing about the task that happened to be interrupted. The kernel's own flags tell which it was, and so
 * do the agent's programs in the kernel (DIALECT_WAKER_CONTEXT). Of a trace without either, the idle task alone is known never to wake anybody
 * by itself; of all others who was on the CPU is taken, and tells_interrupts is false.
 */
#ifndef KISEKI_ANALYSIS_BOOT_TASKS_H
#define KISEKI_ANALYSIS_BOOT_TASKS_H

#include "analysis/boot.h"

#define BOOT_TASKS_MAX BOOT_PROCESSES_MAX
#define BOOT_TASK_CHANGES_MAX (1U << 27) /* of all tasks together */
#define BOOT_TASK_NAMES_MAX (1U << 22)	 /* likewise */
#define BOOT_LOSSES_MAX (1U << 16)	 /* more are taken as one with the last */

/* States that only a task has, beside enum boot_state. */
enum boot_task_state {
	BOOT_TASK_OFF = BOOT_STATES, /* not on a CPU; what for is not known */
	BOOT_TASK_GONE = BOOT_STATES + 1,
	BOOT_TASK_STATES = BOOT_STATES + 2,
};

enum boot_change_type {
	BOOT_CHANGE_RUN,   /* it has a CPU from here on */
	BOOT_CHANGE_STOP,  /* and no longer; what for is not known unless LEAVE follows */
	BOOT_CHANGE_LEAVE, /* it was switched out, with `state` */
	BOOT_CHANGE_WAKE,  /* by `whom` */
};

struct boot_change {
	uint64_t ns;
	uint32_t order; /* among those of one time */
	uint32_t whom;	/* task, BOOT_INTERRUPT or BOOT_NONE */
	uint8_t type;
	uint8_t state;
};

/* What it was called from then on. */
struct boot_task_name {
	uint64_t ns;
	char comm[SCHED_COMM_LEN];
	char *program; /* that it executed, or NULL */
};

struct boot_task {
	int32_t pid;
	int32_t parent_pid; /* who forked it; 0: not known */
	uint32_t parent;    /* the same as a task, or BOOT_NONE */
	uint32_t previous;  /* life of the same pid, or BOOT_NONE */
	uint64_t from_ns;   /* first told of, or forked */
	uint64_t to_ns;	    /* last told of, or ended */
	bool is_forked;	    /* from_ns is its start */
	bool is_over;	    /* to_ns is its end */
	bool has_executed;
	bool has_exited;
	bool is_kernel;	  /* it slept as only kernel threads do (I) */
	bool left_others; /* threads of its process were there when it exited */
	uint32_t next_order;
	uint32_t run_order; /* of its last switch-in, */
	uint64_t run_ns;    /* which was then */
	uint64_t ran_ns;    /* in all */
	struct boot_change *changes;
	size_t n_changes, room_changes;
	struct boot_task_name *names;
	size_t n_names, room_names;
};

/* Events that are missing, on one CPU or several. */
struct boot_loss {
	uint64_t from_ns, to_ns;
	uint64_t count; /* LOSS_UNKNOWN: not known */
	uint32_t cpu;
};

/* CPU time of all CPUs in one piece of BOOT_TASKS_PIECE_NS. */
#define BOOT_TASKS_PIECE_NS 20000000U
struct boot_busy {
	uint64_t busy_ns, idle_ns;
};

struct boot_tasks {
	struct boot_task *list;
	size_t n, room;
	struct boot_loss *losses; /* by start */
	size_t n_losses, room_losses;
	struct boot_busy *busy; /* from from_ns on */
	size_t n_busy, room_busy;
	uint64_t from_ns, to_ns; /* that the trace covers; equal: there is no event in it */
	uint32_t cpus;
	bool has_forks;
	bool tells_interrupts; /* which wakeups were made by an interrupt */
};

/* Reads the source up to until_ns. add_ns (modulo 2^64) is what its nanoseconds lack to those of the boot. */
int boot_tasks_new(struct boot_tasks **ret, struct trace_source *s, uint64_t add_ns,
		   uint64_t until_ns, struct error *e);
void boot_tasks_free(struct boot_tasks *t);
DEFINE_CLEANUP(boot_tasks, boot_tasks_free)

#endif
