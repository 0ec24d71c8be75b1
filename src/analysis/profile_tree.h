/* SPDX-License-Identifier: MIT */
/*
 * profile_tree: stacks merged by their path, with several values at each node.
 *
 * A node stands for all stacks that begin with the same path. Of each value it has its own part (stacks that end there)
 * and the total, its own and those of all below it: so own parts add up to the root's total, exactly. The keys are the
 * owner's: functions, or places, or what groups them. A tree of a profile has samples and their weight; one of two
 * profiles has these of both; others may have more, up to PROFILE_TREE_VALUES_MAX.
 *
 * Beyond PROFILE_NODES_MAX paths further ones are folded into the node above them, and counted.
 */
#ifndef KISEKI_ANALYSIS_PROFILE_TREE_H
#define KISEKI_ANALYSIS_PROFILE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define PROFILE_NODES_MAX (1U << 22)
#define PROFILE_TREE_VALUES_MAX 8U
#define PROFILE_NODE_NONE UINT32_MAX

struct profile_node {
	uint32_t key; /* PROFILE_NODE_NONE: the root */
	uint32_t parent;
	uint32_t child, next; /* first child, next sibling; PROFILE_NODE_NONE: there is none */
	uint32_t depth;	      /* of the root 0 */
};

struct profile_tree;

int profile_tree_new(struct profile_tree **ret, size_t n_values); /* -ENOMEM */
void profile_tree_free(struct profile_tree *t);
DEFINE_CLEANUP(profile_tree, profile_tree_free)

/* The node below `parent` (0: the root) with this key, made if it is new; the parent itself if there are too many.
 * -ENOMEM. */
int profile_tree_find(struct profile_tree *t, uint32_t parent, uint32_t key, uint32_t *ret);

/* Adds to the node's own part, and to the totals up to the root. */
void profile_tree_add(struct profile_tree *t, uint32_t node, const uint64_t *values);

/* Children by total of that value, the largest first; of equal ones by what `compare` says of their keys. */
typedef int (*profile_tree_compare)(const void *data, uint32_t key_a, uint32_t key_b);
int profile_tree_sort(struct profile_tree *t, size_t value, profile_tree_compare compare,
		      const void *data); /* -ENOMEM */

size_t profile_tree_count(const struct profile_tree *t);   /* nodes, with the root */
uint32_t profile_tree_depth(const struct profile_tree *t); /* of the deepest node */
size_t profile_tree_values(const struct profile_tree *t);
const struct profile_node *profile_tree_get(const struct profile_tree *t, uint32_t node);
const uint64_t *profile_tree_self(const struct profile_tree *t, uint32_t node);
const uint64_t *profile_tree_total(const struct profile_tree *t, uint32_t node);
uint64_t profile_tree_folded(const struct profile_tree *t); /* how often one was folded */

/* The node behind this one in the order of the tree (first its children, unless `skip`), or PROFILE_NODE_NONE. */
uint32_t profile_tree_next(const struct profile_tree *t, uint32_t node, bool skip);

#endif
