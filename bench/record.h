/* SPDX-License-Identifier: MIT */
/*
 * record: what the recorder (record.c) and the writer of its file (record_dat.c) share.
 */
#ifndef KISEKI_BENCH_RECORD_H
#define KISEKI_BENCH_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TRACEFS "/sys/kernel/tracing"
#define INSTANCE TRACEFS "/instances/kiseki-bench"
#define PAGE 4096U /* size of a ring page that this program takes */
#define CPUS_MAX 256

/* All of them get their format into the file; all but the last are recorded. KernelShark wants to
 * see that one's format. */
#define SCHED_EVENTS 8
extern const char *const sched_events[SCHED_EVENTS];

struct cpu {
	int raw_fd;  /* the kernel's pages */
	int file_fd; /* unnamed file that collects them */
	uint64_t bytes;
};

struct recording {
	int cpus;
	struct cpu cpu[CPUS_MAX];
	int pipe_fd[2];
	pid_t child; /* also its process group */
};

/* Says "cannot <what> <object>: <errno>" and returns -1. */
int fail(const char *what, const char *object);

/* A whole file of tracefs or /proc, which do not know their size; free it. NULL: said why. */
char *read_text(const char *path, size_t *ret_len);

/* Writes what was recorded as a trace.dat, version 6, or nothing. */
int write_dat(const struct recording *r, const char *out);

#endif
