/* SPDX-License-Identifier: MIT */
/* func_summary: the table of `func report`, which `func run` prints as well. */
#ifndef KISEKI_CLI_FUNC_SUMMARY_H
#define KISEKI_CLI_FUNC_SUMMARY_H

#include "cli/func_reading.h"

/* For both tables of options. */
#define FUNC_SUMMARY_OPTIONS                                                                       \
	{ 's', "sort", "KEY", "local (default) total calls avg max name",                          \
	  "local total calls avg max name" },                                                      \
		{ 'n', "limit", "N", "show this many functions (20); 0 shows all", NULL },         \
		{ 'f', "function", "PATTERN", "only functions with such names: 'read_*'", NULL },  \
		{ 0, "min-time", "TIME", "only functions that took at least this: 10us", NULL },   \
		{ 'l', "lines", NULL, "show where functions are in the source", NULL },            \
	{                                                                                          \
		0, "json", NULL, "print JSON (docs/reports.md)", NULL                              \
	}

/* Reads the source once and prints; the exit status. */
int func_summary_print(struct func_reading *in, const struct args *a);

/* Are the options above right? -EINVAL. */
int func_summary_check(const struct args *a, struct error *e);

#endif
