/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_event: the record of a function trace, as all its sources make it and all readers get it.
 *
 * A stream is one thread's. Its events are in order of time as far as the counter is: a thread that
 * moves between CPUs may see it step back a little, and that is kept as it was seen. Exits name
 * their function although no codec writes the name where the shadow stack knows it; an exit whose
 * entry is not in the trace (recording began inside of it, longjmp passed over it) still has it.
 */
#ifndef KISEKI_WIRE_FUNC_EVENT_H
#define KISEKI_WIRE_FUNC_EVENT_H

#include "wire/types.h"

enum func_kind {
	FUNC_ENTER = 0,
	FUNC_EXIT = 1,
	FUNC_OS = 2,
};

/* What the machine did to the thread. Published numbers: append only. */
enum func_os_type {
	FUNC_OS_SWITCH_IN = 0,	/* value: CPU */
	FUNC_OS_SWITCH_OUT = 1, /* value: its state as sched_event has it; 0: it was preempted */
	FUNC_OS_WAKING = 2,	/* value: pid of who woke it */
	FUNC_OS_SYSCALL = 3,	/* value: number */
	FUNC_OS_SYSCALL_RETURN = 4, /* value: number */
	FUNC_OS_INTERRUPT = 5,	    /* value: number */
	FUNC_OS_INTERRUPT_RETURN = 6,
	FUNC_OS_MAPS = 7,  /* value: generation of the maps from here on */
	FUNC_OS_WATCH = 8, /* value: enum func_watch: what is recorded from here on */
	FUNC_OS_MAX = 127, /* as large as an info type of `rtc` with its usual 7 bits */
};

/* Bits of FUNC_OS_WATCH. What the thread did before it is not known; from here on, whatever of this
 * happens to it is told. 0: nothing is told any more. */
enum func_watch {
	FUNC_WATCH_SWITCHES = 1, /* and wakings */
	FUNC_WATCH_SYSCALLS = 2,
};

struct func_event {
	uint64_t tick;
	uint64_t value; /* ENTER, EXIT: the function's address; OS: see enum func_os_type */
	uint8_t kind;	/* enum func_kind */
	uint8_t os;	/* enum func_os_type, FUNC_OS only */
};

#endif
