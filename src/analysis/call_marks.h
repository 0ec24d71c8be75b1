/* SPDX-License-Identifier: MIT */
/*
 * call_marks: places in a run's calls from which a walk can go on (marks.h).
 *
 * A mark has what is open at its tick: of each thread the calls, by address, and which generation of maps
 * each process had. A walk leaves marks as it goes, each some hundred thousand items; one that only
 * needs a later part, and not what the machine did to the threads, begins at the last mark before it.
 */
#ifndef KISEKI_ANALYSIS_CALL_MARKS_H
#define KISEKI_ANALYSIS_CALL_MARKS_H

#include "analysis/marks.h"

#define CALL_MARK_EVERY 262144U	      /* items */
#define CALL_MARKS_MAX 4096U	      /* of a run */
#define CALL_MARKS_CALLS_MAX 1048576U /* open calls in all marks of a run */

struct call_mark_call {
	uint32_t thread;
	uint32_t generation; /* of the maps by which the address is meant */
	uint64_t address;
};

struct call_mark {
	uint64_t tick;		      /* all items before it are accounted for, and none at it */
	struct call_mark_call *calls; /* the outermost of a thread first */
	size_t n, room;
	uint32_t *generations; /* by process */
	size_t n_processes;
};

void call_mark_done(struct call_mark *m);

int call_marks_new(struct marks **ret, uint64_t every); /* items from mark to mark; -ENOMEM */

/* Takes the mark, whether it is kept or not. */
void call_marks_push(struct marks *m, struct call_mark *mark);

/* A copy of the last one at or before this tick: 1; 0: there is none; -ENOMEM. */
int call_marks_dup(struct marks *m, uint64_t tick, struct call_mark *ret);

#endif
