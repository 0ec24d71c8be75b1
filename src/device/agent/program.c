/* SPDX-License-Identifier: MIT */
/*
 * program: see program.h. The options are the keys of the settings (settings.h); what a key means is
 * said at more length in packaging/agent.conf.
 */
#include "device/agent/program.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "command/args.h"
#include "command/config_args.h"
#include "command/man.h"
#include "command/say.h"
#include "device/agent/agent.h"
#ifdef HAVE_BPF
#include "device/agent/bpf_load.h"
#endif
#include "device/agent/doctor.h"
#include "device/agent/enroll.h"
#include "device/agent/handover.h"
#include "device/agent/powers.h"
#include "device/agent/settings.h"
#include "device/graph/graph_program.h"
#include "device/profile/profile_program.h"
#include "device/vm/vm_program.h"
#include "wire/block.h"
#include "wire/func_door.h"

static const struct cli_option options[] = {
	{ 'c', "collector", "HOST:PORT", "where the collector listens (127.0.0.1:7077)", NULL },
	{ 'n', "name", "NAME", "what it calls this device (the host name)", NULL },
	{ 0, "start", NULL, "record at once, not when the collector says so", NULL },
	CONFIG_OPTIONS,
	{ 0, "ring-most", "SIZE", "most that a collector may ask as --ring (RAM / 16 / CPUs)",
	  NULL },
	{ 0, "func-socket", "PATH", "where programs ask (" FUNC_DOOR_PATH "), or none", NULL },
	{ 0, "func-group", "GROUP", "whose programs may, beside root's; * for all", NULL },
	{ 0, "func-folder", "DIR", "of their records (func-NAME beside the spool)", NULL },
	{ 0, "func-mem", "SIZE", "memory for their records (32M)", NULL },
	{ 0, "objects-rate", "SIZE",
	  "programs' files it asks for: so much a second (1M on loopback, else 0)", NULL },
	{ 0, "spool", "SIZE", "memory for what was not sent (4M)", NULL },
	{ 0, "spool-file", "FILE", "its file (/run/kiseki/NAME.spool)", NULL },
	{ 0, "state-dir", "DIR", "where the identity is kept (/var/lib/kiseki-agent)", NULL },
	{ 0, "keep-recording", NULL, "let the kernel record on after the agent's end", NULL },
	{ 0, "nice", "N", "the agent's priority, -20 to 19 (-5)", NULL },
	{ 0, "config", "FILE", "settings, as lines of key = value (" SETTINGS_FILE ")", NULL },
	{ 0, "version", NULL, "print the version", NULL },
	{ 0, "man", NULL, "write the manual page in roff", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Trace this machine for a collector elsewhere:",
	  "kiseki-agent --collector logs.example:7077 --start" },
	{ "What can be recorded here, and how?", "kiseki-agent doctor" },
	{ NULL, NULL },
};

static const struct command *const children[] = {
	&command_agent_doctor,	&command_agent_enroll, &command_agent_kernel,
	&command_agent_profile, &command_agent_vm,     NULL,
};

static void print_line(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "kiseki-agent: %s\n", line);
}

/* Told to, or it is there without a collector of its own: who loads it so wants this. */
static bool uses_driver(const struct settings *s)
{
	return s->config.origin == ORIGIN_DRIVER ||
	       (s->config.origin == ORIGIN_AUTO && handover_is_wanted(HANDOVER_FOLDER));
}

/* What takes more power than recording does. Whether it worked is told when it is needed. */
static void prepare_bpf(const struct settings *s)
{
#ifdef HAVE_BPF
	if (s->config.origin != ORIGIN_TRACEFS)
		(void)bpf_mount(NULL);
#else
	(void)s;
#endif
}

static int run_agent(const struct args *a)
{
	CLEANUP(agent) struct agent *agent = NULL;
	struct error e = ERROR_INIT;
	struct settings settings;

	if (args_has(a, "version")) {
		puts("kiseki-agent " KISEKI_VERSION);
		return EXIT_OK;
	}
	if (args_has(a, "man")) {
		man_print(a->command, stdout);
		return EXIT_OK;
	}
	settings_init(&settings);
	if (settings_load(&settings, a, &e) < 0)
		return say_usage(&e);
	if (settings.nice && setpriority(PRIO_PROCESS, 0, settings.nice) < 0)
		say_note("cannot set the priority to %d: %m", settings.nice);
	if (uses_driver(&settings)) {
		struct handover_options o = { &settings, HANDOVER_FOLDER, print_line, NULL };

		return handover_run(&o, &e) < 0 ? say_failure(&e) : EXIT_OK;
	}
	if (settings.config.codec == CODEC_BSF) {
		error_set(&e, EOPNOTSUPP, "cannot use codec: only the driver can record bsf");
		return say_usage(&e);
	}
	prepare_bpf(&settings);
	if (agent_new(&agent, &(struct agent_options){ &settings, print_line, NULL }, &e) < 0 ||
	    powers_keep(POWERS_OF_AGENT, 0, &e) < 0 || agent_run(agent, &e) < 0)
		return say_failure(&e);
	return EXIT_OK;
}

const struct command command_agent = {
	.name = "kiseki-agent",
	.summary = "record what the scheduler of this machine does, for a collector",
	.usage = "[OPTION...] | doctor [--json] | enroll [OPTION...] | kernel [OPTION...] | "
		 "profile [OPTION...] | vm "
		 "[OPTION...]",
	.description =
		"Makes the kernel record scheduler events, packs them into blocks, about three "
		"bytes per event, and sends them to a collector, which also tells it when to start "
		"and "
		"stop. It needs root. A block is kept until the collector has it on its disk. All "
		"memory is of "
		"a fixed size; what has no room is counted.\n\n"
		"When the agent dies, the kernel goes on recording, and the next agent takes up "
		"everything where the last one left it. SIGTERM and SIGINT end the recording, "
		"send the rest for a few seconds, and end the agent.\n\n"
		"What to record is what `kiseki start` and `kiseki configure` say with the same "
		"options. Until they do, and where nothing is given here, it is --source auto "
		"--events all --flush 100ms --block 32K --ring 512K --resolution 0 --policy "
		"keep-oldest --func on, of all tasks.\n\n"
		"Programs that were built with -finstrument-functions and ask at --func-socket are "
		"traced, whether or not the scheduler is. Their records are files, so that nothing "
		"is lost when the agent or a program dies.\n\n"
		"Options that have a value, --start and --keep-recording can also stand in the "
		"file of --config, as `key = value` without dashes; --start is `start = yes` "
		"there. The command line goes over the file.",
	.options = options,
	.examples = examples,
	.children = children,
	.run = run_agent,
};

static const struct cli_option doctor_options[] = {
	{ 0, "json", NULL, "print it as JSON", NULL },
	{ 0, "man", NULL, "write the manual page in roff", NULL },
	{ 0 },
};

static int run_doctor(const struct args *a)
{
	if (args_has(a, "man")) {
		man_print(a->command, stdout);
		return EXIT_OK;
	}
	return doctor_run(args_has(a, "json"));
}

const struct command command_agent_doctor = {
	.name = "doctor",
	.summary = "say what can be recorded on this machine, and what is missing",
	.usage = "[--json]",
	.description =
		"Looks at the kernel, its files and this user's powers, tries what each source "
		"needs, lets the sources record the same second and compares them with the "
		"kernel's own count. What is missing comes with what would help. The exit status "
		"is 0 if at least one source can record here.",
	.options = doctor_options,
	.parent = &command_agent,
	.run = run_doctor,
};
