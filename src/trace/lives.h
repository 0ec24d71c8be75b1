/* SPDX-License-Identifier: MIT */
/*
 * lives: which task an event speaks of. A pid is a number that the kernel gives out again; a life is
 * one task that had it, from its fork (or the first event that speaks of it) until it exits.
 *
 * Fed with what the events of a trace are evidence of, in order of time, it keeps a record for each
 * life, by number. A pid has one current life. The next one begins
 *  - with a fork of the pid. Where the child's first event stands before its fork (two CPUs stamp
 *    within one tick, or their clocks differ by up to LIVES_SKEW_NS), that event began the life;
 *  - with a wakeup_new of a task that has run already: the kernel forks some threads untold, and a
 *    fork may be lost;
 *  - with any act of a task that is dead: it exited and left its CPU for the last time, in a dead
 *    state. Between its exit and that switch it still runs, and may even sleep;
 *  - with an act under another name after its exit, if the last switch is lost.
 * What merely names a pid (a rename, a changed priority) begins none: a dead leader can be renamed.
 *
 * A thread that calls exec goes on as its group's leader, whose life continues with it, as the kernel
 * keeps the process's time of birth; the thread's own life ends.
 *
 * Memory: one record per life, at most as many as lives_new() was told; lives_fold() makes room.
 */
#ifndef KISEKI_TRACE_LIVES_H
#define KISEKI_TRACE_LIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "trace/info.h"
#include "wire/sched_event.h"

#define LIVES_NONE UINT32_MAX
#define LIVES_SKEW_NS 1000000U

struct life {
	int32_t pid;
	bool birth_seen; /* else born_ns is that of the first event that speaks of it */
	bool exited;	 /* and ended_ns is when, */
	bool ended;	 /* or when it left its CPU for the last time; nothing follows */
	bool leads;	 /* it was seen to exec: it leads its thread group */
	uint32_t before; /* the pid's life before it, LIVES_NONE: not known */
	uint64_t born_ns;
	uint64_t ended_ns;
	char first_comm[SCHED_COMM_LEN]; /* the first name it was seen with, */
	char comm[SCHED_COMM_LEN];	 /* and the last */
};

enum life_evidence {
	LIFE_NAMED = 0,	 /* an event speaks of it; it need not live any more */
	LIFE_ACTS = 1,	 /* it runs, comes to a CPU or leaves one */
	LIFE_WOKEN = 2,	 /* from a sleep: it has run before */
	LIFE_STARTS = 3, /* wakeup_new */
	LIFE_FORKED = 4,
};

struct life_sight {
	int32_t pid;
	enum life_evidence how;
	uint64_t ns;
	const char *comm; /* of SCHED_COMM_LEN, its name from now on; NULL: not said */
};

struct lives;

struct lives *lives_new(uint32_t most); /* NULL: out of memory */
void lives_free(struct lives *l);
DEFINE_CLEANUP(lives, lives_free)

/* The life that the evidence is of: the pid's current one from now on. 1: it begins with it, 0: it was
 * known; -ENOMEM, or -E2BIG: no room for another. */
int lives_see(struct lives *l, const struct life_sight *s, uint32_t *ret);

/* What an event is evidence of about one pid, for whoever follows a few pids only; `ns` is its time. *ret
 * is the life, LIVES_NONE if the event has nothing to do with the pid. As lives_see(). */
int lives_note(struct lives *l, const struct sched_dialect *d, const struct sched_event *ev,
	       const struct life_sight *pid_and_ns, uint32_t *ret);

void lives_exit(struct lives *l, uint32_t life, uint64_t ns); /* it will leave its CPU dead */
void lives_end(struct lives *l, uint32_t life, uint64_t ns);  /* it has */
void lives_lead(struct lives *l, uint32_t life);	      /* exec */
/* A thread has become the leader: its own life is over, and the leader's goes on. */
void lives_replace(struct lives *l, uint32_t leader, uint32_t thread, uint64_t ns);

/* The current one, or LIVES_NONE. */
uint32_t lives_find(const struct lives *l, int32_t pid);

/* Numbers are below this. Those that were folded and not given out again are no lives. */
uint32_t lives_count(const struct lives *l);
bool lives_has(const struct lives *l, uint32_t life);
const struct life *lives_get(const struct lives *l, uint32_t life);

/* Forgets these, so that their numbers can be given out again. */
int lives_fold(struct lives *l, const uint32_t *folded, uint32_t n);
uint32_t lives_most(const struct lives *l);
void lives_allow(struct lives *l, uint32_t most);

/*
 * The row of the trace's table of tasks that is this life's, or NULL. The table says once what each
 * pid was. An agent makes it when a recording begins: a row is that of a task that was there before the
 * trace. Other tools make theirs in the end, or as they go: then the row is that of the pid's first life,
 * if that was there before the trace and has the row's name; else of the last one, if that has it or is
 * the only one; else of a first one that was there before.
 */
const struct trace_task *lives_described(const struct lives *l, const struct trace_info *info,
					 uint32_t life);
/* Its thread group, -1: not known. */
int32_t lives_tgid(const struct lives *l, const struct trace_info *info, uint32_t life);

#endif
