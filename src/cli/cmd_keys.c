/* SPDX-License-Identifier: MIT */
/* keys: the group of the commands for keys, one file each. */
#include "cli/kiseki.h"
#include "command/command.h"

static const struct command *const commands[] = {
	&command_keys_init,   &command_keys_enroll, &command_keys_list,
	&command_keys_revoke, &command_keys_rotate, &command_keys_repair,
	&command_keys_token,  &command_keys_user,   NULL,
};

/* How each of the three is let in, seen and taken out. */
static const struct cli_example examples[] = {
	{ "Let a device in; the token serves once:", "kiseki keys enroll board-7 >token" },
	{ "Which devices are in, and until when:", "kiseki keys list" },
	{ "Take one out, within a second:", "kiseki keys revoke board-7" },
	{ "People:", "kiseki keys user add ann --role control" },
	{ "Who may log in:", "kiseki keys user list" },
	{ "Out at once:", "kiseki keys user remove ann" },
	{ "Programs:", "kiseki keys token add nightly >token" },
	{ "Which may ask, and until when:", "kiseki keys token list" },
	{ "Out at once:", "kiseki keys token revoke nightly" },
	{ NULL, NULL },
};

const struct command command_keys = {
	.name = "keys",
	.summary = "who may speak to a collector: make, give out and take back keys",
	.usage = "COMMAND [ARGUMENT...]",
	.description =
		"A collector with keys takes only devices that have a certificate of its own "
		"authority, over TLS 1.3, and answers only users and tokens that it knows, over "
		"HTTPS. These commands work on the folder of its keys, which is "
		"`keys` in its --data, whether it runs or not; one that runs follows at once.",
	.examples = examples,
	.children = commands,
	.parent = &command_kiseki,
};
