/* SPDX-License-Identifier: MIT */
/* profile_tree_json: the tree of stacks as JSON (docs/profile.md): nodes in the order of the tree, with both values. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_json.h"
#include "convert/profile_export.h"

static int put(const char *bytes, size_t len, void *out)
{
	outfile_write(out, bytes, len);
	return 0;
}

int profile_tree_write(const struct profile_walk *w, const struct profile_export_options *o,
		       struct outfile *out, struct error *e)
{
	const struct profile_shape shape = { .processes = true, .threads = true, .numbered = true };
	CLEANUP_PROFILE_STACKS struct profile_stacks s = { 0 };
	json_t *document;
	int r = profile_stacks_init(&s, w, &shape, e);

	if (r < 0)
		return r;
	document = profile_stacks_sort(&s, o->value) < 0 ? NULL
							 : profile_stacks_json(&s, w->source, 0);
	r = document ? json_dump_callback(document, put, out, JSON_INDENT(1)) : -1;
	json_decref(document);
	if (r < 0)
		return error_set(e, ENOMEM, "cannot write JSON: out of memory");
	outfile_write(out, "\n", 1);
	return outfile_check(out, e);
}
