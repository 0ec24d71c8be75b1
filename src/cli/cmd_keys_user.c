/* SPDX-License-Identifier: MIT */
/* keys user: the group of the commands for people who log in, one file each. */
#include "cli/kiseki.h"
#include "command/command.h"

static const struct command *const commands[] = {
	&command_keys_user_add,
	&command_keys_user_list,
	&command_keys_user_passwd,
	&command_keys_user_remove,
	NULL,
};

const struct command command_keys_user = {
	.name = "user",
	.summary = "people who log in with a browser",
	.usage = "COMMAND [ARGUMENT...]",
	.description =
		"With keys, the collector's page asks for a name and a password. A role says what "
		"one may: `view` what was recorded, `control` devices as well, `admin` everything. "
		"A "
		"collector that runs follows at once.",
	.children = commands,
	.parent = &command_keys,
};
