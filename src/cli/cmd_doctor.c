/* SPDX-License-Identifier: MIT */
/* doctor: what this machine can trace with; the agent knows, so it is asked. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/agent_path.h"
#include "cli/kiseki.h"
#include "command/args.h"
#include "command/say.h"

static int run(const struct args *a)
{
	char path[AGENT_PATH_MAX];
	struct error e = ERROR_INIT;
	const char *json = args_has(a, "json") ? "--json" : NULL;

	if (agent_path_find(path, &e) < 0)
		return say_failure(&e);
	execl(path, "kiseki-agent", "doctor", json, (char *)NULL);
	error_set(&e, errno, "cannot run %s: %s", path, strerror(errno));
	return say_failure(&e);
}

static const struct cli_option options[] = {
	{ 0, "json", NULL, "print JSON", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "As root, who may look at everything:", "sudo kiseki doctor" },
	{ NULL, NULL },
};

const struct command command_doctor = {
	.name = "doctor",
	.summary = "say what this machine can trace with, and how to enable the rest",
	.usage = "[--json]",
	.description =
		"Runs `kiseki-agent doctor` (that of KISEKI_AGENT, or beside this program, or in "
		"PATH): which sources of events this kernel has, which "
		"are missing and why, and what to do about it. The exit status is 0 if at "
		"least one can record here.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.run = run,
};
