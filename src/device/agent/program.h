/* SPDX-License-Identifier: MIT */
/* program: the command line of kiseki-agent as a table; see command/command.h. */
#ifndef KISEKI_DEVICE_AGENT_PROGRAM_H
#define KISEKI_DEVICE_AGENT_PROGRAM_H

#include "command/command.h"

extern const struct command command_agent; /* the root */
extern const struct command command_agent_doctor;

#endif
