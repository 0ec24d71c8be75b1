/* SPDX-License-Identifier: MIT */
/*
 * task_stat: /proc/PID/stat and /proc/PID/schedstat, of a process or a thread.
 *
 * The name in stat stands in parentheses and may itself have parentheses, blanks and line ends: it ends
 * with the last closing one. Fields behind those that are read here may be missing or more than
 * today.
 */
#ifndef KISEKI_DEVICE_BOOT_TASK_STAT_H
#define KISEKI_DEVICE_BOOT_TASK_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TASK_COMM_LEN 16U
#define TASK_STAT_MOST 1024U /* bytes of such a file that are read; it has about 300 */

struct task_stat {
	uint32_t pid, parent;
	char comm[TASK_COMM_LEN]; /* not terminated if it has all of them; padded with NULs */
	uint8_t comm_len;
	char state;
	bool is_kernel;		      /* a kernel thread */
	uint64_t user, system, start; /* clock ticks of the kernel's user interface */
	uint64_t faults;	      /* that read from a disk */
	uint32_t threads;
};

/* False if it is no such text. */
bool task_stat_parse(struct task_stat *ret, const char *text, size_t len);

struct task_times {
	uint64_t ran_ns, waited_ns, runs;
};

bool task_times_parse(struct task_times *ret, const char *text, size_t len);

#endif
