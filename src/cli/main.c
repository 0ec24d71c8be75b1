/* SPDX-License-Identifier: MIT */
/* main: finds the command in the table, parses for it and runs it. */
#include <stdio.h>
#include <string.h>

#include "analysis/json_whole.h"
#include "base/mapping.h"
#include "cli/kiseki.h"
#include "command/args.h"
#include "command/help.h"
#include "command/man.h"
#include "command/say.h"
#include "symbol/object_reader.h"

static int run_group(const struct args *a)
{
	struct error e = ERROR_INIT;
	char name[64];

	if (!a->command->parent && args_has(a, "version")) {
		puts("kiseki " KISEKI_VERSION);
		return EXIT_OK;
	}
	if (!a->command->parent && args_has(a, "man")) {
		man_print(a->command, stdout);
		return EXIT_OK;
	}
	if (!a->command->parent) {
		help_print(a->command, stdout);
		return EXIT_OK;
	}
	command_full_name(a->command, ' ', name);
	error_set(&e, 1, "cannot run %s: no command given; see %s --help", name, name);
	return say_usage(&e);
}

int main(int argc, char **argv)
{
	struct error e = ERROR_INIT;
	struct args args;
	int status;

	json_whole_init();
	mapping_guard();
	if (args_parse(&args, &command_kiseki, argc, argv, &e) < 0)
		return say_usage(&e);
	if (args.help) {
		help_print(args.command, stdout);
		status = EXIT_OK;
	} else if (args.command->run) {
		status = args.command->run(&args);
	} else {
		status = run_group(&args);
	}
	object_reader_stop(); /* if the command had one */
	if (status == EXIT_OK && say_flush(&e) < 0)
		return say_failure(&e);
	return status;
}
