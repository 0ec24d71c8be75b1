/* SPDX-License-Identifier: MIT */
/* fact_tree: see fact_tree.h. */
#include "facts/fact_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool fact_is_group(const struct function *f)
{
	static const char *const words[] = { "host",   "machine", "vcpu", "process",
					     "thread", "class",	  "mode", "object",
					     "exit",   "culprit", "note" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(f->object, words[i]))
			return true;
	return false;
}

int fact_set_add_nodes(struct fact_set *to, const struct profile_tree *tree, const uint32_t *keys)
{
	size_t n = profile_tree_count(tree);
	_cleanup_free_ uint32_t *nodes = calloc(n, sizeof(*nodes));
	const struct profile_node *node;
	const uint64_t *self;
	uint32_t i;
	int r;

	if (!nodes)
		return -ENOMEM;
	profile_tree_add(to->tree, 0, profile_tree_self(tree, 0));
	for (i = 1; i < n; i++) { /* parents come before their children */
		node = profile_tree_get(tree, i);
		r = profile_tree_find(to->tree, nodes[node->parent], keys[node->key], &nodes[i]);
		if (r < 0)
			return r;
		self = profile_tree_self(tree, i);
		if (self[0] || self[1])
			profile_tree_add(to->tree, nodes[i], self);
	}
	return 0;
}

int fact_set_add_tree(struct fact_set *to, const struct functions *functions,
		      const struct profile_tree *tree)
{
	_cleanup_free_ uint32_t *keys = calloc(functions->n + 1, sizeof(*keys));
	const struct function *f;
	uint32_t i;
	int r = keys ? 0 : -ENOMEM;

	for (i = 0; r >= 0 && i < functions->n; i++) {
		f = functions_get(functions, i);
		r = functions_find_label(&to->functions, f->name, f->object, &keys[i]);
	}
	return r < 0 ? r : fact_set_add_nodes(to, tree, keys);
}
