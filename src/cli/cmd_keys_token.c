/* SPDX-License-Identifier: MIT */
/* keys token: the group of the commands for programs that ask, one file each. */
#include "cli/kiseki.h"
#include "command/command.h"

static const struct command *const commands[] = {
	&command_keys_token_add,
	&command_keys_token_list,
	&command_keys_token_revoke,
	NULL,
};

const struct command command_keys_token = {
	.name = "token",
	.summary = "tokens with which programs ask",
	.usage = "COMMAND [ARGUMENT...]",
	.description =
		"With keys, a program shows a token in the header `Authorization: Bearer TOKEN`. "
		"kiseki itself takes it from KISEKI_TOKEN, from the file that KISEKI_TOKEN_FILE "
		"names, or from ~/.config/kiseki/token.",
	.children = commands,
	.parent = &command_keys,
};
