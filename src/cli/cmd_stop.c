/* SPDX-License-Identifier: MIT */
/* stop: see instruct.h. */
#include "cli/instruct.h"
#include "cli/kiseki.h"

static int run(const struct args *a)
{
	return instruct_run(a, INSTRUCT_PLAIN);
}

static const struct cli_option options[] = {
	INSTRUCT_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "All of them:", "kiseki stop --all" },
	{ NULL, NULL },
};

const struct command command_stop = {
	.name = "stop",
	.summary = "let devices stop tracing",
	.usage = "DEVICE...|--all",
	.description = "Ends the run of each device; what it still holds is sent. A device that is "
		       "away is told when it comes back.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "DEVICE",
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
