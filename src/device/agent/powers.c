/* SPDX-License-Identifier: MIT */
/* powers: see powers.h. The numbers are the kernel's; headers of a tool chain may be older than it. */
#include "device/agent/powers.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif
#ifndef PR_CAP_AMBIENT
#define PR_CAP_AMBIENT 47
#define PR_CAP_AMBIENT_CLEAR_ALL 4
#endif

#define NUMBERS_MAX 64 /* no kernel has more */
#define BIT(cap) (1ULL << (cap))
#define OF_OTHERS (BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_SYSLOG))

static const unsigned long long needs[POWERS_ROLES] = {
	[POWERS_OF_AGENT] = BIT(CAP_BPF) | BIT(CAP_PERFMON),
	[POWERS_OF_DRIVER] = 0,
	[POWERS_OF_KERNEL] = BIT(CAP_SYSLOG),
	[POWERS_OF_PROFILE] = BIT(CAP_PERFMON) | BIT(CAP_IPC_LOCK) | OF_OTHERS,
	[POWERS_OF_VM] = BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_IPC_LOCK) | OF_OTHERS,
};

unsigned long long powers_get(enum powers_of role, int writes)
{
	const unsigned long long young = BIT(CAP_BPF) | BIT(CAP_PERFMON);
	unsigned long long bits = needs[role];

	if ((bits & young) && prctl(PR_CAPBSET_READ, CAP_BPF, 0, 0, 0) < 0)
		bits = (bits & ~young) | BIT(CAP_SYS_ADMIN);
	/* Somebody else who was given powers reaches root's files by this alone. */
	if (writes || geteuid() != 0)
		bits |= BIT(CAP_DAC_OVERRIDE);
	return bits;
}

/* It takes CAP_SETPCAP, so it is done first. Where that is missing, the set is as it was. */
static void cut_bounding(unsigned long long keep)
{
	int i;

	for (i = 0; i < NUMBERS_MAX && prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		if (!(keep & BIT(i)))
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

static int cut_own(unsigned long long keep)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2];
	int i;

	if (syscall(SYS_capget, &head, sets) < 0)
		return -errno;
	for (i = 0; i < 2; i++) {
		__u32 half = (__u32)(keep >> (32 * i));

		sets[i].permitted &= half;
		sets[i].effective = sets[i].permitted;
		sets[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, sets) < 0 ? -errno : 0;
}

int powers_keep(enum powers_of role, int writes, struct error *e)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	const unsigned long long keep = powers_get(role, writes);
	int r;

	/* Before Linux 5.11 the memory of BPF counts as locked; who may not raise it has what it has. */
	(void)setrlimit(RLIMIT_MEMLOCK, &all);
	cut_bounding(keep);
	r = cut_own(keep);
	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	return r < 0 ? error_set(e, -r, "cannot give up powers: %s", strerror(-r)) : 0;
}
