/* SPDX-License-Identifier: MIT */
/* symbols: the group of the commands for tables of symbols, one file each. */
#include "cli/kiseki.h"
#include "command/command.h"

static const struct command *const commands[] = {
	&command_symbols_build,
	&command_symbols_list,
	NULL,
};

const struct command command_symbols = {
	.name = "symbols",
	.summary = "keep the names of functions at hand",
	.usage = "COMMAND [ARGUMENT...]",
	.children = commands,
	.parent = &command_kiseki,
};
