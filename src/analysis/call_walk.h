/* SPDX-License-Identifier: MIT */
/*
 * call_walk: all calls of a source, once through, to one listener.
 *
 * The ground under reports, trees and exports: it keeps a stack for each thread that has calls,
 * names functions, and counts what is missing. Begins come in order of time; an end comes when it is
 * known. Memory depends on threads, on how deep they are and on how many functions there are, never
 * on the length of the trace.
 *
 * A window cuts a part of the time out: calls that are open at its begin count from there on, those
 * open at its end up to there. So the times of windows that touch add up to those of both together, to the
 * nanosecond. It still reads from the source's start, for only that tells what was open; or from a mark that
 * an earlier walk left (call_marks.h), where nobody asks what the machine did to the threads.
 */
#ifndef KISEKI_ANALYSIS_CALL_WALK_H
#define KISEKI_ANALYSIS_CALL_WALK_H

#include "analysis/call_marks.h"
#include "analysis/call_names.h"
#include "analysis/call_select.h"
#include "analysis/call_stack.h"

struct call_window {
	uint64_t from_ns, to_ns; /* of the source's clock: from <= t < to */
	/* When each thread's last event is; NULL: not known. `final`: nothing comes after it, so a
	 * thread whose last event is before the window had ended. */
	const uint64_t *last_ns;
	bool final;
};

struct call_walk {
	struct func_source *source; /* at its start */
	struct call_names *names;
	const struct call_select *select; /* NULL: all */
	const struct call_window *window; /* NULL: all of the time */
	struct marks *marks;		  /* to leave some; NULL: none. All threads are selected */
	const struct call_mark *resume;	  /* to begin at; NULL: the source's start */
	const struct call_listener *listener;
	void *data;
	/* After each item, for a progress bar, or a client that may have gone; may be NULL. < 0: a
	 * negative errno that ends the walk. */
	int (*step)(void *data);
	void *step_data;
};

struct call_totals {
	struct call_counts counts;
	uint64_t from_ns,
		to_ns;	       /* from the first call of the threads looked at to the last event */
	uint64_t threads;      /* that had any */
	uint64_t os_threads;   /* of these, with records of the operating system */
	bool kernel_known;     /* system calls and interrupts are among them: else time that seems
				  * to be the user's may be the kernel's */
	uint64_t losses;       /* places where events are missing */
	uint64_t lost;	       /* events, as far as counted */
	uint64_t lost_unknown; /* places whose count is not known */
	uint64_t
		os_losses; /* places where records of the operating system are missing, and no calls */
};

int call_walk_run(const struct call_walk *w, struct call_totals *ret, struct error *e);

#endif
