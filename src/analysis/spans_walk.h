/* SPDX-License-Identifier: MIT */
/*
 * spans_walk: from what happened to each task, in any order, to the states it was in.
 *
 * A run is known when it ends, and where a switch is missing the tracker finds out even later that
 * there was one; so what happened is noted as it comes, in a list for each task that is kept in order
 * of time, and looked through at the end. What was before the range is walked on its own, so that
 * nothing of it is kept but the state it left each task in.
 */
#ifndef KISEKI_ANALYSIS_SPANS_WALK_H
#define KISEKI_ANALYSIS_SPANS_WALK_H

#include "analysis/spans.h"

enum span_note_type {
	NOTE_RUN = 0,	/* on `cpu` from ns to to_ns */
	NOTE_LEAVE = 1, /* switched out; `state` is what it is now */
	NOTE_WAKE = 2,	/* `first`: a wakeup of its own, not the second event of one */
	NOTE_FORK = 3,	/* it came to be */
	NOTE_EXIT = 4,
	NOTE_OVER = 5, /* its life is over, and nobody saw how */
	NOTE_LEAD = 6, /* a thread goes on as this one, which had exited */
};

struct span_note {
	uint64_t ns, to_ns;
	uint32_t number; /* NOTE_RUN, NOTE_LEAVE: CPU; NOTE_WAKE: wakeup in the range + 1, or 0 */
	uint32_t before, after; /* of the task, number + 1; set when it is added */
	uint8_t type, state;
	bool first;
};

/* Time on one CPU of which nobody knows who ran. */
struct span_gap {
	uint64_t from_ns, to_ns;
	uint32_t cpu;
};

struct spans_walk;

int spans_walk_new(struct spans_walk **ret, struct spans *s);
void spans_walk_free(struct spans_walk *w);
DEFINE_CLEANUP(spans_walk, spans_walk_free)

/* 0, -ENOMEM, -E2BIG. */
int spans_walk_add(struct spans_walk *w, uint32_t task, const struct span_note *n);
int spans_walk_add_gap(struct spans_walk *w, const struct span_gap *g);

/* All that was noted so far was before the range; it is taken in and forgotten. */
int spans_walk_settle(struct spans_walk *w, uint32_t n_tasks);

/* Makes the spans of all tasks, and says of each wakeup when the task ran. */
int spans_walk_finish(struct spans_walk *w, uint32_t n_tasks);

#endif
