/* SPDX-License-Identifier: MIT */
/*
 * profile_options: what to sample, as the tables of `kiseki-agent profile` and of `kiseki profile record` have it. The
 * second passes these options on to the first as they are, so both have to know the same ones.
 */
#ifndef KISEKI_COMMAND_PROFILE_OPTIONS_H
#define KISEKI_COMMAND_PROFILE_OPTIONS_H

#include "command/command.h"

#define PROFILE_OUTPUT "profile.ksk"

/* Of every recorder that can send what it records. */
#define COLLECTOR_OPTIONS                                                                          \
	{ 'c', "collector", "HOST:PORT", "send it to this collector; a file only with -o", NULL }, \
		{ 0, "spool", "SIZE", "memory for what that does not have yet (4M)", NULL },       \
		{ 0, "objects-rate", "SIZE",                                                       \
		  "files it asks for: so much a second (1M on loopback, else 0)", NULL },          \
	{                                                                                          \
		0, "state-dir", "DIR", "where the identity is kept (/var/lib/kiseki-agent)", NULL  \
	}

/* Of those that may go on for ever. */
#define PACE_OPTIONS                                                                               \
	{ 0, "budget", "PERCENT", "sample less often if it costs more than this part of a CPU",    \
	  NULL },                                                                                  \
	{                                                                                          \
		0, "duty", "ON/PERIOD", "sample only so long of each such time, as 10s/60s", NULL  \
	}

/* For the tables of commands. */
#define PROFILE_OPTIONS                                                                            \
	{ 'o', "output", "FILE", "write this file (" PROFILE_OUTPUT ")", NULL },                   \
		{ 'a', "all", NULL, "all CPUs, also when there is a command", NULL },              \
		{ 'p', "pid", "LIST", "only these processes, with what they start", NULL },        \
		{ 'e', "event", "EVENT", "auto (default), cycles, cpu-clock",                      \
		  "auto cycles cpu-clock" },                                                       \
		{ 'i', "period", "TIME", "a sample of each CPU so often (1ms)", NULL },            \
		{ 'r', "rate", "N", "so many samples of each CPU in a second", NULL },             \
		{ 'd', "depth", "N", "addresses of a call chain, at most (127)", NULL },           \
		{ 0, "no-chain", NULL, "no call chains, only places", NULL },                      \
		{ 'u', "user", NULL, "programs only, not the kernel", NULL },                      \
		{ 's', "switches", NULL, "record when tasks get and leave a CPU, too", NULL },     \
		{ 't', "time", "TIME", "end after this time", NULL }, PACE_OPTIONS,                \
		COLLECTOR_OPTIONS,                                                                 \
		{ 'n', "name", "NAME", "what the device is called (the host name)", NULL },        \
	{                                                                                          \
		'b', "buffer", "SIZE", "memory of each CPU's ring (512K)", NULL                    \
	}

#define PROFILE_OPTIONS_N                                                                          \
	(sizeof((const struct cli_option[]){ PROFILE_OPTIONS }) / sizeof(struct cli_option))

#endif
