/* SPDX-License-Identifier: MIT */
/* keys token revoke: a token is worth nothing any more. */
#include <stdio.h>

#include "cli/key_folder.h"
#include "cli/kiseki.h"
#include "cli/people_list.h"
#include "command/say.h"

static int run(const struct args *a)
{
	CLEANUP(people) struct people *p = NULL;
	struct error e = ERROR_INIT;
	size_t i;

	if (people_list_open(&p, a, &e) < 0)
		return say_failure(&e);
	for (i = 0; i < a->n_operands; i++) {
		if (people_remove_token(p, a->operands[i], &e) < 0)
			return say_failure(&e);
		printf("%s revoked\n", a->operands[i]);
	}
	return EXIT_OK;
}

static const struct cli_option options[] = {
	KEY_FOLDER_OPTION,
	{ 0 },
};

const struct command command_keys_token_revoke = {
	.name = "revoke",
	.summary = "take tokens back",
	.usage = "NAME... [--dir DIR]",
	.description = "A collector that runs refuses them from the next request on, and ends what "
		       "they follow within a second.",
	.options = options,
	.parent = &command_keys_token,
	.operands_min = 1,
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
