/* SPDX-License-Identifier: MIT */
/*
 * fleet_tree: the stacks of many devices as an answer has them (docs/fleet.md), as a tree that can be drawn.
 *
 * Of what an answer leaves out only its part in the node above is known: own parts are what the nodes below do not have. So totals are
 * those of the answer, exactly, whatever was left out.
 */
#ifndef KISEKI_CLI_FLEET_TREE_H
#define KISEKI_CLI_FLEET_TREE_H

#include <jansson.h>

#include "analysis/functions.h"
#include "analysis/profile_tree.h"
#include "base/error.h"

#define FLEET_TREE_DEPTH_MAX 4096U

struct fleet_tree {
	struct profile_tree *tree; /* samples, ns; of a comparison those before, then those after */
	struct functions functions;
};

struct fleet_tree_shape {
	bool is_diff;
	bool ungrouped; /* without the processes above the functions */
	bool turned;	/* functions first, their callers behind them; processes stay above */
};

/* -EBADMSG: it is no such answer; -ENOMEM. */
int fleet_tree_init(struct fleet_tree *t, const json_t *document,
		    const struct fleet_tree_shape *shape, struct error *e);
void fleet_tree_done(struct fleet_tree *t);
#define CLEANUP_FLEET_TREE __attribute__((cleanup(fleet_tree_done)))

#endif
