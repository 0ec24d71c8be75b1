/* SPDX-License-Identifier: MIT */
/* main: as pid 1 everything on the command line is init's; else it is ours. */
#include <stdio.h>
#include <unistd.h>

#include "command/args.h"
#include "command/help.h"
#include "command/say.h"
#include "device/boot/boot_program.h"
#include "device/boot/init_wrapper.h"

int main(int argc, char **argv)
{
	struct error e = ERROR_INIT;
	static struct args args;
	int status = EXIT_OK;

	if (getpid() == 1)
		return init_wrapper_run(argv);
	boot_program_set_argv(argv);
	if (args_parse(&args, &command_boot_recorder, argc, argv, &e) < 0)
		return say_usage(&e);
	if (args.help)
		help_print(args.command, stdout);
	else
		status = args.command->run(&args);
	if (status == EXIT_OK && say_flush(&e) < 0)
		return say_failure(&e);
	return status;
}
