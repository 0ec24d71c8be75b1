/* SPDX-License-Identifier: MIT */
/* func_export: see func_export.h. */
#include "convert/func_export.h"

#include <string.h>

#include "base/ending.h"

static const struct func_format formats[] = {
	{ .name = "folded",
	  .endings = ".folded",
	  .summary = "stacks with their local time, for flame graphs",
	  .text = true,
	  .write = func_folded_write,
	  .cannot_hold = "folded stacks hold local time and neither moments nor numbers of calls" },
	{ .name = "speedscope",
	  .endings = ".speedscope.json",
	  .summary = "for speedscope",
	  .text = true,
	  .write = func_speedscope_write,
	  .cannot_hold = "speedscope holds no split of local time" },
	{ .name = "chrome",
	  .endings = ".trace.json .chrome.json .json",
	  .summary = "for the tracing page of Chrome, and what reads its format",
	  .text = true,
	  .write = func_chrome_write },
	{ .name = "kft",
	  .endings = ".kft .lst",
	  .summary = "the list of the Kernel Function Trace, for kd and scripts like it",
	  .text = true,
	  .mangled = true,
	  .write = func_kft_write,
	  .cannot_hold = "KFT lists hold whole microseconds and no split of local time" },
	{ .name = "pprof",
	  .endings = ".pb.gz .pprof",
	  .summary = "for pprof, with the split of local time as values",
	  .write = func_pprof_write,
	  .cannot_hold = "pprof holds no moments" },
	{ .name = "perfetto",
	  .endings = ".pftrace .perfetto-trace",
	  .summary = "for the Perfetto UI",
	  .write = func_perfetto_write,
	  .cannot_hold = "Perfetto holds no split of local time" },
};

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

const struct func_format *func_export_find(const char *name)
{
	size_t i;

	for (i = 0; i < N_FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

const struct func_format *func_export_from_path(const char *path)
{
	size_t i;

	for (i = 0; i < N_FORMATS; i++)
		if (ending_fits(path, formats[i].endings))
			return &formats[i];
	return NULL;
}

const struct func_format *func_export_next(const struct func_format *f)
{
	size_t i = f ? (size_t)(f - formats) + 1 : 0;

	return i < N_FORMATS ? &formats[i] : NULL;
}
