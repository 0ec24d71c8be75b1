/* SPDX-License-Identifier: MIT */
/*
 * config_args: what to trace, as people write it: the options of `kiseki start`, `configure` and
 * `record`, those of `kiseki-agent`, and the values of the same names in JSON, which
 * collector/config_json.h turns into these words.
 *
 *	--source bpf                 auto driver bpf tracefs
 *	--events switch,waking       kinds of events, or the kernel's names of them, or all
 *	--pid 1,2                    tasks; "" asks for no pid any more, as for the next two
 *	--comm 'nginx*,sh'           names; * at the end is any rest; "\," is a comma in a name, and
 *	                             "\ " a blank at its start
 *	--cgroup /system.slice/a     paths below the root of the hierarchy
 *	--flush 100ms                how long an event waits in a block, and twice that in one that
 *	                             has little in it; a plain number is ms
 *	--block 16K                  bytes of a block
 *	--ring 1M                    kernel memory of each CPU; a plain number is KiB
 *	--resolution 64ns            of the stamps; 0 is as fine as the machine's counter
 *	--policy keep-oldest         or flight-recorder, which keeps the latest; oldest and flight will do
 *	--codec sched                or bsf, which only the driver records
 *	--func on                    calls of programs that were built for it; off; split, which also
 *	                             has their system calls, switches and wakings
 *	--profile off                of a recorder of profiles that goes on without end: it pauses; on
 *	--profile-rate 99            how often it samples each CPU in a second, at the most
 *	--profile-budget 0.5         percent of one CPU that it may take; 0: any
 *	--profile-duty 10s/60s       which part of the time it samples in; "": all of it
 *	--vm …, --vm-rate …          the same of the recorder of virtual machines
 */
#ifndef KISEKI_COMMAND_CONFIG_ARGS_H
#define KISEKI_COMMAND_CONFIG_ARGS_H

#include <stdint.h>

#include "base/error.h"
#include "command/args.h"
#include "wire/message.h"

#define CONFIG_SOURCE_WORDS "auto driver bpf tracefs"
#define CONFIG_EVENT_WORDS "all switch waking wakeup wakeup_new fork exec exit rename setprio"
#define CONFIG_POLICY_WORDS "keep-oldest flight-recorder"
#define CONFIG_CODEC_WORDS "sched bsf"
#define CONFIG_FUNC_WORDS "off on split"

/* For the tables of commands. */
#define CONFIG_OPTIONS                                                                             \
	{ 0, "source", "SOURCE", "how to trace: " CONFIG_SOURCE_WORDS, CONFIG_SOURCE_WORDS },      \
		{ 0, "events", "LIST", "only these: " CONFIG_EVENT_WORDS, CONFIG_EVENT_WORDS },    \
		{ 0, "pid", "LIST", "only events of these tasks (pids); \"\" for all", NULL },     \
		{ 0, "comm", "LIST", "only of tasks with these names: sh, kworker/*", NULL },      \
		{ 0, "cgroup", "LIST", "only of tasks in these cgroups: /system.slice/x", NULL },  \
		{ 0, "flush", "TIME",                                                              \
		  "how long events wait to be sent, as 100ms; twice that while they are few",      \
		  NULL },                                                                          \
		{ 0, "block", "BYTES", "the size at which a block is sent: 4K to 64K", NULL },     \
		{ 0, "ring", "SIZE", "kernel memory for each CPU, as 512K; plain is KiB", NULL },  \
		{ 0, "resolution", "TIME", "of the time stamps, as 64ns; 0: the finest", NULL },   \
		{ 0, "policy", "POLICY", "of a full spool: keep-oldest or flight-recorder",        \
		  CONFIG_POLICY_WORDS },                                                           \
		{ 0, "codec", "CODEC", "of the events: sched, or bsf (only the driver)",           \
		  CONFIG_CODEC_WORDS },                                                            \
	{                                                                                          \
		0, "func", "MODE", "calls of programs: off, on, or split (times true)",            \
			CONFIG_FUNC_WORDS                                                          \
	}

/* The same for those who tell recorders that go on without end. */
#define CONFIG_PACE_OPTIONS                                                                        \
	{ 0, "profile", "MODE", "its recorder of profiles: on, or off: it pauses", "on off" },     \
		{ 0, "profile-rate", "N", "samples of each CPU in a second, at the most", NULL },  \
		{ 0, "profile-budget", "PERCENT", "of one CPU that it may take; 0: any", NULL },   \
		{ 0, "profile-duty", "PART", "as 10s/60s: that part of the time; \"\": all",       \
		  NULL },                                                                          \
		{ 0, "vm", "MODE", "its recorder of virtual machines: on, or off", "on off" },     \
		{ 0, "vm-rate", "N", "as --profile-rate", NULL },                                  \
		{ 0, "vm-budget", "PERCENT", "as --profile-budget", NULL },                        \
	{                                                                                          \
		0, "vm-duty", "PART", "as --profile-duty", NULL                                    \
	}

/* The option of a field, "source" for CONFIG_ORIGIN; NULL if there is none. */
const char *config_option_name(uint32_t field);

/* The words; NULL for numbers that have none. */
const char *config_origin_word(uint32_t origin);
const char *config_event_word(uint32_t kind);
const char *config_policy_word(uint32_t policy);
const char *config_codec_word(uint32_t codec);
const char *config_func_word(uint32_t mode);

/* Takes one option into the configuration, by its name. -EINVAL with the reason; -ENOENT if there
 * is no such option. The configuration is untouched then. */
int config_option_parse(struct message_config *c, const char *name, const char *text,
			struct error *e);

/* Takes all that were given; the command's table has CONFIG_OPTIONS. */
int config_args_parse(struct message_config *c, const struct args *a, struct error *e);
/* And CONFIG_PACE_OPTIONS. */
int config_args_parse_paces(struct message_config *c, const struct args *a, struct error *e);

#endif
