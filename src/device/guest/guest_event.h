/* SPDX-License-Identifier: MIT */
/*
 * guest_event: that a thread or process of this machine began, executed a program, has another name, or ended.
 *
 * There are two who know: the kernel's connector of processes (device/boot/process_event.h), which is in most kernels and
 * tells numbers, and programs in the kernel (guest_tables.h), which also tell page tables and names of those that
 * are gone a moment later.
 */
#ifndef KISEKI_DEVICE_GUEST_GUEST_EVENT_H
#define KISEKI_DEVICE_GUEST_GUEST_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "wire/sched_event.h"

enum guest_event_type {
	GUEST_EVENT_FORK = 0,
	GUEST_EVENT_EXEC = 1,
	GUEST_EVENT_NAME = 2,
	GUEST_EVENT_EXIT = 3,
};

struct guest_event {
	enum guest_event_type type;
	uint64_t ns; /* CLOCK_MONOTONIC */
	int32_t pid, tid, parent;
	bool is_last;		   /* of an end: no thread of the process is left */
	uint64_t table, task;	   /* 0: not known, or none */
	char comm[SCHED_COMM_LEN]; /* all 0: not known */
};

struct guest_tables;
struct guest_events;

/* Listens to the tables' programs, or where there are none (NULL) to the connector. */
int guest_events_new(struct guest_events **ret, struct guest_tables *tables, struct error *e);
void guest_events_free(struct guest_events *e);

int guest_events_fd(const struct guest_events *e);

/* Gives each event that is there to `take`, some thousand at most. -ENOBUFS: the kernel had no room for some, nobody knows which. */
int guest_events_read(struct guest_events *e,
		      void (*take)(void *context, const struct guest_event *ev), void *context);

#endif
