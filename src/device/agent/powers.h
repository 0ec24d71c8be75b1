/* SPDX-License-Identifier: MIT */
/*
 * powers: what of root a program of the device keeps once it has started.
 *
 * A recorder is root for the sake of files that are root's (tracefs, its spool), which takes no
 * capability. Beside that it needs a few, by what it records; all others are given up for good: from its
 * own sets, from the bounding set, so that nothing it starts can have them, and with no_new_privs, so
 * that no program on the disk gives them back. docs/security.md has the table and its reasons.
 *
 * A kernel before 5.8 has no CAP_BPF and CAP_PERFMON; there CAP_SYS_ADMIN stands for both, and stays.
 */
#ifndef KISEKI_DEVICE_AGENT_POWERS_H
#define KISEKI_DEVICE_AGENT_POWERS_H

#include "base/error.h"

enum powers_of {
	POWERS_OF_AGENT, /* tracefs, BPF, calls of programs: the collector may choose any of them later */
	POWERS_OF_DRIVER,  /* the driver records; the agent hands connections over */
	POWERS_OF_KERNEL,  /* function_graph of tracefs */
	POWERS_OF_PROFILE, /* perf, and maps, files and names of all processes */
	POWERS_OF_VM,	   /* the same, with BPF in place of perf */
	POWERS_OF_GUEST,   /* the kernel's word on processes, and maps, files and names of all */
	POWERS_OF_GUEST_TABLES, /* the same, with BPF */
	POWERS_OF_BOOT, /* mounts, devices and roots that a boot has not made yet, and the kernel's accounts */
	POWERS_ROLES,
};

/* The bits of the capabilities that a role has, on this kernel. `writes` is for one that will make files in folders
 * that may not be root's. */
unsigned long long powers_get(enum powers_of role, int writes);

/* In a process with one thread, which stays as it is where it has no powers. */
int powers_keep(enum powers_of role, int writes, struct error *e);

#endif
