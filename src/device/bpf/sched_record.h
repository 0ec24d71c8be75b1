/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sched_record: what the BPF programs put into their rings, and the maps they share with the agent.
 * Both sides include this file; both are of the same machine, so the bytes are in its order.
 *
 * A record is one of three shapes, all of them a multiple of eight bytes, because the ring rounds
 * up to that anyway:
 *
 *   one    head ids comm        wakeups, exit, setprio                          32 bytes
 *   two    head ids comm comm   switch, fork, rename                            48 bytes
 *   path   head ids bytes…      exec: the filename up to the record's end
 *
 *   head   bits 0-3 enum sched_kind; bit 4: records were dropped before this one; 5-63 nanoseconds
 *   ids    bits 0-21 task.pid, 22-43 the second pid, 44-63 a number that depends on the kind
 *   comm   15 bytes of a name, and in the 16th, which is always NUL in the kernel, its task's
 *          priority + 1 (priorities are -1 to 139)
 *
 *   kind      second pid     number
 *   SWITCH    next           prev_state
 *   wakeups   common_pid     target_cpu (17 bits), and RECORD_HARDIRQ and so on
 *   FORK      child          -
 *   EXEC      old_pid        -
 *   EXIT      -              group_dead
 *   RENAME    common_pid     oom_score_adj as 16 bits
 *   SETPRIO   common_pid     newprio + 1
 *
 * Where there is no common_pid, it is that of the task. Pids have 22 bits in every Linux. The ring
 * puts eight bytes before each record: a switch takes 56 bytes, a wakeup 40.
 */
#ifndef KISEKI_DEVICE_BPF_SCHED_RECORD_H
#define KISEKI_DEVICE_BPF_SCHED_RECORD_H

#include <stdint.h>

#define RECORD_VERSION 2U /* of this file; pinned maps of another one are not read */
#define RECORD_COMM 16

#define RECORD_KIND_BITS 4
#define RECORD_LOST_BIT 4
#define RECORD_TIME_SHIFT 5
#define RECORD_PID_BITS 22
#define RECORD_PID_MASK ((1U << RECORD_PID_BITS) - 1)
#define RECORD_NUMBER_SHIFT 44
#define RECORD_PATH_MAX 4096 /* with its NUL */
#define RECORD_CPU_MASK 0x1ffffU
#define RECORD_HARDIRQ (1U << 17) /* the wakeup was made by an interrupt, */
#define RECORD_SOFTIRQ (1U << 18) /* by what it had left for later, */
#define RECORD_NMI (1U << 19)	  /* or by one that cannot be masked */

struct record_one {
	uint64_t head;
	uint64_t ids;
	uint64_t comm[2];
};

struct record_two {
	uint64_t head;
	uint64_t ids;
	uint64_t comm[4];
};

struct record_path {
	uint64_t head;
	uint64_t ids;
	char path[RECORD_PATH_MAX]; /* a record ends behind the NUL */
};

/* One per CPU, in a map that the agent has mapped too; a cache line of its own. */
struct record_cpu {
	uint64_t dropped;     /* the ring was full, or this CPU has none */
	uint64_t passed_over; /* by the filter */
	uint64_t bytes;	      /* ever put; only its growth means something */
	uint64_t wake_at;     /* the record at which `bytes` gets here wakes the agent */
	uint32_t on;	      /* the agent's switch */
	uint32_t lost;	      /* something was dropped since the last record */
	/* About all of them, in the first one only; written before it is pinned. */
	uint32_t version;
	uint32_t kinds;		 /* 1 << enum sched_kind: what is recorded */
	uint32_t has_group_dead; /* of exits */
	uint32_t long_size;	 /* bytes of a long of the kernel: of the rings' positions, too */
	uint32_t has_context;	 /* wakeups by interrupts are marked */
	uint32_t spare;
};

#define RECORD_COMMS_MAX 32

/* What is fixed when the programs are loaded. The verifier sees the values and leaves out what they
 * switch off. */
struct record_setup {
	uint32_t kinds;		 /* 1 << enum sched_kind: what is recorded */
	uint32_t has_prev_state; /* sched_switch has its fourth argument (5.18 on) */
	uint32_t has_group_dead; /* sched_process_exit has its second argument (6.16 on) */
	uint32_t filtered;
	uint32_t follows_forks;
	uint32_t n_comms;
	uint32_t has_context; /* this kernel lets programs see whether an interrupt is served */
	uint32_t spare;
	/* A name fits if it is equal where the mask is set: 16 bytes each. */
	uint64_t comms[RECORD_COMMS_MAX][2];
	uint64_t masks[RECORD_COMMS_MAX][2];
};

#define RECORD_LISTED 0xffffffffU /* value of a pid that was asked for; others: generation */

#ifndef __cplusplus
_Static_assert(sizeof(struct record_one) == 32, "one");
_Static_assert(sizeof(struct record_two) == 48, "two");
_Static_assert(sizeof(struct record_cpu) == 64, "cpu");
_Static_assert(sizeof(struct record_setup) == 32 + 64 * 16, "setup");
#endif

#endif
