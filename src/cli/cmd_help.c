/* SPDX-License-Identifier: MIT */
/* help: the help or the manual page of a command. */
#include "cli/kiseki.h"
#include "command/args.h"
#include "command/command.h"
#include "command/help.h"
#include "command/man.h"
#include "command/say.h"

static int run(const struct args *a)
{
	const struct command *c = &command_kiseki, *child;
	struct error e = ERROR_INIT;
	size_t i;

	for (i = 0; i < a->n_operands; i++) {
		const char *near = command_nearest(c, a->operands[i]);

		child = command_find(c, a->operands[i]);
		if (!child) {
			error_set(&e, 1, "cannot show help: unknown command '%s'%s%s%s",
				  a->operands[i], near ? ", did you mean " : "", near ? near : "",
				  near ? "?" : "");
			return say_usage(&e);
		}
		c = child;
	}
	if (args_has(a, "man"))
		man_print(c, stdout);
	else
		help_print(c, stdout);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 0, "man", NULL, "write the manual page in roff instead", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "The manual page of a command, without installing it:",
	  "kiseki help --man convert | man -l -" },
	{ NULL, NULL },
};

const struct command command_help = {
	.name = "help",
	.summary = "show help for a command",
	.usage = "[COMMAND...] [--man]",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "record serve devices start stop configure runs ledger export tail top convert "
		    "info check report doctor completion",
	.operands_max = 3,
	.run = run,
};
