/* SPDX-License-Identifier: MIT */
/*
 * filter: which events a device records, by the tasks that they are about.
 *
 * An event passes if one of its tasks (the one that ran, was switched in, was woken, forked …)
 * has a listed pid, a listed name, or lives in a listed cgroup; lists that are empty ask nothing,
 * and if all are, every event passes. Evaluated before an event is encoded. Membership of cgroups
 * is read from the cgroup's own lists when tracing starts and again every second, and follows
 * forks in between. Fixed memory: at most FILTER_MEMBERS_MAX tasks of cgroups are known.
 *
 * Names are those that the event itself carries: who woke somebody passes by his pid or cgroup,
 * not by his name, which is not in the event. A cgroup includes those below it. A source that
 * evaluates the filter in the kernel takes the lists from here, so that all sources mean the same.
 */
#ifndef KISEKI_DEVICE_AGENT_FILTER_H
#define KISEKI_DEVICE_AGENT_FILTER_H

#include "base/cleanup.h"
#include "base/error.h"
#include "wire/message.h"
#include "wire/sched_event.h"

#define FILTER_MEMBERS_MAX 8192U
#define FILTER_LIST_SIZE 65536U /* bytes of one cgroup's list that are read */
#define FILTER_DEPTH_MAX 16	/* levels of cgroups below a listed one */

struct event_filter;

/* *ret is NULL if the configuration lets everything pass. */
int filter_new(struct event_filter **ret, const struct message_config *c, struct error *e);
void filter_free(struct event_filter *f);
DEFINE_CLEANUP(event_filter, filter_free)

/* Also follows the forks it sees. NULL passes all. */
bool filter_passes(struct event_filter *f, const struct sched_event *ev);

/* Reads the cgroups' members again, if any are asked for. */
int filter_refresh(struct event_filter *f, struct error *e);

/* For a source that filters in the kernel: how often the members were read, and who they are.
 * *slot starts at 0; false: no more. */
uint32_t filter_get_generation(const struct event_filter *f);
bool filter_next_member(const struct event_filter *f, uint32_t *slot, int32_t *ret_pid);

#endif
