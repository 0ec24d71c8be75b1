/* SPDX-License-Identifier: MIT */
/*
 * os_threads: the records of each watched thread, from the kernel's rings into blocks of its OS
 * stream.
 *
 * A thread is known by its tid from the first record or watch on; its row in the run comes later.
 * Records wait in one pool of fixed size, a list for each thread. Those of a thread that has a row
 * become blocks; those of one that has none yet are held. When they grow old or many, its row is asked
 * for; if it gets none, the oldest are forgotten but for what they say about now: whether it runs, was
 * woken, is in a system call. These few are true records, and its stream begins with them.
 *
 * A stream begins with FUNC_OS_WATCH, from where on nothing of it is missing, and these few. Around a gap in any CPU's
 * records each thread has two of them, because each may have been there.
 */
#ifndef KISEKI_DEVICE_FEED_OS_THREADS_H
#define KISEKI_DEVICE_FEED_OS_THREADS_H

#include "base/cleanup.h"
#include "device/feed/func_run.h"
#include "device/feed/os_clock.h"
#include "device/feed/os_map.h"

#define OS_THREADS_MAX 1024U	  /* that are watched at a time */
#define OS_POOL_RECORDS 16384U	  /* that wait, of all */
#define OS_HELD_MAX 4096U	  /* of a thread without a row */
#define OS_HELD_NS 3000000000ULL  /* and how long, by the records' own time */
#define OS_BLOCK_RECORDS 2048U	  /* that make a block due, */
#define OS_BLOCK_NS 1000000000ULL /* as does this age of the oldest */

struct os_threads;

struct os_threads_options {
	struct func_run *run;	/* borrowed */
	struct os_clock *clock; /* borrowed */
	bool is_heir;		/* an agent died, and what the kernel had recorded for it is gone */
};

int os_threads_new(struct os_threads **ret, const struct os_threads_options *o, struct error *e);
void os_threads_free(struct os_threads *s);
DEFINE_CLEANUP(os_threads, os_threads_free)

/* The thread is watched from ns on. 1: it was already, and one that had a row waits for another; 0;
 * -ENOBUFS: too many are. */
int os_threads_watch(struct os_threads *s, int32_t tid, uint64_t ns);

/* Its row. One that had another begins anew, with what is known of it. -ENOENT: it is not watched. */
int os_threads_set_row(struct os_threads *s, int32_t tid, uint32_t row);

/* It is gone, or nobody cares any more: at ns, which records may still lie before. If it has another row,
 * it is not meant. */
void os_threads_remove(struct os_threads *s, int32_t tid, uint32_t row, uint64_t ns);

/* Whether a record can be taken now. If not, blocks must be put first. */
bool os_threads_has_room(const struct os_threads *s);

/* The next record of all CPUs. Threads that are made are met here, if `follows`. */
void os_threads_push(struct os_threads *s, const struct os_record *r, bool follows);

/* All records up to ns were pushed. Puts the blocks that are due, with `all` every record. 1: a thread's row
 * is needed, or the next time something of it will be forgotten; 0; -ENOSPC: the spool is full. */
int os_threads_flush(struct os_threads *s, uint64_t ns, bool all);

/* Every thread is told to be no longer watched, and all of it is put. -ENOSPC as above. */
int os_threads_stop(struct os_threads *s, uint64_t ns);

/* The tids, at most OS_THREADS_MAX. */
uint32_t os_threads_get_tids(const struct os_threads *s, int32_t *tids);

uint64_t os_threads_fixed_bytes(void);

#endif
