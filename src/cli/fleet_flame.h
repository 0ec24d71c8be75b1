/* SPDX-License-Identifier: MIT */
/* fleet_flame: `kiseki profile flame --fleet` and `profile diff --fleet --flame`: stacks of many devices, drawn from facts. */
#ifndef KISEKI_CLI_FLEET_FLAME_H
#define KISEKI_CLI_FLEET_FLAME_H

#include "command/args.h"

/* Whether a path's ending says how stacks are to be written: .html, .svg, .folded. */
bool fleet_flame_takes(const char *path);

/* The exit status. */
int fleet_flame_run(const struct args *a, const char *path);

/* Both sides of a comparison in one. */
int fleet_flame_write_diff(const struct args *a, const char *path, struct error *e);

#endif
