/* SPDX-License-Identifier: MIT */
/*
 * marks: places in a run from which one can go on without all that was before.
 *
 * What is so at a moment may have begun long before: calls that are open, a virtual CPU that sleeps. Whoever reads a run leaves
 * its state behind now and then; one that only needs a later part begins with the last state before it. What a state is, its owner
 * knows (call_marks.h, vm_slices.h).
 *
 * Marks are of a run that has ended. A state does not change, and stays until all marks are freed, so several threads may use them and add to
 * them at the same time.
 */
#ifndef KISEKI_ANALYSIS_MARKS_H
#define KISEKI_ANALYSIS_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct marks_options {
	uint64_t every;	    /* items from mark to mark */
	size_t most;	    /* marks */
	size_t most_weight; /* of all states together, in the owner's unit */
	void (*free)(void *state);
};

struct marks;

int marks_new(struct marks **ret, const struct marks_options *o); /* -ENOMEM */
struct marks *marks_ref(struct marks *m);
void marks_unref(struct marks *m);
DEFINE_CLEANUP(marks, marks_unref)

uint64_t marks_every(const struct marks *m);

/* Is one at this tick wanted? Only those behind the last are, up to the ceilings. */
bool marks_wants(struct marks *m, uint64_t tick);

/* All items before the tick are accounted for, and none at it. Takes the state, whether it is kept or not. */
void marks_push(struct marks *m, uint64_t tick, void *state, size_t weight);

/* The last one at or before this tick, good as long as the marks are; NULL: there is none. */
const void *marks_get(struct marks *m, uint64_t tick, uint64_t *ret_tick);

size_t marks_count(struct marks *m);

/* Of one reader: when it should leave the next. */
struct marks_pace {
	uint64_t items; /* since the last one */
	uint64_t last_tick;
};

/* An item comes: whether a mark before it is due. Never between two items of one tick, so that nobody has to know which of them was the
 * last. m NULL: never. */
bool marks_pace_put(struct marks_pace *p, const struct marks *m, uint64_t tick);

#endif
