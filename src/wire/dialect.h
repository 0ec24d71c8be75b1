/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * dialect: how the traced kernel lays out and prints its scheduler events.
 *
 * The events are the same in every kernel, their printed form is not: task state bits were
 * renumbered in 4.14, wakeups once had a success field, the flags column grew. A trace keeps the
 * few facts that decide this, so that an export years later prints what that kernel would have.
 * Sources fill it from the event's own `format` description where there is one, else from the
 * kernel's release with dialect_from_release(). docs/format/wire.md, section 7.2, has its bytes.
 */
#ifndef KISEKI_WIRE_DIALECT_H
#define KISEKI_WIRE_DIALECT_H

#include "wire/types.h"

#define DIALECT_STATE_BITS 16

enum dialect_feature {
	DIALECT_SUCCESS = 1 << 0,	 /* wakeups have and print success= */
	DIALECT_GROUP_DEAD = 1 << 1,	 /* exits have and print group_dead= */
	DIALECT_RENAME_NO_PID = 1 << 2,	 /* task_rename has no pid field (pid is common_pid) */
	DIALECT_BIG_ENDIAN = 1 << 3,	 /* the traced kernel is big-endian */
	DIALECT_TGID = 1 << 4,		 /* text has the (tgid) column */
	DIALECT_NO_FLAGS = 1 << 5,	 /* the source knows no flags and preempt count */
	DIALECT_FIXED_COMM = 1 << 6,	 /* fork and setprio have char[16] names, not __data_loc */
	DIALECT_NO_CUR = 1 << 7,	 /* the source knows no common_pid: it is inferred */
	DIALECT_LAZY_RESCHED = 1 << 8,	 /* flag 0x02 is "need resched lazy" (6.13 on) */
	DIALECT_SUCCESS_SILENT = 1 << 9, /* wakeups have success, but do not print it */
	DIALECT_WAKER_CONTEXT = 1 << 10, /* NO_FLAGS, but wakeups by interrupts have their flags */
};

struct sched_dialect {
	uint32_t features;	/* enum dialect_feature */
	uint32_t kinds;		/* 1 << enum sched_kind: which events were being recorded */
	uint8_t long_size;	/* bytes of a long of the traced kernel: 4 or 8 */
	uint8_t flag_columns;	/* characters in the flags column of text: 4 or 5 */
	uint8_t pid_width;	/* "%-5d" or "%-7d" in the task column: 5 or 7 */
	uint64_t state_mask;	/* bits printed as letters; none of them set prints R */
	uint64_t state_preempt; /* the bit printed as '+' */
	char state_letters[DIALECT_STATE_BITS]; /* letter of bit i, 0 where there is none */
};

/* The dialect of a current kernel (6.x, 64 bit). */
void dialect_init(struct sched_dialect *d);

/* The dialect of a kernel known only by its release, "4.9.112-g1234"; an unreadable one counts as
 * current. */
void dialect_from_release(struct sched_dialect *d, const char *release);

#endif
