/* SPDX-License-Identifier: MIT */
/* keys revoke: a device is not let in any more. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "cli/key_folder.h"
#include "cli/kiseki.h"
#include "command/say.h"

static int run(const struct args *a)
{
	CLEANUP(keys) struct keys *k = NULL;
	struct error e = ERROR_INIT;
	size_t i;
	int n;

	if (key_folder_open(&k, a, &e) < 0)
		return say_failure(&e);
	for (i = 0; i < a->n_operands; i++) {
		n = keys_revoke(k, a->operands[i], (uint64_t)time(NULL), &e);
		if (n == 0)
			error_set(&e, ENOENT,
				  "cannot revoke %s: it has no certificate and no token",
				  a->operands[i]);
		if (n <= 0)
			return say_failure(&e);
		printf("%s revoked\n", a->operands[i]);
	}
	return EXIT_OK;
}

static const struct cli_option options[] = {
	KEY_FOLDER_OPTION,
	{ 0 },
};

const struct command command_keys_revoke = {
	.name = "revoke",
	.summary = "take a device's certificates and tokens back",
	.usage = "DEVICE... [--dir DIR]",
	.description =
		"A collector that runs closes the device's connections within a second, and "
		"refuses it from then on. What it has stored stays. `kiseki keys enroll` lets it "
		"in again.",
	.options = options,
	.parent = &command_keys,
	.operands_min = 1,
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
