/* SPDX-License-Identifier: MIT */
/*
 * boot_script: a boot source out of a small text, for tests that say in a few lines how a machine booted.
 *
 *	device NAME | kernel RELEASE | machine NAME | cpus N | memory KIB
 *	interval MS			how often processes are looked at
 *	end MS				of the recording
 *	events on|off			whether the kernel tells of processes, or they are only looked at
 *	task PID PARENT NAME FROM TO	a process; TO may be "-": it stays. A kernel thread if its parent is 2
 *	thread TID PID NAME FROM TO
 *	exec PID AT NAME ARGUMENT...	its name from then on, and its arguments
 *	run PID FROM TO USER SYSTEM	percents of a CPU; the rest it waits for one
 *	wait PID FROM TO STATE PLACE	in this state, in this function of the kernel
 *	exit PID CODE
 *	disk KEY NAME
 *	flow KEY FROM TO READ WRITTEN	KiB a second
 *	mark TYPE AT TEXT...		kernel phase target stop clock missing fact
 *	loss CAUSE AT COUNT		cause by number; "?" if the count is not known
 *
 * Times are milliseconds since the recording began, with fractions if need be. Where nothing is said a process
 * sleeps. Lines that are empty or begin with # are comments. The first tick is BOOT_SCRIPT_START, so that
 * processes can have started before; a tick is a nanosecond.
 */
#ifndef KISEKI_TESTS_BOOT_SCRIPT_H
#define KISEKI_TESTS_BOOT_SCRIPT_H

#include "trace/boot_source.h"

#define BOOT_SCRIPT_START 1000000000ULL

/* -EINVAL, with the line that is wrong in e. */
int boot_script_new(struct boot_source **ret, const char *text, struct error *e);

#endif
