/* SPDX-License-Identifier: MIT */
/* profile_export: see profile_export.h. */
#include "convert/profile_export.h"

#include <string.h>

#include "base/ending.h"

static const struct profile_format formats[] = {
	{ .name = "folded",
	  .endings = ".folded",
	  .summary = "stacks with what they count, for flame graphs",
	  .text = true,
	  .write = profile_folded_write,
	  .write_vm = vm_folded_write,
	  .cannot_hold = "folded stacks hold one value and no moments" },
	{ .name = "pprof",
	  .endings = ".pb.gz .pprof",
	  .summary = "for pprof, with addresses, build-ids and both values",
	  .write = profile_pprof_write,
	  .write_vm = vm_pprof_write,
	  .cannot_hold = "pprof holds no moments" },
	{ .name = "speedscope",
	  .endings = ".speedscope.json",
	  .summary = "for speedscope, thread by thread",
	  .text = true,
	  .write = profile_speedscope_write,
	  .write_vm = vm_speedscope_write,
	  .has_spans = true,
	  .cannot_hold = "speedscope holds no moments of samples" },
	{ .name = "firefox",
	  .endings = ".firefox.json .profile.json",
	  .summary = "for the Firefox Profiler",
	  .text = true,
	  .write = profile_firefox_write,
	  .write_vm = vm_firefox_write,
	  .has_spans = true },
	{ .name = "json",
	  .endings = ".json",
	  .summary = "the tree of stacks with both values (docs/profile.md)",
	  .text = true,
	  .write = profile_tree_write,
	  .write_vm = vm_json_write,
	  .cannot_hold = "the tree holds no moments" },
};

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

const struct profile_format *profile_export_find(const char *name)
{
	size_t i;

	for (i = 0; i < N_FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

const struct profile_format *profile_export_from_path(const char *path)
{
	size_t i;

	for (i = 0; i < N_FORMATS; i++)
		if (ending_fits(path, formats[i].endings))
			return &formats[i];
	return NULL;
}

const struct profile_format *profile_export_next(const struct profile_format *f)
{
	size_t i = f ? (size_t)(f - formats) + 1 : 0;

	return i < N_FORMATS ? &formats[i] : NULL;
}
