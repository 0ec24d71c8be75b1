/* SPDX-License-Identifier: MIT */
/*
 * func_remote: the calls of a run that a collector has.
 *
 * The run comes as a .ksk, and the scheduler's events of its time as another, into files that have no name
 * any more when they are read: names of functions are found here, where the objects are.
 */
#ifndef KISEKI_CLI_FUNC_REMOTE_H
#define KISEKI_CLI_FUNC_REMOTE_H

#include "cli/func_place.h"

/* `name` is a run's number, or a device. */
int func_remote_open(struct func_place *p, const char *name, struct error *e);

#endif
