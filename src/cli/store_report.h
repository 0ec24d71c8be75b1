/* SPDX-License-Identifier: MIT */
/*
 * store_report: what the commands `check` and `info` say of a collector's folder.
 */
#ifndef KISEKI_CLI_STORE_REPORT_H
#define KISEKI_CLI_STORE_REPORT_H

#include <stdbool.h>

#include "command/args.h"

/* Whether the operand is such a folder. */
bool store_report_wants(const char *path);

/* Prints the runs and the ledger; with `verify` every byte is checked, and damage makes the exit
 * status 1. */
int store_report_run(const struct args *a, const char *path, bool verify);

#endif
