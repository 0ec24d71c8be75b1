/* SPDX-License-Identifier: MIT */
/*
 * process_maps: a process that was there before the recording: its code, its name and its threads, from /proc.
 */
#ifndef KISEKI_DEVICE_PROFILE_PROCESS_MAPS_H
#define KISEKI_DEVICE_PROFILE_PROCESS_MAPS_H

#include "device/profile/object_id.h"
#include "device/profile/profile_meta.h"

#define PROCESS_MAPS_LINE (4096U + 256U)
#define PROCESS_MAPS_MAX 16384U /* pieces of a map that are read, each of some lines, at most */

/* A line of /proc/PID/maps, without its end, terminated: false if it is none, or is not executable, or has no name. The
 * path is borrowed. */
bool process_maps_parse(const char *line, struct sample_mapping *ret, uint64_t *ret_device,
			uint64_t *ret_inode);

/* Puts a row for each mapping of code. 0, or a negative errno if the process is gone or is none of ours. */
int process_maps_put(struct profile_meta *m, struct object_ids *ids, int32_t pid, uint64_t tick);

struct process_stat {
	int32_t parent;
	uint32_t threads;
	char state;
	char comm[SCHED_COMM_LEN];
};

/* The text of /proc/PID/stat. */
bool process_stat_parse(const char *text, struct process_stat *ret);
bool process_stat_get(int32_t pid, struct process_stat *ret);

/* The name of a thread; false: it is gone. */
bool process_comm_get(int32_t pid, int32_t tid, char ret[SCHED_COMM_LEN]);

#endif
