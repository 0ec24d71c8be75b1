/* SPDX-License-Identifier: MIT */
/*
 * write_completion: the completion scripts of the programs that run on devices, at build time.
 *
 *	write_completion bash|zsh PROGRAM
 *
 * `kiseki` writes its own. A device has no use for the code that does this, so its programs do not carry it.
 */
#include <stdio.h>
#include <string.h>

#include "command/completion.h"
#include "device/agent/program.h"
#include "device/boot/boot_program.h"
#include "device/guest/guest_program.h"

static const struct command *const programs[] = { &command_agent, &command_boot_recorder,
						  &command_guest };

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 3 && i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strcmp(programs[i]->name, argv[2]))
			continue;
		if (!strcmp(argv[1], "bash"))
			completion_print_bash(programs[i]);
		else
			completion_print_zsh(programs[i]);
		return fflush(stdout) ? EXIT_FAILED : EXIT_OK;
	}
	fputs("usage: write_completion bash|zsh kiseki-agent|kiseki-boot|kiseki-guest\n", stderr);
	return EXIT_USAGE;
}
