/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sched_kind: the kinds of scheduler events. Apart from struct sched_event, because a BPF program
 * knows the kinds too, and can include nothing of any C library.
 */
#ifndef KISEKI_WIRE_SCHED_KIND_H
#define KISEKI_WIRE_SCHED_KIND_H

/* The numbers are part of the wire format. */
enum sched_kind {
	SCHED_SWITCH = 0,
	SCHED_WAKING = 1,
	SCHED_WAKEUP = 2,
	SCHED_WAKEUP_NEW = 3,
	SCHED_FORK = 4,
	SCHED_EXEC = 5,
	SCHED_EXIT = 6,
	SCHED_RENAME = 7,
	SCHED_SETPRIO = 8,
	SCHED_KINDS = 9,
};

#endif
