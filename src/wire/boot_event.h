/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * boot_event: the record of a boot chart, as the device makes it, importers make it and all readers
 * get it (docs/format/boot.md).
 *
 * A record is a kind, a key (whose: a pid, a CPU, a disk), up to BOOT_NUMBERS_MAX numbers and a text.
 * Numbers are absolute, as the kernel gives them: the codec takes differences. Whoever samples says only
 * what has changed since it last said it, and everything again where the codec starts afresh
 * (boot_encode.h), so what is not said again still holds.
 *
 * Ticks are of the clock that the run's description has. Records come in the order in which they became
 * known: a sample's have the tick of their pass, an event of the kernel has its own, which may be earlier.
 */
#ifndef KISEKI_WIRE_BOOT_EVENT_H
#define KISEKI_WIRE_BOOT_EVENT_H

#include "wire/types.h"

#define BOOT_NUMBERS_MAX 12U
#define BOOT_TEXT_MAX 1023U

/* Published numbers: append only. */
enum boot_kind {
	BOOT_PASS = 0,	     /* the processes were looked at */
	BOOT_START = 1,	     /* key: pid. A process or thread is there */
	BOOT_NAME = 2,	     /* key: pid. text: comm */
	BOOT_EXEC = 3,	     /* key: pid. text: its arguments, each ended by a NUL */
	BOOT_TASK = 4,	     /* key: pid. Its state and times */
	BOOT_WAIT = 5,	     /* key: pid. text: kernel function in which it waits, "" not known */
	BOOT_EXIT = 6,	     /* key: pid. It is gone */
	BOOT_ACCOUNT = 7,    /* key: pid. What it used in all, told at its end */
	BOOT_CPU = 8,	     /* key: number of the CPU. A row of /proc/stat */
	BOOT_DISK = 9,	     /* key: number given by the device. A row of /proc/diskstats */
	BOOT_DISK_NAME = 10, /* key: as above. text: name */
	BOOT_MEMORY = 11,    /* /proc/meminfo */
	BOOT_PRESSURE = 12,  /* key: enum boot_resource. /proc/pressure */
	BOOT_MARK = 13,	     /* key: enum boot_mark_type. text: what it says */
	BOOT_KINDS = 14,
};

/* What the numbers are, by kind. */
enum boot_pass_number {
	BOOT_PASS_TASKS = 0,	/* processes there are */
	BOOT_PASS_LOOKED = 1,	/* and how many of them were looked at: others did not run since */
	BOOT_PASS_TOOK = 2,	/* ticks that the pass took */
	BOOT_PASS_SWITCHES = 3, /* of the machine since it started: ctxt of /proc/stat */
	BOOT_PASS_RUNNABLE = 4, /* procs_running */
	BOOT_PASS_BLOCKED = 5,	/* procs_blocked */
	BOOT_PASS_FORKS = 6,	/* `processes` of /proc/stat */
};

enum boot_start_number {
	BOOT_START_PARENT = 0, /* pid of the process that it is a child of */
	BOOT_START_GROUP = 1,  /* pid of the process; the key, if it is one itself */
	BOOT_START_TICK = 2,   /* when it started, on the run's clock */
	BOOT_START_HOW = 3,    /* enum boot_how: where that is known from */
	BOOT_START_FLAGS = 4,  /* enum boot_start_flag */
};

enum boot_how {
	BOOT_BY_EVENT = 0,  /* the kernel told of it: the tick is its own */
	BOOT_BY_PROC = 1,   /* from /proc, to a hundredth of a second */
	BOOT_BY_SAMPLE = 2, /* some time since the pass before */
};

enum boot_start_flag {
	BOOT_START_KERNEL = 1, /* a kernel thread */
	BOOT_START_SELF = 2,   /* it is the recorder */
};

enum boot_task_number {
	BOOT_TASK_STATE = 0, /* letter: R D S Z T t I X P … */
	BOOT_TASK_USER = 1,  /* ns, as far as the kernel counts them */
	BOOT_TASK_SYSTEM = 2,
	BOOT_TASK_RAN = 3,    /* ns on a CPU by the scheduler's own count, 0: not known */
	BOOT_TASK_WAITED = 4, /* ns runnable and not running, likewise */
	BOOT_TASK_FAULTS = 5, /* that read from a disk */
	BOOT_TASK_THREADS = 6,
};

enum boot_exit_number {
	BOOT_EXIT_CODE = 0, /* as wait() has it: code << 8 | signal */
	BOOT_EXIT_HOW = 1,  /* enum boot_how */
};

