/* SPDX-License-Identifier: MIT */
/*
 * os_instance: the tracefs instance that records what happens to a few threads.
 *
 * It is limited to them by `set_event_pid`, which takes pids one by one and gives none back: only
 * all at once. Where the kernel has the option `event-fork` it adds the threads that a watched one makes,
 * and takes out those that end. Elsewhere a pid stays; one that is used again costs records that nobody
 * asks for, so from time to time the list is written anew.
 */
#ifndef KISEKI_DEVICE_FEED_OS_INSTANCE_H
#define KISEKI_DEVICE_FEED_OS_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "device/agent/tracefs.h"
#include "device/feed/os_map.h"
#include "ftrace/page.h"

struct os_instance {
	char folder[TRACEFS_PATH_MAX];
	bool follows; /* the kernel itself adds children and takes out who ends */
	bool is_on;
	bool was_there; /* somebody had made it, and did not take it away */
};

/* Replaces one of that name. It records when the first thread is put. */
int os_instance_open(struct os_instance *i, const char *name, uint32_t ring_kib, struct error *e);
void os_instance_close(struct os_instance *i);

/* Watches one more. */
int os_instance_put(struct os_instance *i, int32_t tid, struct error *e);

/* The list anew; between the old one and the new one everything is recorded. */
int os_instance_put_all(struct os_instance *i, const int32_t *tids, uint32_t n, struct error *e);

#endif
