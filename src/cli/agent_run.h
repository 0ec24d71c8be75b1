/* SPDX-License-Identifier: MIT */
/*
 * agent_run: a command of kiseki-agent in this program's place, with the options and operands that this program was given.
 *
 * Both commands have the same options (command/profile_options.h, command/vm_options.h). Ctrl-C reaches the agent by
 * itself; its exit status is ours, and what it says on standard error it says as itself.
 */
#ifndef KISEKI_CLI_AGENT_RUN_H
#define KISEKI_CLI_AGENT_RUN_H

#include "command/args.h"

/* Returns only if it failed, which was said: the exit status. */
int agent_run(const char *command, const struct args *a);

#endif
