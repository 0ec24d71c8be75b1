/* SPDX-License-Identifier: MIT */
/* profile export: profiles for other tools. */
#include "convert/profile_export.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/kiseki.h"
#include "cli/profile_reading.h"
#include "command/say.h"

static int choose(const struct args *a, const struct profile_format **ret, struct error *e)
{
	const char *name = args_get(a, "format"), *path = args_get(a, "output");

	if (!path)
		return error_set(e, EINVAL, "cannot export: no output given; add -o OUT");
	*ret = name ? profile_export_find(name) : profile_export_from_path(path);
	if (*ret)
		return 0;
	if (name)
		return error_set(e, EINVAL,
				 "cannot export: unknown format '%s'; see kiseki profile export "
				 "--help",
				 name);
	return error_set(e, EINVAL, "cannot export: the ending of %s names no format; add --format",
			 path);
}

static int export(struct profile_reading *in, const struct profile_format *f, const struct args *a,
		  struct error *e)
{
	const struct profile_export_options o = { .value = in->value,
						  .lines = args_has(a, "lines") };
	CLEANUP(outfile) struct outfile *out = NULL;
	int r = outfile_open(&out, args_get(a, "output"), e);

	if (r >= 0)
		r = f->write(&in->walk, &o, out, e);
	if (r >= 0)
		r = outfile_commit(out, e);
	return r;
}

static int run(const struct args *a)
{
	CLEANUP_PROFILE_READING struct profile_reading in = { 0 };
	const struct profile_format *f = NULL;
	struct error e = ERROR_INIT;

	if (choose(a, &f, &e) < 0)
		return say_usage(&e);
	if (!strcmp(args_get(a, "output"), "-") && !f->text && isatty(STDOUT_FILENO)) {
		error_set(&e, 1, "cannot write %s to a terminal: it is not text", f->name);
		return say_failure(&e);
	}
	if (profile_reading_open(&in, a, a->operands[0], &e) < 0 || export(&in, f, a, &e) < 0)
		return profile_reading_failure(&in, &e);
	profile_reading_warn(&in);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'o', "output", "OUT", "where to write it; - is standard output", NULL },
	{ 'f', "format", "FORMAT", "the format; without it, the ending of OUT decides",
	  "folded pprof speedscope firefox json" },
	{ 'l', "lines", NULL, "of pprof: with source lines", NULL },
	PROFILE_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "For go tool pprof:", "kiseki profile export profile.ksk -o out.pb.gz" },
	{ "For the Firefox Profiler:", "kiseki profile export profile.ksk -o out.firefox.json" },
	{ NULL, NULL },
};

const struct command command_profile_export = {
	.name = "export",
	.summary = "write a profile in the format of another tool",
	.usage = "FILE|STORE|DEVICE|RUN -o OUT [--format FORMAT] [OPTION...]",
	.description =
		"The formats, with the endings that choose them: folded (.folded), stacks with "
		"process "
		"and thread above them; pprof (.pb.gz .pprof), with addresses, build-ids, and "
		"samples "
		"and time as values; speedscope (.speedscope.json); firefox (.firefox.json "
		".profile.json), for the Firefox Profiler; json (.json), the tree of stacks.\n\n"
		"The output appears whole or not at all.",
	.options = options,
	.examples = examples,
	.parent = &command_profile,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
