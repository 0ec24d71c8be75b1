/* SPDX-License-Identifier: MIT */
/* func on: see func_switch.h. */
#include "cli/func_switch.h"
#include "cli/kiseki.h"

static int run(const struct args *a)
{
	return func_switch_run(a, FUNC_MODE_ON);
}

static const struct cli_option options[] = {
	INSTRUCT_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Programs of a device, from now on and after each of its starts:",
	  "kiseki func on board-7" },
	{ "A process that was started with KISEKI_FUNC_ON=0, and records into a file:",
	  "kiseki func on 4711" },
	{ NULL, NULL },
};

const struct command command_func_on = {
	.name = "on",
	.summary = "let programs record their calls",
	.usage = "DEVICE...|PID...|RECORD...|--all [OPTION...]",
	.description =
		"Programs of a device, by its collector: those that run with the library and have "
		"asked the device's agent, and those to come. A device that is away is told when "
		"it comes "
		"back. It changes nothing about the trace of its scheduler.\n\n"
		"A number is a process on this machine, a path the record of one (command.pid): "
		"what records alone is switched at its next call or return.",
	.options = options,
	.examples = examples,
	.parent = &command_func,
	.operands = "DEVICE",
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
