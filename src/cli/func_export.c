/* SPDX-License-Identifier: MIT */
/* func export: calls for other tools. */
#include "convert/func_export.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/func_reading.h"
#include "cli/kiseki.h"
#include "command/say.h"

static int choose(const struct args *a, const struct func_format **ret, struct error *e)
{
	const char *name = args_get(a, "format"), *path = args_get(a, "output");

	if (!path)
		return error_set(e, EINVAL, "cannot export: no output given; add -o OUT");
	*ret = name ? func_export_find(name) : func_export_from_path(path);
	if (*ret)
		return 0;
	if (name)
		return error_set(e, EINVAL,
				 "cannot export: unknown format '%s'; see kiseki func export "
				 "--help",
				 name);
	return error_set(e, EINVAL, "cannot export: the ending of %s names no format; add --format",
			 path);
}

static int export(struct func_reading *in, const struct func_format *f, const char *path,
		  struct error *e)
{
	CLEANUP(outfile) struct outfile *out = NULL;
	int r = outfile_open(&out, path, e);

	if (r >= 0)
		r = f->write(&in->walk, out, e);
	if (r >= 0)
		r = outfile_commit(out, e);
	return r;
}

static int run(const struct args *a)
{
	CLEANUP_FUNC_READING struct func_reading in = { 0 };
	const struct func_format *f = NULL;
	struct error e = ERROR_INIT;
	const char *path = args_get(a, "output");

	if (choose(a, &f, &e) < 0)
		return say_usage(&e);
	if (!strcmp(path, "-") && !f->text && isatty(STDOUT_FILENO)) {
		error_set(&e, 1, "cannot write %s to a terminal: it is not text", f->name);
		return say_failure(&e);
	}
	in.mangled = f->mangled;
	if (func_reading_open(&in, a, a->operands[0], &e) < 0 || export(&in, f, path, &e) < 0)
		return func_reading_failure(&in, &e);
	func_reading_warn(&in);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'o', "output", "OUT", "where to write it; - is standard output", NULL },
	{ 'f', "format", "FORMAT", "the format; without it, the ending of OUT decides",
	  "folded speedscope chrome kft pprof perfetto" },
	FUNC_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "A flame graph:",
	  "kiseki func export trace.ksk -f folded -o - | flamegraph.pl >out.svg" },
	{ "For go tool pprof:", "kiseki func export trace.ksk -o out.pb.gz" },
	{ NULL, NULL },
};

const struct command command_func_export = {
	.name = "export",
	.summary = "write calls in the format of another tool",
	.usage = "FILE|DEVICE|RUN -o OUT [--format FORMAT] [OPTION...]",
	.description =
		"The formats, with the endings that choose them: folded (.folded), stacks with "
		"their local time for flame graphs; speedscope (.speedscope.json); chrome "
		"(.trace.json .chrome.json .json); pprof (.pb.gz .pprof), with the split of local "
		"time as "
		"values; perfetto (.pftrace .perfetto-trace); kft (.kft .lst), the list of the "
		"Kernel Function Trace, for kd and scripts like it.\n\n"
		"The output appears whole or not at all.",
	.options = options,
	.examples = examples,
	.parent = &command_func,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
