/* SPDX-License-Identifier: MIT */
/*
 * sampler_state: what the parts of the sampler share: sampler.c looks, sampler_events.c takes what the kernel
 * tells, sampler_say.c says it.
 */
#ifndef KISEKI_DEVICE_BOOT_SAMPLER_STATE_H
#define KISEKI_DEVICE_BOOT_SAMPLER_STATE_H

#include "device/boot/sampler.h"

#define SAMPLER_PATH_MAX 48U
#define SAMPLER_NAMES_BYTES 8192U /* entries of /proc read at once */

struct sampler {
	struct sampler_options o;
	struct task_table *tasks;
	struct exit_sums sums;
	struct machine_stat machine;
	uint64_t now; /* of this pass */
	uint64_t tick_ns;
	uint64_t rows_due, scan_due;
	uint64_t machine_due; /* when /proc/stat is to be read while the machine is busy */
	uint64_t forks_told;
	uint64_t last_switches, last_forks, last_own;
	uint32_t scans, n_files, looked;
	uint32_t idle_passes; /* in a row, in which nobody but the recorder ran */
	uint32_t self;
	bool must_scan;
	bool has_times;	   /* there is schedstat */
	bool is_calm;	   /* nobody else wanted a CPU when /proc/stat was read last */
	bool is_finding;   /* who was there before: that is no event */
	bool is_repeating; /* what was said before: no news */
	bool is_full;	   /* the table was, and a mark says so */
	char text[TASK_STAT_MOST];
	char args[BOOT_TEXT_MAX + 1];
	char names[SAMPLER_NAMES_BYTES] __attribute__((aligned(8)));
};

/* A file of the task, below /proc; -1 with errno. */
int sampler_open(const struct sampler *s, const struct task *t, const char *file);

/* The start of it, by a descriptor that is closed again; bytes, 0 or negative. */
ssize_t sampler_read(const struct sampler *s, const struct task *t, const char *file, char *to,
		     size_t room);

/* A row, or NULL: the table is full. That is told once a while. */
struct task *sampler_add(struct sampler *s, uint32_t pid, uint64_t tick);

/* From /proc/PID/stat: who it is. */
void sampler_set_start(struct sampler *s, struct task *t, const struct task_stat *st);
void sampler_set_comm(struct task *t, const char *comm, size_t len);

void sampler_say_start(struct sampler *s, const struct task *t, uint64_t tick);
void sampler_say_name(struct sampler *s, const struct task *t, uint64_t tick);
void sampler_say_args(struct sampler *s, struct task *t, uint64_t tick);
void sampler_say_task(struct sampler *s, const struct task *t, uint64_t tick);
void sampler_say_wait(struct sampler *s, struct task *t);
void sampler_say_exit(struct sampler *s, const struct task *t);

/* It is gone: says so, and forgets it. */
void sampler_drop(struct sampler *s, struct task *t);

#endif
