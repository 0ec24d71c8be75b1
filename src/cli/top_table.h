/* SPDX-License-Identifier: MIT */
/*
 * top_table: who used the CPUs since the last look, from a stream of live events.
 *
 * Items go in in order of time; at a look the time since the last one is settled: what runs then is
 * charged up to the latest event of any CPU, and goes on being charged from there. So over all looks
 * every known nanosecond of a CPU is charged once. What a task did before its first switch, or
 * around a loss, is not known and charged to nobody.
 *
 * A pid that is given out again is another task: until the next look both are there.
 */
#ifndef KISEKI_CLI_TOP_TABLE_H
#define KISEKI_CLI_TOP_TABLE_H

#include "base/cleanup.h"
#include "base/error.h"
#include "trace/source.h"

#define TOP_TASKS_MAX 65536U
#define TOP_QUIET_LOOKS 30U /* a task that did nothing for so long is forgotten */

struct top_task {
	int32_t pid;
	char comm[SCHED_COMM_LEN];
	uint64_t cpu_ns;		      /* since the last look, as all that follow */
	uint64_t switches;		      /* how often it left a CPU */
	uint64_t wakeups;		      /* waking and wakeup of the same one are one */
	uint64_t waits, wait_ns, wait_max_ns; /* from wakeup to running */
	/* What outlives a look. */
	uint64_t woken_ns; /* 0: it is not waiting for a CPU */
	uint32_t quiet;	   /* looks */
	bool exited;
};

struct top_cpu {
	bool seen;  /* any item was of it */
	bool known; /* pid runs on it since since_ns */
	int32_t pid;
	uint64_t since_ns;
	uint64_t busy_ns, idle_ns; /* since the last look */
};

struct top_total {
	uint64_t from_ns, to_ns; /* of the device's clock; equal if nothing came */
	uint64_t events, losses, lost;
	uint32_t cpus; /* highest that was seen + 1 */
	uint64_t tasks_left_out;
};

enum top_order {
	TOP_BY_CPU = 0,
	TOP_BY_SWITCHES,
	TOP_BY_WAKEUPS,
	TOP_BY_WAIT, /* average */
	TOP_BY_MAX,
	TOP_BY_PID, /* rising; the others fall */
	TOP_BY_COMM,
	TOP_ORDERS,
};

struct top;

int top_new(struct top **ret, struct error *e);
void top_free(struct top *t);
DEFINE_CLEANUP(top, top_free)

int top_add(struct top *t, const struct trace_item *item, struct error *e);

/* Settles the time since the last look, and sorts. All tasks that did anything are listed, without
 * the idle ones; borrowed until top_next(). */
const struct top_task *top_look(struct top *t, enum top_order order, size_t *ret_n);
const struct top_cpu *top_get_cpu(const struct top *t, uint32_t cpu);
const struct top_total *top_get_total(const struct top *t);

/* The next interval begins where this one ended. */
void top_next(struct top *t);

/* The stream broke: nothing is known of who runs. */
void top_forget(struct top *t);

#endif
