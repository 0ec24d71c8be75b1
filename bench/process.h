/* SPDX-License-Identifier: MIT */
/*
 * process: what a command costs, as the best of several runs.
 */
#ifndef KISEKI_BENCH_PROCESS_H
#define KISEKI_BENCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct process_cost {
	uint64_t cpu_ns; /* user and system time of all its threads */
	uint64_t wall_ns;
};

/* Is there such a program, by path or in PATH? */
bool process_exists(const char *program);

/* Runs argv with standard output to `out` and standard error to nowhere. Both times are the least
 * of `runs`. 0, a negative errno, or -ECHILD if it ended with anything but 0. */
int process_best(char *const argv[], const char *out, unsigned runs, struct process_cost *ret);

#endif
