/* SPDX-License-Identifier: MIT */
/* configure: see instruct.h. */
#include "cli/instruct.h"
#include "cli/kiseki.h"
#include "command/config_args.h"

static int run(const struct args *a)
{
	return instruct_run(a, INSTRUCT_MUST);
}

static const struct cli_option options[] = {
	CONFIG_OPTIONS,
	INSTRUCT_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Only what happens in one service:",
	  "kiseki configure board-7 --cgroup /system.slice/app.service" },
	{ "Everything again:", "kiseki configure board-7 --cgroup ''" },
	{ NULL, NULL },
};

const struct command command_configure = {
	.name = "configure",
	.summary = "say what devices trace",
	.usage = "DEVICE...|--all OPTION...",
	.description = "Changes what is said and nothing else. A device that traces begins a new "
		       "run with it; one that does not, uses it when it is started.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "DEVICE",
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
