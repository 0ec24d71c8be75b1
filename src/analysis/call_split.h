/* SPDX-License-Identifier: MIT */
/*
 * call_split: what a thread was doing at each moment, from the records of the operating system that
 * stand between its calls.
 *
 * A moment is exactly one of these, so the parts of any stretch of time add up to it:
 *
 *	user		it ran its own code
 *	kernel		it ran, inside of a system call or an interrupt (or it is a kernel function)
 *	preempted	it could have run and had no CPU: it was preempted, or woken and not yet on
 *	blocked		it slept, up to the moment when somebody woke it
 *	unknown		no record covers it: before the thread's first one, and after a loss
 *
 * Where the records come from an agent, FUNC_OS_WATCH says from where on they are complete: then a call of the
 * thread is enough to know that it ran its own code, and whether a system call was open is not assumed.
 * Page faults and interrupts have no records there: they count as what they interrupted.
 *
 * The stamps of calls and those of the operating system come from two readers of one clock, and a
 * call's may lie a little on the wrong side of a switch. One function event inside of a sleep is
 * therefore no contradiction; many of them without any record between them are: then records are
 * missing, and the state is unknown until the next one.
 */
#ifndef KISEKI_ANALYSIS_CALL_SPLIT_H
#define KISEKI_ANALYSIS_CALL_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/func_event.h"

enum call_part {
	CALL_USER = 0,
	CALL_KERNEL = 1,
	CALL_PREEMPTED = 2,
	CALL_BLOCKED = 3,
	CALL_UNKNOWN = 4,
	CALL_PARTS = 5,
};

/* How long each was, in nanoseconds. */
struct call_split {
	uint64_t ns[CALL_PARTS];
};

/* Where one thread stands. */
struct call_split_state {
	bool kernel;	 /* all that it runs are kernel functions */
	bool known;	 /* a record was seen, and no loss since */
	bool any;	 /* a record was ever seen */
	bool running;	 /* else it is blocked or waits for a CPU */
	bool runnable;	 /* not running, but it could */
	bool in_call;	 /* of the system, */
	bool may_call;	 /* or it may be: nothing has told yet */
	bool watched;	 /* records are complete since FUNC_OS_WATCH, */
	bool calls;	 /* those of system calls, too */
	bool gap;	 /* FUNC_OS_WATCH said that they are not: none is believed */
	bool waking;	 /* woken while it was still on its way off its CPU */
	uint32_t nested; /* interrupts */
	uint32_t doubts; /* function events since it should not have been running its own code */
};

void call_split_init(struct call_split_state *s, bool kernel);

/* A record of the operating system: what the thread does from here on. */
void call_split_push(struct call_split_state *s, const struct func_event *ev);

/* The thread runs its own code, and records will tell whatever happens to it from here on. */
void call_split_start(struct call_split_state *s);

/* A call or return of the thread was seen. */
void call_split_see(struct call_split_state *s);

/* Records are missing here. */
void call_split_lose(struct call_split_state *s);

enum call_part call_split_get(const struct call_split_state *s);

static inline uint64_t call_split_sum(const struct call_split *s)
{
	return s->ns[CALL_USER] + s->ns[CALL_KERNEL] + s->ns[CALL_PREEMPTED] + s->ns[CALL_BLOCKED] +
	       s->ns[CALL_UNKNOWN];
}

static inline void call_split_add(struct call_split *to, const struct call_split *part)
{
	int i;

	for (i = 0; i < CALL_PARTS; i++)
		to->ns[i] += part->ns[i];
}

extern const char *const call_part_words[CALL_PARTS]; /* "user", "kernel", … */

#endif
