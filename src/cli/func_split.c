/* SPDX-License-Identifier: MIT */
/* func split: see func_switch.h. */
#include "cli/func_switch.h"
#include "cli/kiseki.h"

static int run(const struct args *a)
{
	return func_switch_run(a, FUNC_MODE_SPLIT);
}

static const struct cli_option options[] = {
	INSTRUCT_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "True times of a device's programs:", "kiseki func split board-7" },
	{ NULL, NULL },
};

const struct command command_func_split = {
	.name = "split",
	.summary = "let programs record calls, and the system what it does to them",
	.usage = "DEVICE...|--all [OPTION...]",
	.description =
		"As `kiseki func on`, and the device's agent records the system calls, switches "
		"and wakings of the traced threads: each moment of a call is then the user's, the "
		"kernel's, preempted or blocked.",
	.options = options,
	.examples = examples,
	.parent = &command_func,
	.operands = "DEVICE",
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
