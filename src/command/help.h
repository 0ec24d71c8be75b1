/* SPDX-License-Identifier: MIT */
/* help: --help of any command, made of its table; at most 80 columns. */
#ifndef KISEKI_COMMAND_HELP_H
#define KISEKI_COMMAND_HELP_H

#include <stdio.h>

#include "command/command.h"

void help_print(const struct command *c, FILE *f);

#endif
