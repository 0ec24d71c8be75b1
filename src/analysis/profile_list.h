/* SPDX-License-Identifier: MIT */
/*
 * profile_list: the samples of a profile one by one, thread by thread, each with the node of its stack.
 *
 * For formats that hold samples and not sums. It keeps 32 bytes of each sample.
 */
#ifndef KISEKI_ANALYSIS_PROFILE_LIST_H
#define KISEKI_ANALYSIS_PROFILE_LIST_H

#include "analysis/profile_stacks.h"

#define PROFILE_LIST_MAX (1U << 26)

struct profile_entry {
	uint64_t ns;
	uint64_t weight;
	uint32_t node; /* of the tree */
	uint32_t thread;
	uint32_t cpu;
	uint32_t order; /* in which they came */
};

struct profile_list {
	struct profile_entry *entries; /* by thread, then by time */
	size_t n, room;
	struct profile_tree *tree; /* of functions, or of places, without groups */
	struct profile_totals totals;
};

/* Runs the walk; its listener is the list's. -E2BIG: more samples than PROFILE_LIST_MAX. */
int profile_list_init(struct profile_list *l, const struct profile_walk *w, bool places,
		      struct error *e);
void profile_list_done(struct profile_list *l);
#define CLEANUP_PROFILE_LIST __attribute__((cleanup(profile_list_done)))

/* How many entries from this one on are of the same thread. */
size_t profile_list_span(const struct profile_list *l, size_t from);

#endif
