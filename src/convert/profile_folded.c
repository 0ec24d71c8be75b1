/* SPDX-License-Identifier: MIT */
/*
 * profile_folded: a profile as folded stacks (folded.h), process and thread first, then the outermost function:
 * "server (42);worker (43);main;read 1234".
 */
#include <errno.h>

#include "analysis/profile_stacks.h"
#include "convert/folded.h"
#include "convert/profile_export.h"

int profile_folded_write(const struct profile_walk *w, const struct profile_export_options *o,
			 struct outfile *out, struct error *e)
{
	const struct profile_shape shape = { .processes = true, .threads = true, .numbered = true };
	CLEANUP_PROFILE_STACKS struct profile_stacks s = { 0 };
	int r = profile_stacks_init(&s, w, &shape, e);

	if (r < 0)
		return r;
	if (profile_stacks_sort(&s, o->value) < 0)
		return error_set(e, ENOMEM, "cannot write folded stacks: out of memory");
	return folded_write(s.tree, s.functions, o->value, out, e);
}
