/* SPDX-License-Identifier: MIT */
/*
 * tasks: who a pid was, and what it was called, over the time of a trace.
 *
 * Fed with a trace's items in order, it keeps for each pid a chain of names, each with the moment
 * from which it held. A name is learned wherever an event carries it. A fork of a pid that has
 * exited starts a new life: the same number, another task. The thread group is known from the
 * trace's own table, and from an exec, after which a task is the leader of its group. Pid 0, the
 * idle task that every CPU has its own of, is no task here.
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
	char comm[SCHED_COMM_LEN];
};

struct tasks *tasks_new(const struct trace_info *info); /* NULL: out of memory */
void tasks_free(struct tasks *t);
DEFINE_CLEANUP(tasks, tasks_free)

/* 0, -ENOMEM, or -E2BIG beyond TASKS_NAMES_MAX names. Losses are ignored. */
int tasks_add(struct tasks *t, const struct trace_item *item);

/* What the pid was called at this moment: the last name before it, or the first after it if there
 * is none before. NULL: no event spoke of it. */
const struct task_name *tasks_at(const struct tasks *t, int32_t pid, uint64_t ns);

/* All names, in the order in which they were first heard. */
size_t tasks_count(const struct tasks *t);
const struct task_name *tasks_get(const struct tasks *t, size_t i);

#endif
