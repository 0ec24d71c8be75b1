/* SPDX-License-Identifier: MIT */
/* vm: the group of the commands for virtual machines seen from their host, one file each. */
#include "cli/kiseki.h"
#include "command/command.h"

static const struct command *const commands[] = {
	&command_vm_record, &command_vm_report, &command_vm_steal, &command_vm_correct,
	&command_vm_flame,  &command_vm_export, &command_vm_top,   NULL,
};

const struct command command_vm = {
	.name = "vm",
	.summary = "record and analyse virtual machines, seen from their host",
	.usage = "COMMAND [ARGUMENT...]",
	.children = commands,
	.parent = &command_kiseki,
};
