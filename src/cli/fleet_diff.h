/* SPDX-License-Identifier: MIT */
/* fleet_diff: `kiseki profile diff --fleet`: what takes more of the time than before, or than on other devices. */
#ifndef KISEKI_CLI_FLEET_DIFF_H
#define KISEKI_CLI_FLEET_DIFF_H

#include "command/args.h"

/* For the table of the command. */
#define FLEET_DIFF_OPTIONS                                                                         \
	{ 0, "at", "TIME", "of devices: what was before this moment, and what was after it",       \
	  NULL },                                                                                  \
		{ 0, "with-from", "TIME", "of devices: compare with what was from here on",        \
		  NULL },                                                                          \
		{ 0, "with-to", "TIME", "of devices: and before this", NULL },                     \
	{                                                                                          \
		0, "with-devices", "SEL", "of devices: compare with these, at the same time", NULL \
	}

/* The exit status. */
int fleet_diff_run(const struct args *a);

#endif
