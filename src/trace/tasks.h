/* SPDX-License-Identifier: MIT */
/*
 * tasks: who a pid was, and what it was called, over the time of a trace.
 *
 * Fed with a trace's items in order, it keeps for each pid a chain of names, each with the moment
 * from which it held. A name is learned wherever an event carries it. A pid is one task until that
 * task dies; the same number later is another task, another life. A life begins with a fork of a
 * pid that was heard before, or, where the fork is missing, with another name after the last switch
 * of a dead task. The thread group is known from the trace's own table, and from an exec, after
 * which a task is the leader of its group. Pid 0, the idle task that every CPU has its own of, is no
 * task here.
 */
#ifndef KISEKI_TRACE_TASKS_H
#define KISEKI_TRACE_TASKS_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "trace/source.h"

#define TASKS_NAMES_MAX (1U << 24)

struct tasks;

/* A task under one name. */
struct task_name {
	int32_t pid;
	int32_t tgid; /* -1: not known */
	uint64_t from_ns;
	uint64_t to_ns; /* the last event that spoke of it under this name */
	bool forked;	/* its life began here, in the trace */
	bool exited;	/* … and ended at to_ns */
	bool dead;	/* … and has left its CPU for good at to_ns */
	uint32_t life;	/* which task of this pid it is: 0 is the first that the trace shows */
	char comm[SCHED_COMM_LEN];
};

struct tasks *tasks_new(const struct trace_info *info); /* NULL: out of memory */
void tasks_free(struct tasks *t);
DEFINE_CLEANUP(tasks, tasks_free)

/* 0, -ENOMEM, or -E2BIG beyond TASKS_NAMES_MAX names. Losses are ignored. */
int tasks_add(struct tasks *t, const struct trace_item *item);

/* What the pid was called at this moment: the last name before it, or, if there is none before, the
 * first after it of the same life. NULL: no event names the task that had this pid then. The place is
 * remembered, so moments that rise cost nothing, and one thread at a time may ask. */
const struct task_name *tasks_at(const struct tasks *t, int32_t pid, uint64_t ns);

/* What the task that ran when this happened (common_pid) was called: the name that the event itself
 * gives it, else the one of that moment, else, for a pid that no event names, the one in the table of
 * the trace. NULL: nothing names it, or it is the idle task. */
const char *tasks_runner(const struct tasks *t, const struct sched_event *e);

/* Where the table and the clock are from now on; it must outlive t. */
void tasks_set_info(struct tasks *t, const struct trace_info *info);

/* All names, in the order in which they were first heard. */
size_t tasks_count(const struct tasks *t);
const struct task_name *tasks_get(const struct tasks *t, size_t i);

#endif
