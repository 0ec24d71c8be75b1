/* SPDX-License-Identifier: MIT */
/* graph_program: the command `kiseki-agent kernel`. */
#ifndef KISEKI_DEVICE_GRAPH_GRAPH_PROGRAM_H
#define KISEKI_DEVICE_GRAPH_GRAPH_PROGRAM_H

#include "command/command.h"

extern const struct command command_agent_kernel;

#endif
