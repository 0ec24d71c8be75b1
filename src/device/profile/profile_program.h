/* SPDX-License-Identifier: MIT */
/* profile_program: the command `kiseki-agent profile`. */
#ifndef KISEKI_DEVICE_PROFILE_PROFILE_PROGRAM_H
#define KISEKI_DEVICE_PROFILE_PROFILE_PROGRAM_H

#include "command/command.h"

extern const struct command command_agent_profile;

#endif
