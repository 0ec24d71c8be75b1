/* SPDX-License-Identifier: MIT */
/*
 * completion: what a shell offers while a command line is typed, made of the table of any program.
 *
 * Printed to stdout: `kiseki completion` says its own, and a build writes the scripts of all programs.
 */
#ifndef KISEKI_COMMAND_COMPLETION_H
#define KISEKI_COMMAND_COMPLETION_H

#include "command/command.h"

void completion_print_bash(const struct command *c);
void completion_print_zsh(const struct command *c);

#endif
