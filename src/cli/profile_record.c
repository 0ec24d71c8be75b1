/* SPDX-License-Identifier: MIT */
/*
 * profile record: samples of this machine, taken by `kiseki-agent profile`, whose options are passed on as they are.
 *
 * The agent runs the command, so that it can sample nothing else; its exit status is the command's, and ours. Ctrl-C ends
 * the recording and completes the file.
 */
#include "cli/agent_run.h"
#include "cli/kiseki.h"
#include "command/profile_options.h"

static const struct cli_option options[] = {
	PROFILE_OPTIONS,
	{ 0 },
};

static int run(const struct args *a)
{
	return agent_run("profile", a);
}

static const struct cli_example examples[] = {
	{ "Where does a program spend its time?", "kiseki profile record -- make" },
	{ "The whole machine, for ten seconds:", "kiseki profile record -a -t 10s -o all.ksk" },
	{ "The same, to a collector:", "kiseki profile record -a -t 10s -c 10.0.0.1:7077" },
	{ NULL, NULL },
};

const struct command command_profile_record = {
	.name = "record",
	.summary = "sample a command, processes, or all CPUs of this machine",
	.usage = "[OPTION...] [-- COMMAND [ARGUMENT...]]",
	.description =
		"Executes kiseki-agent profile (that of KISEKI_AGENT, or beside this program, or "
		"in "
		"PATH) with the same options: see kiseki-agent-profile(1). Without a command and "
		"without --pid all CPUs are sampled, until Ctrl-C, which needs root; processes of "
		"one's own do not, where kernel.perf_event_paranoid is 2 or less. The exit status "
		"is the command's.\n\n"
		"The file is one for kiseki profile report, flame, diff and export "
		"(docs/profile.md). With --collector it goes there while it is recorded, and those "
		"commands read it from there.",
	.options = options,
	.examples = examples,
	.parent = &command_profile,
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
