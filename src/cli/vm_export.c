/* SPDX-License-Identifier: MIT */
/* vm export: the time of virtual machines for other tools. */
#include "cli/export_format.h"
#include "cli/kiseki.h"
#include "cli/vm_reading.h"
#include "command/say.h"

static int export(struct vm_reading *in, const struct profile_format *f, const char *path,
		  struct error *e)
{
	CLEANUP(outfile) struct outfile *out = NULL;
	int r = outfile_open(&out, path, e);

	if (r >= 0)
		r = f->write_vm(&in->tree, out, e);
	if (r >= 0)
		r = outfile_commit(out, e);
	return r;
}

static int run(const struct args *a)
{
	CLEANUP_VM_READING struct vm_reading in = { .with_cells = true };
	const struct profile_format *f = NULL;
	struct error e = ERROR_INIT;
	int status = export_format_choose(a, "kiseki vm export", &f);

	if (status != EXIT_OK)
		return status;
	in.with_spans = f->has_spans;
	if (vm_reading_open(&in, a, &e) < 0 || export(&in, f, args_get(a, "output"), &e) < 0)
		return vm_reading_failure(&in, &e);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	EXPORT_FORMAT_OPTIONS,
	VM_READING_TREE_OPTIONS,
	VM_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "For pprof:", "kiseki vm export vm.ksk -o out.pb.gz" },
	{ "What the VMM took from each function of the guests:",
	  "go tool pprof -top -cum -sample_index=steal2 out.pb.gz" },
	{ "For the Firefox Profiler:", "kiseki vm export vm.ksk -o out.firefox.json" },
	{ NULL, NULL },
};

const struct command command_vm_export = {
	.name = "export",
	.summary = "write the time of virtual machines in the format of another tool",
	.usage = "FILE|STORE -o OUT [--format FORMAT] [OPTION...]",
	.description = "All of the time of each virtual CPU is in each of them, to the nanosecond. "
		       "The formats, "
		       "with the endings that choose them: folded (.folded), stacks of host, "
		       "machine, process of "
		       "the guest, class, and what the class has: object and function, or the "
		       "reason of the exit "
		       "and the host's functions, or who ran instead; pprof (.pb.gz .pprof), by "
		       "function of the "
		       "guest, with true time, steal of both types and halt as values; speedscope "
		       "(.speedscope.json) and firefox (.firefox.json .profile.json), moment by "
		       "moment, a thread "
		       "for each virtual CPU; json (.json), the tree of stacks and all that the "
		       "reports say.\n\n"
		       "The output appears whole or not at all.",
	.options = options,
	.examples = examples,
	.parent = &command_vm,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
