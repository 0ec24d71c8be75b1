/* SPDX-License-Identifier: MIT */
/* profile_tree_json: the tree of stacks as JSON (docs/profile.md): nodes in the order of the tree, with both values. */
#include "analysis/profile_json.h"
#include "convert/func_json.h"
#include "convert/profile_export.h"

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
	return func_json_document(out, document, e);
}
