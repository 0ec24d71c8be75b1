/* SPDX-License-Identifier: MIT */
/*
 * vm record: the virtual machines of this host, sampled by `kiseki-agent vm`, whose options are passed on as they are.
 */
#include "cli/agent_run.h"
#include "cli/kiseki.h"
#include "command/vm_options.h"

static const struct cli_option options[] = {
	VM_OPTIONS,
	{ 0 },
};

static int run(const struct args *a)
{
	return agent_run("vm", a);
}

static const struct cli_example examples[] = {
	{ "This host and its virtual machines, for ten seconds:", "kiseki vm record -t 10s" },
	{ "To a collector, until Ctrl-C:", "kiseki vm record -c 10.0.0.1:7077" },
	{ NULL, NULL },
};

const struct command command_vm_record = {
	.name = "record",
	.summary = "sample the virtual machines of this host",
	.usage = "[OPTION...]",
	.description =
		"Executes kiseki-agent vm (that of KISEKI_AGENT, or beside this program, or in "
		"PATH) with the same options: see kiseki-agent-vm(1). It needs root and the module "
		"kiseki_vm. It ends after --time, or with Ctrl-C.\n\n"
		"The file is one for kiseki vm report, steal and correct (docs/vm.md), and for "
		"kiseki profile. With --collector it goes there while it is recorded, and those "
		"commands read it from there.",
	.options = options,
	.examples = examples,
	.parent = &command_vm,
	.run = run,
};
