/* SPDX-License-Identifier: MIT */
/* kiseki: the root of the table of commands. */
#include "cli/kiseki.h"

static const struct command *const commands[] = {
	&command_record, &command_serve,     &command_devices,	  &command_start,
	&command_stop,	 &command_configure, &command_label,	  &command_runs,
	&command_ledger, &command_export,    &command_tail,	  &command_top,
	&command_alerts, &command_convert,   &command_info,	  &command_check,
	&command_report, &command_func,	     &command_boot,	  &command_profile,
	&command_vm,	 &command_work,	     &command_keys,	  &command_symbols,
	&command_doctor, &command_help,	     &command_completion, NULL,
};

static const struct cli_option options[] = {
	{ 0, "version", NULL, "print the version", NULL },
	{ 0, "man", NULL, "write the manual page in roff", NULL },
	{ 0 },
};

const struct command command_kiseki = {
	.name = "kiseki",
	.summary = "record, keep, convert and analyse traces of Linux devices",
	.usage = "COMMAND [ARGUMENT...]",
	.description =
		"Kiseki records what the schedulers of Linux devices do, in a few bits per event, "
		"keeps it, answers questions about it, and gives it to other tools. `record` "
		"traces this machine into a file; `serve` is the collector to which any number of "
		"devices (kiseki-agent) send, and which the commands from `devices` to `top` "
		"ask.\n\n"
		"The others take files: a .ksk, a trace.dat, ftrace text, an Android systrace page "
		"or a CTF folder; which it is, is told by its content. The path - is standard "
		"input "
		"or output.",
	.options = options,
	.children = commands,
};
