/* SPDX-License-Identifier: MIT */
/*
 * syscall_filter: from now on some system calls fail, in this process and in all that it starts: as on an older kernel, or on
 * one that has just started. For tests of what is done then.
 */
#ifndef KISEKI_TESTS_SYSCALL_FILTER_H
#define KISEKI_TESTS_SYSCALL_FILTER_H

#include <stddef.h>

#define SYSCALL_FILTER_MAX 16U

struct syscall_filter {
	long number;
	int error; /* errno that it fails with */
};

/* The number of a call by its name, of those that tests deny; -1: it is none of them. */
long syscall_filter_get(const char *name);

/* -errno: this kernel, or what emulates it, cannot. */
int syscall_filter_set(const struct syscall_filter *list, size_t n);

#endif
