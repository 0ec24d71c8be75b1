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
	CONFIG_PACE_OPTIONS,
	INSTRUCT_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Only what happens in one service:",
	  "kiseki configure board-7 --cgroup /system.slice/app.service" },
	{ "Everything again:", "kiseki configure board-7 --cgroup ''" },
	{ "Its continuous profile for at most half a percent of a CPU:",
	  "kiseki configure board-7 --profile-budget 0.5" },
	{ NULL, NULL },
};

const struct command command_configure = {
	.name = "configure",
	.summary = "say what devices trace",
	.usage = "DEVICE...|--all OPTION...",
	.description = "Changes what is said and nothing else. A device that traces begins a new "
		       "run with it; one that does not, uses it when it is started.\n\n"
		       "Recorders that go on without end (kiseki-agent profile and vm with "
		       "--collector, of all CPUs) change their pace while they record, in the same "
		       "run. What was said to one holds until something else is said, also for the "
		       "next that comes from that device; it counts instead of what the recorder "
		       "was started with.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "DEVICE",
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
