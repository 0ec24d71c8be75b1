/* SPDX-License-Identifier: MIT */
/*
 * task_names: who the threads are that are sampled: their process and their name, and what was said of the process.
 *
 * A table of fixed size, in rows of few places: where one is full, whoever was not asked for longest goes, and is
 * looked up in /proc if it comes again.
 */
#ifndef KISEKI_DEVICE_PROFILE_TASK_NAMES_H
#define KISEKI_DEVICE_PROFILE_TASK_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/sched_event.h"

#define TASK_NAMES_ROWS 1024U /* a power of two */
#define TASK_NAMES_WAYS 8U

struct task_name {
	int32_t tid; /* 0: the place is free */
	int32_t pid;
	uint32_t used;	   /* when it was last asked for */
	uint32_t threads;  /* of a process's first thread: how many there are; 0: not known */
	uint16_t held;	   /* of the same: slot of mappings that wait (held_rows.h), 0: none */
	bool is_described; /* of the same: its mappings are told */
	bool is_old;	   /* of the same: it was there before the recording */
	char comm[SCHED_COMM_LEN];
};

struct task_names {
	uint32_t clock;
	uint16_t left_slot; /* of one that had to go */
	struct task_name place[TASK_NAMES_ROWS][TASK_NAMES_WAYS];
};

/* Where one that is forgotten had a slot, it is kept here until it is asked for. */
uint16_t task_names_take_slot(struct task_names *t);

/* NULL: not known. Valid until the next one is added. */
struct task_name *task_names_get(struct task_names *t, int32_t tid);

/* The same, in a place of its own if it has none; `tid` is not 0. Who has ended stays until the place is needed: a dying
 * thread is sampled, too. */
struct task_name *task_names_put(struct task_names *t, int32_t tid, int32_t pid);

/* What was said of processes may not have arrived: it is said again when it is needed, for the time from then on. */
void task_names_forget_said(struct task_names *t);

#endif
