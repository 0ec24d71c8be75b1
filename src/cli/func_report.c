/* SPDX-License-Identifier: MIT */
/* func report: what each function cost. */
#include "cli/func_reading.h"
#include "cli/func_summary.h"
#include "cli/kiseki.h"
#include "command/say.h"

static int run(const struct args *a)
{
	CLEANUP_FUNC_READING struct func_reading in = { 0 };
	struct error e = ERROR_INIT;

	if (func_summary_check(a, &e) < 0)
		return say_usage(&e);
	if (func_reading_open(&in, a, a->operands[0], &e) < 0)
		return func_reading_failure(&in, &e);
	return func_summary_print(&in, a);
}

static const struct cli_option options[] = {
	FUNC_SUMMARY_OPTIONS,
	FUNC_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "The ten functions with the most time of their own:",
	  "kiseki func report trace.ksk --limit 10" },
	{ "The longest single calls of one process:",
	  "kiseki func report records/ --process server --sort max" },
	{ NULL, NULL },
};

const struct command command_func_report = {
	.name = "report",
	.summary = "what each function cost: calls, total, local, average, split",
	.usage = "FILE|DEVICE|RUN [--sort KEY] [--limit N] [--function PATTERN] [OPTION...]",
	.description =
		"Total is the time from a function's calls to their returns; recursion counts "
		"once. Local is what is left without the functions it called. With records of the "
		"scheduler beside the calls, local time is split: user, kernel (in system calls "
		"and interrupts), preempted (it could run and had no CPU), blocked (it slept). "
		"They add up to local time, and all local times to the time of the outermost "
		"calls.\n\n"
		"FILE is the record of a process, a folder of such records, a .ksk file with "
		"function streams, the kernel's function_graph as text or trace.dat, or the folder "
		"of a collector's store. What is no file is asked of a collector: a number is a "
		"run, a name a device, whose latest run of programs is meant. A run is joined with "
		"the scheduler's of the same time, if there is one.",
	.options = options,
	.examples = examples,
	.parent = &command_func,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
