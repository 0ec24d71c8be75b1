/* SPDX-License-Identifier: MIT */
/* boot: the group of the commands for boot charts, one file each. */
#include "cli/kiseki.h"
#include "command/command.h"

static const struct command *const commands[] = {
	&command_boot_record, &command_boot_chart,  &command_boot_report,
	&command_boot_diff,   &command_boot_export, NULL,
};

const struct command command_boot = {
	.name = "boot",
	.summary = "chart and analyse how devices boot",
	.usage = "COMMAND [ARGUMENT...]",
	.children = commands,
	.parent = &command_kiseki,
};
