/* SPDX-License-Identifier: MIT */
/*
 * powers: see powers.h. Numbers and structs are the kernel's: a tool chain may have headers that are older than
 * it, or none.
 */
#include "device/agent/powers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	CAP_DAC_OVERRIDE = 1,
	CAP_DAC_READ_SEARCH = 2,
	CAP_NET_ADMIN = 12,
	CAP_IPC_LOCK = 14,
	CAP_SYS_CHROOT = 18,
	CAP_SYS_PTRACE = 19,
	CAP_SYS_ADMIN = 21,
	CAP_SYS_NICE = 23,
	CAP_SYS_RESOURCE = 24,
	CAP_MKNOD = 27,
	CAP_SYSLOG = 34,
	CAP_PERFMON = 38,
	CAP_BPF = 39,
};

#define SETS_VERSION 0x20080522 /* of 64 bits, Linux 2.6.26 */

struct sets_head {
	uint32_t version;
	int pid; /* 0: this thread */
};

/* Twice: of the lower and of the upper half of the bits. */
struct sets_half {
	uint32_t effective, permitted, inheritable;
};

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
	[POWERS_OF_GUEST] = BIT(CAP_NET_ADMIN) | OF_OTHERS,
	[POWERS_OF_GUEST_TABLES] = BIT(CAP_NET_ADMIN) | BIT(CAP_BPF) | BIT(CAP_PERFMON) | OF_OTHERS,
	[POWERS_OF_BOOT] = BIT(CAP_NET_ADMIN) | BIT(CAP_SYS_ADMIN) | BIT(CAP_SYS_CHROOT) |
			   BIT(CAP_SYS_NICE) | BIT(CAP_SYS_RESOURCE) | BIT(CAP_MKNOD) | OF_OTHERS,
};

/* Debian's kernels know a level 3, at which CAP_SYS_ADMIN alone opens perf events. */
static bool needs_admin_for_perf(void)
{
	int level = 0;
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

	if (!f)
		return false;
	if (fscanf(f, "%d", &level) != 1)
		level = 0;
	fclose(f);
	return level > 2;
}

unsigned long long powers_get(enum powers_of role, int writes)
{
	const unsigned long long young = BIT(CAP_BPF) | BIT(CAP_PERFMON);
	unsigned long long bits = needs[role];

	if ((bits & young) && prctl(PR_CAPBSET_READ, CAP_BPF, 0, 0, 0) < 0)
		bits = (bits & ~young) | BIT(CAP_SYS_ADMIN);
	if ((role == POWERS_OF_PROFILE || role == POWERS_OF_VM) && needs_admin_for_perf())
		bits |= BIT(CAP_SYS_ADMIN);
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
	struct sets_head head = { .version = SETS_VERSION };
	struct sets_half sets[2];
	int i;

	if (syscall(SYS_capget, &head, sets) < 0)
		return -errno;
	for (i = 0; i < 2; i++) {
		uint32_t half = (uint32_t)(keep >> (32 * i));

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
