/* SPDX-License-Identifier: MIT */
/*
 * tasks: the tasks that were there before tracing began, from /proc: pid, thread group, name.
 *
 * Read once, at the start of a run, and put straight into the payload of metadata blocks
 * (docs/format/wire.md, section 7.3): nothing is kept.
 */
#ifndef KISEKI_DEVICE_AGENT_TASKS_H
#define KISEKI_DEVICE_AGENT_TASKS_H

#include "base/error.h"
#include "wire/sched_event.h"

struct task_walk;

int task_walk_open(struct task_walk **ret, struct error *e);
void task_walk_free(struct task_walk *w);

/* Fills `out` with one META_TASKS item of as many tasks as fit; its length, or 0 at the end. */
size_t task_walk_encode(struct task_walk *w, uint8_t *out, size_t room);

#endif
