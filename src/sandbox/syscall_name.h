/* SPDX-License-Identifier: MIT */
/*
 * syscall_name: what this machine's system calls are called, as the compiler's headers have it
 * (tools/syscall-names makes the table when this is built).
 */
#ifndef KISEKI_SANDBOX_SYSCALL_NAME_H
#define KISEKI_SANDBOX_SYSCALL_NAME_H

struct syscall_row {
	int number; /* -1: the end */
	const char *name;
};

extern const struct syscall_row syscall_rows[];

/* NULL: not known. May be called from a signal's handler. */
const char *syscall_name_get(int number);

#endif
