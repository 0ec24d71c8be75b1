/* SPDX-License-Identifier: MIT */
/*
 * folded: stacks as flame graph tools read them: a line for each, the outermost first, and at its end what it counts for
 * ("main;parse;read 1234"). A ';' in a name, and whatever would end the line, is written as ':' and '_'.
 */
#ifndef KISEKI_CONVERT_FOLDED_H
#define KISEKI_CONVERT_FOLDED_H

#include "analysis/functions.h"
#include "analysis/profile_tree.h"
#include "base/error.h"
#include "base/outfile.h"

void folded_put_name(struct outfile *out, const char *name);

/* All stacks of a tree that have something of this value for themselves. */
int folded_write(const struct profile_tree *tree, const struct functions *functions, size_t value,
		 struct outfile *out, struct error *e);
/* The same into a file, which appears whole or not at all. */
int folded_write_file(const struct profile_tree *tree, const struct functions *functions,
		      size_t value, const char *path, struct error *e);

#endif
