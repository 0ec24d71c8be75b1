/* SPDX-License-Identifier: MIT */
/* boot_program: the command line of `kiseki-boot`. */
#ifndef KISEKI_DEVICE_BOOT_BOOT_PROGRAM_H
#define KISEKI_DEVICE_BOOT_BOOT_PROGRAM_H

#include "command/command.h"

extern const struct command command_boot_recorder;

/* argv of this process; for --daemon. */
void boot_program_set_argv(char **argv);

#endif
