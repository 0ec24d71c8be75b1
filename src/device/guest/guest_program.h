/* SPDX-License-Identifier: MIT */
/* guest_program: the command line of kiseki-guest. */
#ifndef KISEKI_DEVICE_GUEST_GUEST_PROGRAM_H
#define KISEKI_DEVICE_GUEST_GUEST_PROGRAM_H

#include "command/command.h"

extern const struct command command_guest;

#endif
