/* SPDX-License-Identifier: MIT */
/*
 * info: what a trace says about itself before its first event.
 *
 * Device, kernel, CPUs, clock, the kernel's event dialect, and the tasks known by name. It is the
 * user-space form of the `meta` blocks (docs/format/wire.md, section 7) and owns its strings.
 */
#ifndef KISEKI_TRACE_INFO_H
#define KISEKI_TRACE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/clock.h"
#include "wire/dialect.h"

#define TRACE_CPUS_MAX 4096U	   /* a stream number above this is damage, not a machine */
#define TRACE_TASKS_MAX (1U << 22) /* as many pids as a kernel can have */
#define TRACE_STRING_MAX 1024U

struct trace_task {
	int32_t pid;
	int32_t tgid; /* -1: not known */
	char comm[SCHED_COMM_LEN];
};

struct trace_info {
	char *device;  /* host name, never NULL */
	char *kernel;  /* release, "" if not known */
	char *machine; /* uname -m, "" if not known */
	char *origin;  /* where the events came from: "trace.dat v6", "ftrace text", "bpf", … */
	uint32_t cpus; /* streams are numbered 0 … cpus - 1 */
	struct trace_clock clock;
	struct sched_dialect dialect;
	struct trace_task *tasks; /* sorted by pid, one entry each: the kernel's saved_cmdlines */
	size_t n_tasks;
	size_t room_tasks;
	uint64_t skipped;   /* events in the input of kinds that this project does not carry */
	bool has_comm;	    /* the source's items say what the running task was called */
	int32_t agent_tgid; /* thread group of the program that recorded it; 0: none did */
};

int info_init(struct trace_info *i); /* empty strings, ns clock, current dialect; 0 or -ENOMEM */
void info_done(struct trace_info *i);
int info_dup(struct trace_info *to, const struct trace_info *from); /* all but has_comm */

/* Makes the tasks of `to` those of `from`: for a source that wraps one whose tasks still grow. 0 or
 * -ENOMEM, then nothing has changed. */
int info_copy_tasks(struct trace_info *to, const struct trace_info *from);

/* Replaces one of the strings above; control characters become '?', longer than the maximum is
 * cut. */
int info_set(char **field, const char *text, size_t len);

/* Adds or replaces the task with this pid. Cheap in rising pid order. -E2BIG beyond the maximum. */
int info_add_task(struct trace_info *i, int32_t pid, int32_t tgid, const char comm[SCHED_COMM_LEN]);
const struct trace_task *info_get_task(const struct trace_info *i, int32_t pid);

#endif
