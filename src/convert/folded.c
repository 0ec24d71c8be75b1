/* SPDX-License-Identifier: MIT */
/* folded: see folded.h. */
#include "convert/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"

void folded_put_name(struct outfile *out, const char *name)
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

int folded_write(const struct profile_tree *tree, const struct functions *functions, size_t value,
		 struct outfile *out, struct error *e)
{
	_cleanup_free_ uint32_t *path = calloc(profile_tree_depth(tree) + 1, sizeof(*path));
	uint32_t node, up, n;
	uint64_t own;

	if (!path)
		return error_set(e, ENOMEM, "cannot write folded stacks: out of memory");
	for (node = profile_tree_next(tree, 0, false); node != PROFILE_NODE_NONE;
	     node = profile_tree_next(tree, node, false)) {
		own = profile_tree_self(tree, node)[value];
		if (!own)
			continue;
		n = 0;
		for (up = node; up; up = profile_tree_get(tree, up)->parent)
			path[n++] = profile_tree_get(tree, up)->key;
		while (n) {
			folded_put_name(out, functions_get(functions, path[--n])->name);
			if (n)
				outfile_write(out, ";", 1);
		}
		outfile_printf(out, " %" PRIu64 "\n", own);
	}
	return outfile_check(out, e);
}

int folded_write_file(const struct profile_tree *tree, const struct functions *functions,
		      size_t value, const char *path, struct error *e)
{
	CLEANUP(outfile) struct outfile *out = NULL;
	int r = outfile_open(&out, path, e);

	if (r >= 0)
		r = folded_write(tree, functions, value, out, e);
	return r < 0 ? r : outfile_commit(out, e);
}
