/* SPDX-License-Identifier: MIT */
/* report: the group of the reports, one file each. */
#include "cli/kiseki.h"
#include "command/command.h"

static const struct command *const reports[] = {
	&command_report_sched,
	&command_report_latency,
	NULL,
};

const struct command command_report = {
	.name = "report",
	.summary = "answer a question about a trace",
	.usage = "REPORT FILE [OPTION...]",
	.children = reports,
	.parent = &command_kiseki,
};
