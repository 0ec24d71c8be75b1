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

enum instruct_config {
	INSTRUCT_PLAIN, /* says nothing of what to trace */
	INSTRUCT_MAY,	/* may: the command's table has CONFIG_OPTIONS */
	INSTRUCT_MUST,	/* must; and it has CONFIG_PACE_OPTIONS */
};

/* For those who have another name for it. */
struct instruct_order {
	const char *const *devices; /* patterns; beside them --all */
	size_t n_devices;
	const struct message_config *config;
	const char *done; /* the word for what it is then */
	json_t *results;  /* what became of it is added; NULL: it is printed */
};

/* Configures them. The exit status: 1 if it failed at any device. */
int instruct_configure(const struct args *a, const struct instruct_order *o);

/* The instruction is the command's name. The exit status: 1 if it failed at any device. */
int instruct_run(const struct args *a, enum instruct_config says);

#endif
