/* SPDX-License-Identifier: MIT */
/*
 * task_table: the processes that the recorder knows, in memory of a fixed size.
 *
 * Beside who a process is, a row has what was last said of it, so that only what has changed is said
 * again; and an open file of /proc, so that looking at it walks no path. Rows do not move.
 */
#ifndef KISEKI_DEVICE_BOOT_TASK_TABLE_H
#define KISEKI_DEVICE_BOOT_TASK_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "device/boot/task_stat.h"

#define TASK_TABLE_LEAST 16U
#define TASK_TABLE_MOST 32768U

struct task {
	uint32_t pid; /* 0: the row is free */
	uint32_t group, parent;
	uint32_t next; /* in its chain or in the list of free rows, + 1; 0: the last */
	uint64_t start_tick;
	uint64_t user_ns, system_ns, ran_ns, waited_ns, runs, faults;
	uint64_t look_ns, stat_ns; /* when its times were read last, and its stat; 0: never */
	uint64_t exit_tick;
	uint32_t exit_code;
	uint32_t threads;
	uint32_t scan; /* number of the last scan of /proc that saw it */
	int fd;	       /* its schedstat, or stat where there is none; -1: not open */
	int stat_fd;   /* its stat as well, while it runs all the time; -1: not open */
	char comm[TASK_COMM_LEN];
	uint8_t comm_len;
	char state;
	uint8_t how, flags; /* of its start: enum boot_how, enum boot_start_flag */
	uint8_t quiet;	    /* looks in a row at which nothing had changed */
	uint8_t wait;	    /* passes until the next look */
	bool was_seen;	    /* its state was said at least once */
	bool has_ended;	    /* and its parent has perhaps not asked for it */
	bool was_zombie;    /* said as such */
	bool is_blocked;    /* a place where it waits was said */
	bool has_run;	    /* since it is known */
	bool is_script;	    /* of the system's start: its end is a mark */
};

struct task_table {
	struct task *rows;
	uint32_t *heads; /* of the chains, + 1 */
	uint32_t size, buckets, n, high, free;
};

int task_table_new(struct task_table **ret, uint32_t size, struct error *e);
void task_table_free(struct task_table *t);
DEFINE_CLEANUP(task_table, task_table_free)

struct task *task_table_find(const struct task_table *t, uint32_t pid);

/* NULL if it is full. The caller has looked that there is none. */
struct task *task_table_add(struct task_table *t, uint32_t pid);
void task_table_drop(struct task_table *t, struct task *task);

/* All rows in use: *at is 0 at first; NULL at the end. The one given may be dropped. */
struct task *task_table_next(const struct task_table *t, uint32_t *at);

#endif
