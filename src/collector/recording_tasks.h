/* SPDX-License-Identifier: MIT */
/*
 * recording_tasks: the tasks of a recording that was asked for some tasks only.
 *
 * An agent describes all tasks of its machine when a run begins: it cannot know which of them will
 * have to do with the chosen ones. Here is known which did, so the descriptions wait for the run's
 * end, and those of tasks that are in no event are left out: a file that somebody passes on tells no
 * more of the machine than its events do. The process of a thread that is in one stays, too.
 *
 * For that the events are decoded as they come. Where that cannot be done (another codec, a block
 * that is damaged), all tasks stay: a name too many is better than one that is missing.
 */
#ifndef KISEKI_COLLECTOR_RECORDING_TASKS_H
#define KISEKI_COLLECTOR_RECORDING_TASKS_H

#include "base/cleanup.h"
#include "wire/block.h"

struct recording_tasks;

int recording_tasks_new(struct recording_tasks **ret); /* 0 or -ENOMEM */
void recording_tasks_free(struct recording_tasks *t);
DEFINE_CLEANUP(recording_tasks, recording_tasks_free)

/* Looks at a block that is the next of its stream. 1: it describes tasks and nothing else, and they
 * are kept here; 0; -ENOMEM. */
int recording_tasks_push(struct recording_tasks *t, const struct block *b);

/* After the last block: the payload of a meta block with tasks (room >= 64 KiB). Its length, 0 when
 * there are no more, -ENOMEM. */
ssize_t recording_tasks_encode(struct recording_tasks *t, uint8_t *out, size_t room);

#endif
