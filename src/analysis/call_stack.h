/* SPDX-License-Identifier: MIT */
/*
 * call_stack: the open calls of one thread, and where its time goes.
 *
 * Whatever happens, a call that was begun is ended exactly once, and tells how. Time passes from
 * event to event, and all of it goes to the call on top: so at each call's end
 *
 *	its local parts + the time of the calls it made = its end - its begin
 *
 * An exit that names a function deeper in the stack ends all calls above it (longjmp, an exception,
 * exit hooks that were not compiled in); an exit of a function that is not open is counted and has
 * no other effect. Where events were lost nobody knows which calls ended: those that are open end there as
 * "cut". Stamps that go back count as simultaneous with the last one.
 */
#ifndef KISEKI_ANALYSIS_CALL_STACK_H
#define KISEKI_ANALYSIS_CALL_STACK_H

#include <stddef.h>

#include "analysis/call_split.h"

#define CALL_DEPTH_MAX                                                                             \
	(1U << 20) /* open calls of a thread; deeper ones are counted, not followed */

enum call_end {
	CALL_RETURNED = 0,
	CALL_UNWOUND = 1, /* a function below it returned first */
	CALL_CUT = 2,	  /* events were lost */
	CALL_OPEN = 3,	  /* the trace ended first */
	CALL_ENDS = 4,
};

struct call {
	uint32_t function;
	uint32_t mark;	     /* the listener's own */
	bool recursive;	     /* a call of the same function was open below it */
	bool carried;	     /* it began before what is looked at; begin_ns is where that begins */
	uint32_t generation; /* of the maps that its address is of */
	uint64_t address;
	uint64_t begin_ns;
	uint64_t children_ns; /* that have ended */
	struct call_split local;
};

/* A call's begin or end, as a listener gets it. */
struct call_at {
	uint32_t thread;
	uint32_t depth; /* 0: nobody called it */
	uint64_t ns;	/* now */
	enum call_end end;
	struct call *call;   /* at its end, its times are complete */
	struct call *caller; /* NULL at depth 0 */
};

/* Each returns 0, or a negative errno that ends the walk; any may be NULL. */
struct call_listener {
	int (*begin)(void *data, const struct call_at *at);
	int (*end)(void *data, const struct call_at *at);
};

/* What was not plain, and how much there was. */
struct call_counts {
	uint64_t calls;
	uint64_t ends[CALL_ENDS];
	uint64_t orphans;	 /* exits of functions that were not open */
	uint64_t too_deep;	 /* calls beyond CALL_DEPTH_MAX */
	struct call_split local; /* of all calls that ended */
};

struct call_stack;

/* The listener and the counts stay the caller's, and are often shared by many stacks. */
struct call_stack_options {
	uint32_t thread;
	bool kernel;
	const struct call_listener *listener;
	void *data;
	struct call_counts *counts;
};

int call_stack_new(struct call_stack **ret, const struct call_stack_options *o);
void call_stack_free(struct call_stack *s);

/* Each at a time of the thread. -ENOMEM, or what the listener returned. */
int call_stack_enter(struct call_stack *s, uint64_t ns, uint32_t function);
int call_stack_exit(struct call_stack *s, uint64_t ns, uint32_t function);
void call_stack_os(struct call_stack *s, uint64_t ns, const struct func_event *ev);
void call_stack_watch(struct call_stack *s); /* its thread runs now, and is watched from here on */
int call_stack_lose(struct call_stack *s, uint64_t ns);
void call_stack_lose_os(struct call_stack *s, uint64_t ns); /* records of the OS alone */
int call_stack_finish(struct call_stack *s);		    /* the trace is over */

/* What is looked at begins here: nothing was told so far, and what is open is told now, as if it began
 * now. Or without an end at its end: time passes up to there. */
int call_stack_start(struct call_stack *s, uint64_t ns, const struct call_listener *listener);
void call_stack_wait(struct call_stack *s, uint64_t ns);

/* Of the call that was entered last, for marks. */
void call_stack_set_address(struct call_stack *s, uint64_t address, uint32_t generation);
const struct call *call_stack_get(const struct call_stack *s, size_t *ret_n); /* outermost first */

bool call_stack_has_os(const struct call_stack *s);
size_t call_stack_depth(const struct call_stack *s);

extern const char *const call_end_words[CALL_ENDS];

#endif
