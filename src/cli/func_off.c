/* SPDX-License-Identifier: MIT */
/* func off: see func_switch.h. */
#include "cli/func_switch.h"
#include "cli/kiseki.h"

static int run(const struct args *a)
{
	return func_switch_run(a, FUNC_MODE_OFF);
}

static const struct cli_option options[] = {
	INSTRUCT_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "All devices:", "kiseki func off --all" },
	{ NULL, NULL },
};

const struct command command_func_off = {
	.name = "off",
	.summary = "let programs record nothing",
	.usage = "DEVICE...|PID...|RECORD...|--all [OPTION...]",
	.description = "The programs go on without recording, at about 1 ns a call; `kiseki func "
		       "on` lets them go on with it. A device, a process or a record is named as "
		       "there.",
	.options = options,
	.examples = examples,
	.parent = &command_func,
	.operands = "DEVICE",
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
