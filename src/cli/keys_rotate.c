/* SPDX-License-Identifier: MIT */
/* keys rotate: a new authority, or a new certificate of the collector, without a gap. */
#include <stdio.h>

#include "cli/key_folder.h"
#include "cli/kiseki.h"
#include "command/say.h"

static int run(const struct args *a)
{
	CLEANUP(keys) struct keys *k = NULL;
	struct error e = ERROR_INIT;

	if (key_folder_open(&k, a, &e) < 0 || keys_rotate(k, args_has(a, "collector"), &e) < 0)
		return say_failure(&e);
	puts(args_has(a, "collector") ? "the collector has a new certificate"
				      : "there is a new authority");
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 0, "collector", NULL, "only the collector's own key and certificate", NULL },
	KEY_FOLDER_OPTION,
	{ 0 },
};

const struct command command_keys_rotate = {
	.name = "rotate",
	.summary = "make a new authority; devices change over as they renew",
	.usage = "[--collector] [--dir DIR]",
	.description =
		"The authority that there is vouches for the new one, and its key is removed. "
		"Certificates that it signed hold until they end; devices learn of the new "
		"authority when they renew theirs. A second rotation before that (90 days, if "
		"`keys enroll --valid` did not say otherwise) locks out those that have not. "
		"Tokens that wait are of the old authority: make them again.",
	.options = options,
	.parent = &command_keys,
	.run = run,
};
