/* SPDX-License-Identifier: MIT */
/*
 * boot_reading: a boot wherever a person says it is, ready to be charted.
 *
 *	a path           a .ksk, a bootchart's archive or its folder
 *	a store's folder its latest boot, or that of --run
 *	a number         that run of a collector (--server)
 *	any other word   a device of a collector: its latest boot
 *
 * A scheduler's trace of the same time makes it exact: the one in the same file, the run of the same device
 * and time in a store or at a collector, or that of --sched; not with --sampled.
 */
#ifndef KISEKI_CLI_BOOT_READING_H
#define KISEKI_CLI_BOOT_READING_H

#include "analysis/boot.h"
#include "cli/client.h"
#include "command/args.h"

/* For the tables of the commands. */
#define BOOT_READING_OPTIONS                                                                       \
	{ 0, "run", "RUN", "of a store: this run instead of the latest boot", NULL },              \
		{ 0, "sched", "FILE", "a trace of the scheduler of the same time", NULL },         \
		{ 0, "sampled", NULL, "leave the scheduler's trace alone", NULL }, CLIENT_OPTION

/* A failure was said; the exit status is returned then, else 0 and *ret. */
int boot_reading_open(struct boot **ret, const struct args *a, const char *name);

#endif
