/* SPDX-License-Identifier: MIT */
/* main: the program kiseki-guest. */
#include <stdio.h>

#include "command/args.h"
#include "command/help.h"
#include "command/say.h"
#include "device/guest/guest_program.h"

int main(int argc, char **argv)
{
	struct error e = ERROR_INIT;
	static struct args args;
	int status = EXIT_OK;

	if (args_parse(&args, &command_guest, argc, argv, &e) < 0)
		return say_usage(&e);
	if (args.help)
		help_print(args.command, stdout);
	else
		status = args.command->run(&args);
	if (status == EXIT_OK && say_flush(&e) < 0)
		return say_failure(&e);
	return status;
}
