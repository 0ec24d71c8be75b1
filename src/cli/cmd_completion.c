/* SPDX-License-Identifier: MIT */
/* completion: scripts for bash and zsh, made of the table (command/completion.h). */
#include <errno.h>
#include <string.h>

#include "cli/kiseki.h"
#include "command/args.h"
#include "command/command.h"
#include "command/completion.h"
#include "command/say.h"

static int run(const struct args *a)
{
	struct error e = ERROR_INIT;

	if (!strcmp(a->operands[0], "bash")) {
		completion_print_bash(&command_kiseki);
	} else if (!strcmp(a->operands[0], "zsh")) {
		completion_print_zsh(&command_kiseki);
	} else {
		error_set(&e, EINVAL, "cannot make completion: '%s' is neither bash nor zsh",
			  a->operands[0]);
		return say_usage(&e);
	}
	return EXIT_OK;
}

static const struct cli_example examples[] = {
	{ "In ~/.bashrc:", "eval \"$(kiseki completion bash)\"" },
	{ "In ~/.zshrc, after compinit:", "source <(kiseki completion zsh)" },
	{ NULL, NULL },
};

const struct command command_completion = {
	.name = "completion",
	.summary = "write a completion script for bash or zsh",
	.usage = "bash|zsh",
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "bash zsh",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
