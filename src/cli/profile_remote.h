/* SPDX-License-Identifier: MIT */
/*
 * profile_remote: the profiles of a collector, by --server: a number is a run, any other word a device, whose latest
 * profile is meant, or latest recording of virtual machines.
 *
 * The run comes as a .ksk into a file that has no name any more when it is read: names of functions are found here, where
 * the objects are.
 */
#ifndef KISEKI_CLI_PROFILE_REMOTE_H
#define KISEKI_CLI_PROFILE_REMOTE_H

#include "command/args.h"
#include "trace/sample_source.h"

int profile_remote_open(struct sample_source **ret, const struct args *a, const char *name,
			bool wants_machines, struct error *e);

#endif
