/* SPDX-License-Identifier: MIT */
/*
 * vm_options: how to sample virtual machines, as the tables of `kiseki-agent vm` and of `kiseki vm record` have it. The
 * second passes these options on to the first as they are, so both have to know the same ones.
 */
#ifndef KISEKI_COMMAND_VM_OPTIONS_H
#define KISEKI_COMMAND_VM_OPTIONS_H

#include "command/profile_options.h"

#define VM_OUTPUT "vm.ksk"

/* For the tables of commands. */
#define VM_OPTIONS                                                                                 \
	{ 'o', "output", "FILE", "write this file (" VM_OUTPUT ")", NULL },                        \
		{ 's', "source", "SOURCE", "module or bpf (the module where it is loaded)",        \
		  NULL },                                                                          \
		{ 'i', "period", "TIME", "a sample of each CPU so often, in the mean (1ms)",       \
		  NULL },                                                                          \
		{ 0, "cycles", "N", "a sample each N cycles of a CPU instead, by its counter",     \
		  NULL },                                                                          \
		{ 'j', "jitter", "PERCENT", "by how much that varies, either way (50)", NULL },    \
		{ 0, "no-exits", NULL, "do not record entries and exits of guests", NULL },        \
		{ 'g', "guests", "ADDRESS[,...]",                                                  \
		  "listen to kiseki-guest in guests: vsock:PORT, unix:PATH, tcp:ADDRESS:PORT",     \
		  NULL },                                                                          \
		{ 0, "guest-objects", "FOLDER",                                                    \
		  "fetch programs and libraries from those guests into it, as PID/.build-id/...",  \
		  NULL },                                                                          \
		{ 't', "time", "TIME", "end after this time", NULL }, PACE_OPTIONS,                \
		{ 'b', "buffer", "SIZE", "memory of each CPU's ring (512K)", NULL },               \
		COLLECTOR_OPTIONS,                                                                 \
	{                                                                                          \
		'n', "name", "NAME", "what it calls this device (the host name)", NULL             \
	}

#define VM_OPTIONS_N (sizeof((const struct cli_option[]){ VM_OPTIONS }) / sizeof(struct cli_option))

#endif
