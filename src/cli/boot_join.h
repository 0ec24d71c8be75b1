/* SPDX-License-Identifier: MIT */
/*
 * boot_join: a boot laid together with the scheduler's events of its time, and what is said about that.
 */
#ifndef KISEKI_CLI_BOOT_JOIN_H
#define KISEKI_CLI_BOOT_JOIN_H

#include "analysis/boot.h"
#include "trace/source.h"

/* Those of a run that was found. Events with a clock that has nothing in common with the boot's are left alone: a note says
 * so. The source is borrowed. */
int boot_join_run(struct boot *b, struct trace_source *sched, uint32_t run, struct error *e);

/* Those that were asked for, or are in the same file: 0 if there are none. */
int boot_join_file(struct boot *b, const char *path, struct error *e);

#endif
