/* SPDX-License-Identifier: MIT */
/*
 * bucket: what one CPU did in one piece of time: whom it ran and for how long, and how much happened.
 *
 * Bucket i of a width w is the time from i * w to (i + 1) * w of the trace's clock, in ns. A CPU has
 * a bucket only where it has an event; between two buckets it did one thing all the time, and the
 * later bucket says what (`before`). So a CPU that sleeps for a day costs nothing, and the number of
 * buckets can never be more than that of events, whatever a device claims its clock to be.
 *
 * busy, idle and unknown time add up to the width, but for the bucket of the CPU's first event, which
 * starts there, and for one that is still being filled. The tasks' times and the rest add up to the
 * busy time, always: tasks that find no room, or were not among those with the most time when the
 * bucket was trimmed, are in the rest.
 *
 * A task is here a pid under one name: who had a pid one after the other is told apart by the name. One
 * CPU does not see when a pid is given out again, for the fork may be on another.
 */
#ifndef KISEKI_ANALYSIS_BUCKET_H
#define KISEKI_ANALYSIS_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/sched_event.h"

#define BUCKET_TASKS_KEPT 32U  /* when it is complete; those with the most time */
#define BUCKET_TASKS_MAX 1024U /* while it is filled */

enum holder_type {
	HOLDER_NONE = 0, /* nothing is known of the CPU before this */
	HOLDER_UNKNOWN = 1,
	HOLDER_IDLE = 2,
	HOLDER_TASK = 3,
	HOLDER_TYPES = 4,
};

/* Who has a CPU. */
struct holder {
	uint8_t type; /* enum holder_type */
	int32_t pid;  /* HOLDER_TASK; else it and the name are zero */
	char comm[SCHED_COMM_LEN];
};

struct bucket_task {
	int32_t pid;
	char comm[SCHED_COMM_LEN]; /* empty if it was never said */
	uint64_t ns;
};

/* What is counted, apart from the tasks. */
struct bucket_counts {
	uint64_t busy_ns, idle_ns, unknown_ns;
	uint64_t switches;
	uint64_t wakeups; /* waking, wakeup and wakeup_new: events, not tasks */
	uint64_t others;
	uint64_t lost;	    /* events, where the first one behind the loss is */
	uint64_t uncounted; /* losses of which nobody knows how many events they were */
};

struct bucket {
	uint64_t index;
	struct holder before; /* who had the CPU from the bucket before this one to its start */
	struct bucket_counts counts;
	uint64_t rest_ns; /* of tasks that are not in the list */
	uint32_t n_tasks;
	uint16_t slots[2 * BUCKET_TASKS_MAX]; /* task + 1 by hash of its pid and name, 0 is free */
	struct bucket_task tasks[BUCKET_TASKS_MAX];
};

/* Empty; `before` may be NULL. About 40 KB: not for the stack. */
void bucket_init(struct bucket *b, uint64_t index, const struct holder *before);

/* The holder had the CPU for so long. HOLDER_NONE: nothing happens. */
void bucket_add_time(struct bucket *b, const struct holder *h, uint64_t ns);
void bucket_add_task(struct bucket *b, int32_t pid, const char comm[SCHED_COMM_LEN], uint64_t ns);
/* The pid's time under no name, if it has any, is of the task with this name. */
void bucket_name(struct bucket *b, int32_t pid, const char comm[SCHED_COMM_LEN]);
void bucket_add_event(struct bucket *b, enum sched_kind kind);

/* All that another one of the same CPU has, but its index and what was before. */
void bucket_add(struct bucket *b, const struct bucket *other);
void bucket_add_counts(struct bucket_counts *to, const struct bucket_counts *from);

/* Finds the tasks again after they were put into the list by somebody else. */
void bucket_index(struct bucket *b);

/* Keeps the BUCKET_TASKS_KEPT tasks with the most time; of equal ones those with the smaller pid. */
void bucket_trim(struct bucket *b);

#endif
