/* SPDX-License-Identifier: MIT */
/*
 * fact_tree: trees of functions by their names, which is all that two minutes, two builds and two devices have in common.
 *
 * A key is a name and an object. What only groups others says so by its object, which is then one of a few words: "process", "class",
 * "machine" and the like (vm_tree.h); no file is called so where functions are found.
 */
#ifndef KISEKI_FACTS_FACT_TREE_H
#define KISEKI_FACTS_FACT_TREE_H

#include "facts/fact_set.h"

/* Whether it groups others, and is no function. */
bool fact_is_group(const struct function *f);

/* Adds all of a tree, with FACT_VALUES values, to a set's. -ENOMEM, -E2BIG. */
int fact_set_add_tree(struct fact_set *to, const struct functions *functions,
		      const struct profile_tree *tree);

/* The same where the set's functions that the tree's keys stand for are known: keys[] has them by the tree's. -ENOMEM. */
int fact_set_add_nodes(struct fact_set *to, const struct profile_tree *tree, const uint32_t *keys);

#endif
