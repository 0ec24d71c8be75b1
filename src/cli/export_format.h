/* SPDX-License-Identifier: MIT */
/* export_format: which format --format or the ending of --output asks for, of those that profiles and virtual machines have. */
#ifndef KISEKI_CLI_EXPORT_FORMAT_H
#define KISEKI_CLI_EXPORT_FORMAT_H

#include "command/args.h"
#include "convert/profile_export.h"

/* For the tables of the commands. */
#define EXPORT_FORMAT_OPTIONS                                                                      \
	{ 'o', "output", "OUT", "where to write it; - is standard output", NULL },                 \
	{                                                                                          \
		'f', "format", "FORMAT", "the format; without it, the ending of OUT decides",      \
			"folded pprof speedscope firefox json"                                     \
	}

/* EXIT_OK, or the status to end with; then it has been said why. */
int export_format_choose(const struct args *a, const char *command,
			 const struct profile_format **ret);

#endif
