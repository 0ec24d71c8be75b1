/* SPDX-License-Identifier: MIT */
/*
 * boot_groups: which task of the scheduler's trace belongs to which process of a boot. Private to boot_exact.c.
 *
 * The scheduler's events do not say whether a fork made a process or a thread. It is known, in this order:
 *
 * 1. from the trace's own table of tasks, where that has thread groups;
 * 2. if it executed a program, or the boot has a process with its pid at that time, it is a process;
 * 3. if the kernel told the boot's recorder of all processes and not of this one, it is a thread of who
 *    forked it; likewise if others of its process were left when it exited;
 * 4. else it is taken for a process.
 */
#ifndef KISEKI_ANALYSIS_BOOT_GROUPS_H
#define KISEKI_ANALYSIS_BOOT_GROUPS_H

#include "analysis/boot_tasks.h"

struct boot_groups {
	uint32_t *
		process; /* by task: index into the boot's processes, or BOOT_NONE: not in the chart */
	uint32_t *first, *next; /* tasks of a process, each BOOT_NONE at its end */
	uint32_t *leader;	/* by process: its first task, or BOOT_NONE */
	size_t n_processes;
};

/* Finds them, and adds to the boot the processes that it does not have; these have a pid, and no name and no
 * spans yet. 0, -ENOMEM, -E2BIG. */
int boot_groups_init(struct boot_groups *g, struct boot *b, const struct boot_tasks *t,
		     const struct trace_info *info);
void boot_groups_done(struct boot_groups *g);

#endif
