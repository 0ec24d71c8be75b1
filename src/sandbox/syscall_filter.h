/* SPDX-License-Identifier: MIT */
/*
 * syscall_filter: which system calls a process may make, as a list; everything else is refused.
 *
 * The list becomes a classic BPF program for seccomp(2), made here: it needs no library, and a list
 * that can be read beside the program that it confines is the point of it. A call that is not named is
 * refused in one of two ways. A parser is killed, for it has gone astray. A service gets EPERM and says
 * which call it was, once, because a library that was updated may want something new, and a
 * collector that ends for it would lose more than it protects.
 */
#ifndef KISEKI_SANDBOX_SYSCALL_FILTER_H
#define KISEKI_SANDBOX_SYSCALL_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SYSCALL_RULES_MAX 256U

/* A call is allowed where the low 32 bits of an argument, under the mask, have the value; mask 0: always.
 * Several rules may name one call: it is enough that one fits. */
struct syscall_rule {
	int number; /* __NR_… */
	uint8_t argument;
	uint32_t mask, value;
	int code; /* not 0: the call fails with this errno instead, quietly */
};

enum syscall_otherwise {
	SYSCALL_KILL, /* the process, by SIGSYS */
	SYSCALL_TELL, /* EPERM, and a line on standard error that names the call */
};

struct syscall_filter {
	const struct syscall_rule *rules;
	size_t n;
	enum syscall_otherwise otherwise;
};

/* For all threads of the process and for good; no child gets more by execve(2) either. With SYSCALL_TELL
 * SIGSYS belongs to this from now on, and no thread may block it. -ENOSYS: this kernel or machine has no
 * such filters. Programs with a sanitizer go without, and it is 0. */
int syscall_filter_install(const struct syscall_filter *f, struct error *e);

#endif
