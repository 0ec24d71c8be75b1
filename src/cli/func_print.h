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

/* The titles and the figures of the parts of local time, if any record covers anything: else nothing. */
bool func_print_has_split(const struct call_split *all);
void func_print_split_titles(const struct call_split *all);
void func_print_split(const struct call_split *local, const struct call_split *all);

/* What the numbers do not say: losses, calls without end, exits without entry. */
void func_print_missing(const struct call_totals *t);

#endif
