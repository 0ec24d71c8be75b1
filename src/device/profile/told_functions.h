/* SPDX-License-Identifier: MIT */
/*
 * told_functions: the functions of the kernel whose names a recording has already, so that a sample in one of them is
 * no reason to go through the kernel's list again.
 *
 * What lies where changes only when modules come and go. So it holds while /proc/modules says the same; what comes and goes
 * beside modules, as programs of BPF, is not to be kept here. There is room for a fixed number; those beyond are named again and again.
 */
#ifndef KISEKI_DEVICE_PROFILE_TOLD_FUNCTIONS_H
#define KISEKI_DEVICE_PROFILE_TOLD_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define TOLD_FUNCTIONS_MAX 8192U

struct told_functions {
	uint64_t modules; /* a sum of what the modules are; 0: they were not looked at yet */
	uint32_t n, n_sorted;
	struct told_range {
		uint64_t from, to;
	} range[TOLD_FUNCTIONS_MAX];
};

/* `modules` is /proc/modules. Forgets all if they are others than the last time. A file that cannot be read has none. */
void told_functions_check(struct told_functions *t, const char *modules);

void told_functions_forget(struct told_functions *t);

/* Between a push and a question lies _sort(). */
void told_functions_push(struct told_functions *t, uint64_t from, uint64_t to);
void told_functions_sort(struct told_functions *t);
bool told_functions_has(const struct told_functions *t, uint64_t address);

#endif
