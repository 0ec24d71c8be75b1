/* SPDX-License-Identifier: MIT */
/*
 * func_os: what the kernel did to the threads that programs are traced of, as the OS streams of the
 * run of function streams (docs/format/func.md, section 2).
 *
 *	func_os_watch(o, pid)         when a program asks, before it is answered: the kernel follows it
 *	func_os_add(o, tid, row)      when a thread's row is known: its records go there
 *	func_os_drain(o, now_ms, e)   from time to time
 *	func_os_remove(o, tid, row)   when a thread is gone
 *	func_os_stop(o, e)            before the run is ended
 *
 * Switches, wakings and system calls come from a tracefs instance of the agent that is limited to
 * these threads. A thread that a watched one makes is watched from its first moment, where the
 * kernel can do that (since 4.7); what is recorded of it before its row is known is held, so that
 * its split is whole. All that is before a record FUNC_OS_WATCH of a thread is not known, and no
 * reader has to guess: what it was doing then is told by its next record or its next call.
 *
 * What the kernel's rings lost is counted for each CPU, and nobody can say whose it was. The number
 * is told once, in the stream of the thread that ran on that CPU last; all others have a pair of
 * FUNC_OS_WATCH around the gap: 0 where it begins and what is recorded again where it ends.
 *
 * All memory is taken when it is opened. When the spool has no room, nothing more is read: the rings
 * fill, and their own count says what was lost.
 */
#ifndef KISEKI_DEVICE_FEED_FUNC_OS_H
#define KISEKI_DEVICE_FEED_FUNC_OS_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/feed/func_run.h"

#define FUNC_OS_RING_KIB 2048U /* of each CPU, where nothing else is said */

struct func_os;

struct func_os_options {
	const char *instance; /* its name */
	uint32_t cpus;	      /* highest number + 1 */
	uint32_t ring_kib;    /* of each CPU; 0: FUNC_OS_RING_KIB */
	uint32_t clock;	      /* enum func_buffer_clock: of the run */
	uint32_t shift;	      /* its ticks are the counter >> this */
	struct func_run *run; /* borrowed; open whenever anything is drained */
};

/* -ENOENT, -EACCES: this machine cannot do it, e says why. */
int func_os_open(struct func_os **ret, const struct func_os_options *o, struct error *e);
void func_os_close(struct func_os *o); /* takes NULL; puts what it can */
DEFINE_CLEANUP(func_os, func_os_close)

/* From here on the thread is watched, and those that it makes. One that has a row executes another
 * program, whose row will come. -ENOBUFS: too many are. */
int func_os_watch(struct func_os *o, int32_t tid, struct error *e);

/* Its row is this; it is watched if it was not. A tid that had another row begins anew. */
int func_os_add(struct func_os *o, int32_t tid, uint32_t row, struct error *e);
void func_os_remove(struct func_os *o, int32_t tid, uint32_t row);

enum func_os_drained {
	FUNC_OS_ALL,
	FUNC_OS_MORE, /* there is more, or so much came that it must come again soon */
	FUNC_OS_ROWS, /* so, and what is held is too much: threads that have a row by now should get it first */
};

/* Takes what the kernel recorded, and puts blocks that are due. enum func_os_drained, or < 0: failed. */
int func_os_drain(struct func_os *o, uint64_t now_ms, struct error *e);

/* All up to now is put, and every row is forgotten; tids stay watched. -ENOSPC: the spool is full, so not
 * yet all. */
int func_os_stop(struct func_os *o, struct error *e);

uint64_t func_os_fixed_bytes(const struct func_os *o); /* for STATUS: all that it holds */

#endif
