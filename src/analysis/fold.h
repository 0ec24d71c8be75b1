/* SPDX-License-Identifier: MIT */
/*
 * fold: which nodes of a large tree are kept when it is to be drawn: those with the most, and with each all that lead to it.
 *
 * Nodes are numbered from 0, the root, so that a parent's number is less than its children's; none has less than its
 * children. Of nodes ordered by what they have, and of the same by number, any first part therefore has the parents of all its nodes.
 */
#ifndef KISEKI_ANALYSIS_FOLD_H
#define KISEKI_ANALYSIS_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLD_KEPT UINT32_MAX

struct fold_tree {
	const void *data;
	size_t n; /* nodes, with the root */
	uint32_t (*parent)(const void *data, uint32_t node);
	uint64_t (*value)(const void *data, uint32_t node);
	/* Whether it may be kept. A node is only wanted if its parent is. */
	bool (*is_wanted)(const void *data, uint32_t node);
};

/* Keeps at most `limit` nodes beside the root; returns how many. top[]: FOLD_KEPT, else the node that is left out topmost
 * above this one, or it itself. `order` is room for n numbers. */
size_t fold_choose(const struct fold_tree *t, uint64_t limit, uint32_t *top, uint32_t *order);

#endif
