/* SPDX-License-Identifier: MIT */
/*
 * profile_export: profiles, and the time of virtual machines, in the formats of other tools.
 *
 * Each format has a function that runs a walk and writes, and one that writes cells of virtual machines (vm_cells.h); the list knows
 * them all. Nothing here commits the file: that is
 * the caller's, when all went well.
 */
#ifndef KISEKI_CONVERT_PROFILE_EXPORT_H
#define KISEKI_CONVERT_PROFILE_EXPORT_H

#include "analysis/profile_walk.h"
#include "analysis/vm_tree.h"
#include "base/outfile.h"

struct profile_export_options {
	enum profile_value value; /* that formats with one value have */
	bool lines; /* source lines, where the format has them; that costs reading DWARF */
};

typedef int (*profile_export_fn)(const struct profile_walk *w,
				 const struct profile_export_options *o, struct outfile *out,
				 struct error *e);

/* Of the shape it says whether virtual CPUs and threads are wanted; the rest is chosen by who writes. */
typedef int (*vm_export_fn)(const struct vm_tree_options *o, struct outfile *out, struct error *e);

struct profile_format {
	const char *name;
	const char *endings; /* words in blanks */
	const char *summary;
	bool text;
	profile_export_fn write;
	vm_export_fn write_vm;
	bool has_spans;		 /* the latter wants spans */
	const char *cannot_hold; /* what of a profile is not in it */
};

const struct profile_format *profile_export_find(const char *name);
const struct profile_format *profile_export_from_path(const char *path);
const struct profile_format *profile_export_next(
	const struct profile_format *f); /* NULL: the first */

int profile_folded_write(const struct profile_walk *w, const struct profile_export_options *o,
			 struct outfile *out, struct error *e);
int profile_pprof_write(const struct profile_walk *w, const struct profile_export_options *o,
			struct outfile *out, struct error *e);
int profile_speedscope_write(const struct profile_walk *w, const struct profile_export_options *o,
			     struct outfile *out, struct error *e);
int profile_firefox_write(const struct profile_walk *w, const struct profile_export_options *o,
			  struct outfile *out, struct error *e);
int profile_tree_write(const struct profile_walk *w, const struct profile_export_options *o,
		       struct outfile *out, struct error *e);

int vm_folded_write(const struct vm_tree_options *o, struct outfile *out, struct error *e);
int vm_pprof_write(const struct vm_tree_options *o, struct outfile *out, struct error *e);
int vm_speedscope_write(const struct vm_tree_options *o, struct outfile *out, struct error *e);
int vm_firefox_write(const struct vm_tree_options *o, struct outfile *out, struct error *e);
int vm_json_write(const struct vm_tree_options *o, struct outfile *out, struct error *e);

#endif
