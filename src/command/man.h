/* SPDX-License-Identifier: MIT */
/* man: the manual page of any command in roff, made of its table. */
#ifndef KISEKI_COMMAND_MAN_H
#define KISEKI_COMMAND_MAN_H

#include <stdio.h>

#include "command/command.h"

void man_print(const struct command *c, FILE *f);

#endif
