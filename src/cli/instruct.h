/* SPDX-License-Identifier: MIT */
/*
 * instruct: start, stop and configure: the same instruction to any number of devices, and what
 * became of it at each.
 */
#ifndef KISEKI_CLI_INSTRUCT_H
#define KISEKI_CLI_INSTRUCT_H

#include "cli/client.h"
#include "command/args.h"
#include "wire/message.h"

#define INSTRUCT_OPTIONS                                                                           \
	{ 0, "all", NULL, "all devices that the collector knows", NULL },                          \
		{ 0, "json", NULL, "print what became of it as JSON", NULL }, CLIENT_OPTION

/* verb is "start", "stop" or "configure"; what to trace may be NULL. The exit status: 1 if it failed
 * at any device. */
int instruct_run(const struct args *a, const char *verb, const struct message_config *config);

#endif
