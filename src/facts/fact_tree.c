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

int fact_set_add_tree(struct fact_set *to, const struct functions *functions,
		      const struct profile_tree *tree)
{
	size_t n = profile_tree_count(tree);
	uint32_t node, key, *nodes = calloc(n, sizeof(*nodes));
	const struct profile_node *p;
	const struct function *f;
	int r = nodes ? 0 : -ENOMEM;

	if (r >= 0)
		profile_tree_add(to->tree, 0, profile_tree_self(tree, 0));
	for (node = 1; r >= 0 && node < n; node++) {
		p = profile_tree_get(tree, node);
		f = functions_get(functions, p->key);
		r = functions_find_label(&to->functions, f->name, f->object, &key);
		if (r >= 0)
			r = profile_tree_find(to->tree, nodes[p->parent], key, &nodes[node]);
		if (r >= 0)
			profile_tree_add(to->tree, nodes[node], profile_tree_self(tree, node));
	}
	free(nodes);
	return r;
}
