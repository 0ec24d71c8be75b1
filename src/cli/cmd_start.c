/* SPDX-License-Identifier: MIT */
/* start: see instruct.h. */
#include "cli/instruct.h"
#include "cli/kiseki.h"
#include "command/config_args.h"

static int run(const struct args *a)
{
	return instruct_run(a, INSTRUCT_MAY);
}

static const struct cli_option options[] = {
	CONFIG_OPTIONS,
	INSTRUCT_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "One device by BPF, switches and wakeups of one program only:",
	  "kiseki start board-7 --source bpf --events switch,waking --comm 'nginx*'" },
	{ "A whole rack:", "kiseki start 'rack3-*'" },
	{ NULL, NULL },
};

const struct command command_start = {
	.name = "start",
	.summary = "let devices trace",
	.usage = "DEVICE...|--all [OPTION...]",
	.description = "A device that is away is told when it comes back. What to trace may be "
		       "said with it; of what is not said, the device keeps what it has. A device "
		       "that traces already begins a new run if something changes.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "DEVICE",
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
