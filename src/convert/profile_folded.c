/* SPDX-License-Identifier: MIT */
/*
 * profile_folded: one line for each stack, process and thread first, then the outermost function, and at its end what it
 * counts for: what flame graph tools read ("server (42);worker (43);main;read 1234"). A ';' in a name, and whatever would
 * end the line, is written as ':' and '_'.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/profile_stacks.h"
#include "convert/profile_export.h"

#define PATH_MAX_DEPTH (PROFILE_FRAMES_MAX + 2U) /* and process and thread */

static void put_name(struct outfile *out, const char *name)
{
	char part[256];
	size_t n = 0;

	for (; *name; name++) {
		part[n++] = *name == ';' ? ':' : (uint8_t)*name < 0x20 ? '_' : *name;
		if (n < sizeof(part))
			continue;
		outfile_write(out, part, n);
		n = 0;
	}
	outfile_write(out, part, n);
}

static void put_path(const struct profile_stacks *s, uint32_t node, struct outfile *out)
{
	uint32_t path[PATH_MAX_DEPTH], depth = profile_tree_get(s->tree, node)->depth, i;

	for (i = depth; i > 0; i--) {
		path[i - 1] = profile_tree_get(s->tree, node)->key;
		node = profile_tree_get(s->tree, node)->parent;
	}
	for (i = 0; i < depth; i++) {
		if (i)
			outfile_write(out, ";", 1);
		put_name(out, functions_get(s->functions, path[i])->name);
	}
}

int profile_folded_write(const struct profile_walk *w, const struct profile_export_options *o,
			 struct outfile *out, struct error *e)
{
	const struct profile_shape shape = { .processes = true, .threads = true, .numbered = true };
	CLEANUP_PROFILE_STACKS struct profile_stacks s = { 0 };
	uint64_t own;
	uint32_t node;
	int r = profile_stacks_init(&s, w, &shape, e);

	if (r < 0)
		return r;
	if (profile_stacks_sort(&s, o->value) < 0)
		return error_set(e, ENOMEM, "cannot write folded stacks: out of memory");
	for (node = profile_tree_next(s.tree, 0, false); node != PROFILE_NODE_NONE;
	     node = profile_tree_next(s.tree, node, false)) {
		own = profile_tree_self(s.tree, node)[o->value];
		if (!own)
			continue;
		put_path(&s, node, out);
		outfile_printf(out, " %" PRIu64 "\n", own);
	}
	return outfile_check(out, e);
}
