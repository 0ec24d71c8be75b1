/* SPDX-License-Identifier: MIT */
/*
 * sched_random: valid scheduler events out of a seed, for property tests of codecs, files, exports.
 *
 * One generator is the stream of one CPU. The same seed and style give the same events on every
 * machine, so a failure is repeated from the seed that the test prints. Every event obeys
 * sched_event.h: fields its kind does not use are zero and names are padded with NULs. The styles
 * differ in what else can be relied on:
 *
 *   REAL     what a kernel writes: a switch leaves the task that the last one entered, forks are
 *            followed by wakeups of the child, a task that exits is switched away from for good,
 *            time never goes back, and events come in bursts
 *   BROKEN   the same, but events are missing in between: the chain of tasks is often cut, names
 *            and priorities have changed unseen, the current pid is at times somebody else's
 *   HOSTILE  no rule but validity: any pid, priority, state, flags, bytes, path, time
 *   IDLE     a CPU that sleeps: a few tasks, a tick now and then, gaps up to minutes
 */
#ifndef KISEKI_TESTS_SCHED_RANDOM_H
#define KISEKI_TESTS_SCHED_RANDOM_H

#include "wire/sched_event.h"

#define SCHED_RANDOM_TASKS 6000U

enum sched_random_style {
	SCHED_RANDOM_REAL = 0,
	SCHED_RANDOM_BROKEN = 1,
	SCHED_RANDOM_HOSTILE = 2,
	SCHED_RANDOM_IDLE = 3,
	SCHED_RANDOM_STYLES = 4,
};

/* About 150 KiB: not for the stack. */
struct sched_random {
	uint64_t x; /* state of the generator of numbers */
	unsigned style;
	uint64_t tick;
	uint32_t burst;	  /* events that still follow closely */
	uint32_t n_tasks; /* task[0] is the idle task */
	uint32_t current; /* who runs */
	uint32_t woken;	  /* who was woken last and has not run, 0 if nobody */
	uint32_t child;	  /* a forked task whose wakeup is due, 0 if none */
	bool exiting;	  /* the current task has exited and must be left */
	bool execing;	  /* the current task was renamed by the exec that is due */
	int32_t next_pid;
	struct sched_task task[SCHED_RANDOM_TASKS];
	char filename[SCHED_FILENAME_MAX];
};

void sched_random_init(struct sched_random *r, uint64_t seed, unsigned style);

/* There is always a next event. Its filename is valid until the next call. */
void sched_random_next(struct sched_random *r, struct sched_event *ret);

/* The numbers behind it, for tests that need some more: any 64 bits; one of 0 … n - 1. */
uint64_t sched_random_bits(struct sched_random *r);
uint32_t sched_random_below(struct sched_random *r, uint32_t n);

#endif
