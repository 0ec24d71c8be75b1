/* SPDX-License-Identifier: MIT */
/*
 * kernel_options: what to record of the kernel's functions, as the tables of `kiseki-agent kernel` and of
 * `kiseki func kernel` have it. The second passes these options on to the first as they are, so both have
 * to know the same ones. --sched is not among them: its letter is the one of --sort where there is a report.
 */
#ifndef KISEKI_COMMAND_KERNEL_OPTIONS_H
#define KISEKI_COMMAND_KERNEL_OPTIONS_H

#include "command/command.h"

/* For the tables of commands. */
#define KERNEL_OPTIONS                                                                             \
	{ 0, "tree", "LIST", "record only these functions and what they call", NULL },             \
		{ 0, "notree", "LIST", "record neither these nor what they call", NULL },          \
		{ 'd', "depth", "N", "record only this many levels", NULL },                       \
		{ 0, "min-time", "TIME", "record only calls of at least this: 10us", NULL },       \
		{ 0, "start", "FUNCTION", "begin when this function is called", NULL },            \
		{ 0, "stop", "FUNCTION", "end when this function is called", NULL },               \
		{ 0, "events", "N", "end after this many calls", NULL },                           \
		{ 't', "time", "TIME", "end after this time", NULL },                              \
		{ 'p', "pid", "LIST", "only these tasks", NULL },                                  \
		{ 'a', "all", NULL, "all tasks, also when there is a command", NULL },             \
		{ 0, "no-fork", NULL, "not the tasks that they start", NULL },                     \
		{ 'c', "cpu", "LIST", "only on these CPUs, as 0,2-3", NULL },                      \
		{ 0, "no-irqs", NULL, "no functions of interrupts", NULL },                        \
		{ 0, "clock", "NAME", "what stamps the records (local)", NULL },                   \
	{                                                                                          \
		'b', "buffer", "KIB", "memory of each CPU's ring (8192)", NULL                     \
	}

#define KERNEL_OPTIONS_N                                                                           \
	(sizeof((const struct cli_option[]){ KERNEL_OPTIONS }) / sizeof(struct cli_option))

#endif
