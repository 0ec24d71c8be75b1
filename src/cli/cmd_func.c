/* SPDX-License-Identifier: MIT */
/* func: the group of the commands for calls of functions, one file each. */
#include "cli/kiseki.h"
#include "command/command.h"

static const struct command *const commands[] = {
	&command_func_run,
	&command_func_kernel,
	&command_func_report,
	&command_func_tree,
	&command_func_graph,
	&command_func_diff,
	&command_func_export,
	&command_func_on,
	&command_func_off,
	&command_func_split,
	NULL,
};

const struct command command_func = {
	.name = "func",
	.summary = "record and analyse the calls of functions",
	.usage = "COMMAND [ARGUMENT...]",
	.children = commands,
	.parent = &command_kiseki,
};
