/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filter: which events the driver records, by the tasks that they are about.
 *
 * It means what the agent's filter means (agent/filter.h): an event passes if one of its tasks, the one
 * that ran included, has a listed pid, lives in a listed cgroup or one below it, or if a name that
 * the event carries is listed; empty lists ask nothing, and if all are empty every event passes. The
 * agent has to follow members of cgroups by reading lists and watching forks. The kernel knows at
 * each event where a task lives, so here membership is always that of this moment, children's too.
 *
 * Cgroups are those of version 2. Asked from probes: no lock but RCU, no allocation.
 */
#ifndef KISEKI_DEVICE_DRIVER_FILTER_H
#define KISEKI_DEVICE_DRIVER_FILTER_H

#include <linux/sched.h>
#include <linux/types.h>

#include "wire/message.h"

struct cgroup;

#define FILTER_SIEVE_BITS 256 /* a power of two */

struct task_filter {
	bool is_on; /* false: everything passes */
	u32 n_pids, n_comms, n_cgroups;
	unsigned long sieve[FILTER_SIEVE_BITS / BITS_PER_LONG]; /* which pids may be listed */
	s32 pids[CONFIG_PIDS_MAX];
	char comms[CONFIG_COMMS_MAX][SCHED_COMM_LEN];
	u8 comm_len[CONFIG_COMMS_MAX]; /* bytes to compare; less than a name's: any rest */
	struct cgroup *cgroups[CONFIG_CGROUPS_MAX];
};

/* The tasks of an event beside the one that runs; NULL: none. */
struct filter_tasks {
	struct task_struct *task, *other;
};

/* -ENOENT: a cgroup is not there. May sleep; no probe runs. */
int filter_init(struct task_filter *f, const struct message_config *c);
void filter_done(struct task_filter *f);

/* Interrupts are off. */
bool filter_passes(const struct task_filter *f, const struct sched_event *ev,
		   const struct filter_tasks *tasks);

#endif
