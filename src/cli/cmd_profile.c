/* SPDX-License-Identifier: MIT */
/* profile: the group of the commands for samples of where the CPUs are, one file each. */
#include "cli/kiseki.h"
#include "command/command.h"

static const struct command *const commands[] = {
	&command_profile_record, &command_profile_report,
	&command_profile_flame,	 &command_profile_diff,
	&command_profile_export, &command_profile_top,
	&command_profile_trend,	 NULL,
};

const struct command command_profile = {
	.name = "profile",
	.summary = "record and analyse where the CPUs spend their time",
	.usage = "COMMAND [ARGUMENT...]",
	.children = commands,
	.parent = &command_kiseki,
};
