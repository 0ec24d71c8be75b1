/* SPDX-License-Identifier: MIT */
/* vm_program: the command `kiseki-agent vm`. */
#ifndef KISEKI_DEVICE_VM_VM_PROGRAM_H
#define KISEKI_DEVICE_VM_VM_PROGRAM_H

#include "command/command.h"

extern const struct command command_agent_vm;

#endif
