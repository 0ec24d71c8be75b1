/* SPDX-License-Identifier: MIT */
/* profile export: profiles for other tools. */
#include "cli/export_format.h"
#include "cli/kiseki.h"
#include "cli/profile_reading.h"
#include "command/say.h"

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
	int status;

	status = export_format_choose(a, "kiseki profile export", &f);
	if (status != EXIT_OK)
		return status;
	if (profile_reading_open(&in, a, a->operands[0], &e) < 0 || export(&in, f, a, &e) < 0)
		return profile_reading_failure(&in, &e);
	profile_reading_warn(&in);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	EXPORT_FORMAT_OPTIONS,
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
