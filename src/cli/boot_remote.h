/* SPDX-License-Identifier: MIT */
/* boot_remote: the boots of a collector, by --server: a number is a run, any other word a device, whose latest boot is
 * meant. */
#ifndef KISEKI_CLI_BOOT_REMOTE_H
#define KISEKI_CLI_BOOT_REMOTE_H

#include "cli/boot_reading.h"

/* with_sched: the scheduler's run of the same time makes it exact. */
int boot_remote_open(struct boot **ret, const struct args *a, const char *name, bool with_sched,
		     struct error *e);

#endif
