/* SPDX-License-Identifier: MIT */
/* syscall_filter: see syscall_filter.h. A seccomp filter: per call one comparison and one answer. Which machine the number is of need
 * not be looked at: what is started is built for the same. */
#include "tools/syscall_filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef SYS_fsopen
#define SYS_fsopen 430
#endif

long syscall_filter_get(const char *name)
{
	static const struct {
		const char *name;
		long number;
	} calls[] = { { "fsopen", SYS_fsopen },
		      { "getrandom", SYS_getrandom },
		      { "mount", SYS_mount },
		      { "syslog", SYS_syslog } };
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(name, calls[i].name))
			return calls[i].number;
	return -1;
}

int syscall_filter_set(const struct syscall_filter *list, size_t n)
{
	struct sock_filter code[2 + 2 * SYSCALL_FILTER_MAX], *p = code;
	struct sock_fprog program = { .filter = code };
	size_t i;

	if (n > SYSCALL_FILTER_MAX)
		return -E2BIG;
	*p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					    offsetof(struct seccomp_data, nr));
	for (i = 0; i < n; i++) {
		*p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						    (uint32_t)list[i].number, 0, 1);
		*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						    SECCOMP_RET_ERRNO | (uint32_t)list[i].error);
	}
	*p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)(p - code);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		return -errno;
	return 0;
}
