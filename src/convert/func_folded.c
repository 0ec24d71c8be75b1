/* SPDX-License-Identifier: MIT */
/*
 * func_folded: one line for each path (folded.h), outermost function first, and the local time of its end in
 * nanoseconds. Paths without local time have no line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/call_tree.h"
#include "convert/folded.h"
#include "convert/func_export.h"

/* The path of a node, from the top; `path` has room for the deepest. */
static void put_path(const struct call_tree *t, uint32_t node, uint32_t *path, struct outfile *out)
{
	const struct call_node *nodes;
	size_t n, depth, i;

	nodes = call_tree_get(t, &n);
	depth = nodes[node].depth;
	for (i = depth; i > 0; i--, node = nodes[node].parent)
		path[i - 1] = nodes[node].function;
	for (i = 0; i < depth; i++) {
		if (i)
			outfile_write(out, ";", 1);
		folded_put_name(out, call_names_get(call_tree_names(t), path[i])->name);
	}
}

int func_folded_write(const struct call_walk *w, struct outfile *out, struct error *e)
{
	CLEANUP(call_tree) struct call_tree *t = NULL;
	_cleanup_free_ uint32_t *path = NULL;
	const struct call_node *nodes;
	uint32_t i;
	size_t n;
	int r = call_tree_new(&t, w, e);

	if (r < 0)
		return r;
	path = calloc(CALL_DEPTH_MAX + 1, sizeof(*path));
	if (!path)
		return error_set(e, ENOMEM, "cannot write folded stacks: out of memory");
	call_tree_sort(t);
	nodes = call_tree_get(t, &n);
	for (i = call_tree_next(t, 0, false); i != CALL_NODE_NONE;
	     i = call_tree_next(t, i, false)) {
		if (!call_split_sum(&nodes[i].local))
			continue;
		put_path(t, i, path, out);
		outfile_printf(out, " %" PRIu64 "\n", call_split_sum(&nodes[i].local));
	}
	return outfile_check(out, e);
}
