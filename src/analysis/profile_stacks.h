/* SPDX-License-Identifier: MIT */
/*
 * profile_stacks: the samples of a profile as a tree of their stacks, in the shape that somebody wants.
 *
 * The keys of the tree are functions (functions.h), and labels for what groups them: the process and the thread above
 * the outermost function. Turned around, the innermost function is on top and its callers are below it; groups stay above.
 */
#ifndef KISEKI_ANALYSIS_PROFILE_STACKS_H
#define KISEKI_ANALYSIS_PROFILE_STACKS_H

#include "analysis/profile_tree.h"
#include "analysis/profile_walk.h"

struct profile_shape {
	bool processes, threads; /* above the functions */
	bool numbered;		 /* with their numbers: two of one name are two */
	bool turned;		 /* callees on top, callers below */
	bool places;		 /* keys are places (profile_names.h), and there are no groups */
};

struct profile_stacks {
	struct profile_tree *tree; /* with PROFILE_VALUES values */
	struct profile_totals totals;
	const struct functions *functions; /* of its keys */
};

/* Runs the walk; its listener is this one's. */
int profile_stacks_init(struct profile_stacks *s, const struct profile_walk *w,
			const struct profile_shape *shape, struct error *e);
void profile_stacks_done(struct profile_stacks *s);
#define CLEANUP_PROFILE_STACKS __attribute__((cleanup(profile_stacks_done)))

/* The largest first, and of equal ones by name. -ENOMEM. Not for keys that are places. */
int profile_stacks_sort(struct profile_stacks *s, enum profile_value by);

/* The node of a sample's stack in a tree that grows by it; 0 or < 0. For those who keep samples and not sums. */
struct profile_path {
	const struct profile_walk *walk;
	const struct profile_shape *shape;
	struct profile_tree *tree;
};
int profile_path_find(const struct profile_path *p, const struct profile_sample *s, uint32_t *ret);

#endif
