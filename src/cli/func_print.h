/* SPDX-License-Identifier: MIT */
/*
 * func_print: what the func commands print alike: names of functions, columns of the split, what is
 * missing in the trace.
 */
#ifndef KISEKI_CLI_FUNC_PRINT_H
#define KISEKI_CLI_FUNC_PRINT_H

#include "analysis/call_walk.h"

/* The name; its object if it has one; with `lines`, where it is in the source. Ends the line. */
void func_print_name(struct call_names *names, uint32_t function, bool lines);

/* Which parts of local time are columns: none without any record of the operating system. */
struct func_columns {
	bool split;
	bool kernel;  /* user and kernel; else only that it ran */
	bool unknown; /* for some of the time no record is there */
};

void func_print_choose(struct func_columns *c, const struct call_totals *t);
void func_print_titles(const struct func_columns *c);
void func_print_split(const struct func_columns *c, const struct call_split *local);

/* What the numbers do not say: losses, calls without end, exits without entry. */
void func_print_missing(const struct call_totals *t);

#endif