enum boot_account_number {
	BOOT_ACCOUNT_USER = 0, /* ns */
	BOOT_ACCOUNT_SYSTEM = 1,
	BOOT_ACCOUNT_RAN = 2,
	BOOT_ACCOUNT_WAITED = 3, /* ns for a CPU */
	BOOT_ACCOUNT_DISK = 4,	 /* ns for a block device */
	BOOT_ACCOUNT_SWAP = 5,	 /* ns for pages */
	BOOT_ACCOUNT_READ = 6,	 /* bytes */
	BOOT_ACCOUNT_WRITTEN = 7,
	BOOT_ACCOUNT_RSS = 8,	   /* KiB, most at a time */
	BOOT_ACCOUNT_FAULTS = 9,   /* that read from a disk */
	BOOT_ACCOUNT_YIELDED = 10, /* switches that it wanted */
	BOOT_ACCOUNT_PREEMPTED = 11,
};

enum boot_cpu_number { /* ns */
		       BOOT_CPU_USER = 0,
		       BOOT_CPU_NICE = 1,
		       BOOT_CPU_SYSTEM = 2,
		       BOOT_CPU_IDLE = 3,
		       BOOT_CPU_IOWAIT = 4,
		       BOOT_CPU_IRQ = 5,
		       BOOT_CPU_SOFTIRQ = 6,
		       BOOT_CPU_STEAL = 7,
};

enum boot_disk_number {
	BOOT_DISK_READS = 0,
	BOOT_DISK_READ_BYTES = 1,
	BOOT_DISK_WRITES = 2,
	BOOT_DISK_WRITTEN_BYTES = 3,
	BOOT_DISK_BUSY = 4, /* ns */
	BOOT_DISK_IN_FLIGHT = 5,
	BOOT_DISK_WEIGHTED = 6, /* ns × requests */
};

enum boot_memory_number { /* KiB */
			  BOOT_MEMORY_TOTAL = 0,
			  BOOT_MEMORY_FREE = 1,
			  BOOT_MEMORY_AVAILABLE = 2,
			  BOOT_MEMORY_BUFFERS = 3,
			  BOOT_MEMORY_CACHED = 4, /* with what can be reclaimed of the slab */
			  BOOT_MEMORY_SHARED = 5,
			  BOOT_MEMORY_DIRTY = 6,
			  BOOT_MEMORY_SWAP_TOTAL = 7,
			  BOOT_MEMORY_SWAP_FREE = 8,
};

enum boot_resource {
	BOOT_RESOURCE_CPU = 0,
	BOOT_RESOURCE_IO = 1,
	BOOT_RESOURCE_MEMORY = 2,
	BOOT_RESOURCE_IRQ = 3,
	BOOT_RESOURCES = 4,
};

enum boot_pressure_number {			    /* ns since the machine started */
			    BOOT_PRESSURE_SOME = 0, /* at least one task waited for it */
			    BOOT_PRESSURE_FULL = 1, /* all that could run did */
};

enum boot_mark_type {
	BOOT_MARK_KERNEL = 0, /* a kernel message */
	BOOT_MARK_PHASE =
		1, /* of init: a unit or a script has begun or ended, or the root changed */
	BOOT_MARK_TARGET = 2,  /* what the recorder was waiting for has come */
	BOOT_MARK_STOP = 3,    /* recording ends here, and why */
	BOOT_MARK_CLOCK = 4,   /* the real time was set: see boot_mark_number */
	BOOT_MARK_MISSING = 5, /* something is not in the chart from here on, and why */
	BOOT_MARK_FACT =
		6, /* "name=value" about the machine: command line, CPU, release, interval_ns … */
	BOOT_MARK_TYPES = 7,
};

enum boot_mark_number {
	BOOT_MARK_TICK = 0,  /* when it happened, on the run's clock */
	BOOT_MARK_LEVEL = 1, /* of a kernel message: 0 emergency … 7 debug */
	BOOT_MARK_VALUE =
		2, /* of a clock: CLOCK_REALTIME − the run's clock in ns, as a two's complement */
	BOOT_MARK_PID = 3, /* whose it is; 0: nobody's */
};

struct boot_event {
	uint64_t tick;
	uint8_t kind; /* enum boot_kind */
	uint32_t key;
	uint64_t number[BOOT_NUMBERS_MAX]; /* those that its kind has */
	const char *text;		   /* borrowed, not terminated; of kinds that have one */
	uint32_t text_len;		   /* at most BOOT_TEXT_MAX */
};

/* How many numbers a kind has, and whether it has a text. */
struct boot_shape {
	uint8_t numbers;
	bool has_text;
};
extern const struct boot_shape boot_shapes[BOOT_KINDS];

#endif
