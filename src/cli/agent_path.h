/* SPDX-License-Identifier: MIT */
/* agent_path: where the program kiseki-agent is that belongs to this kiseki. */
#ifndef KISEKI_CLI_AGENT_PATH_H
#define KISEKI_CLI_AGENT_PATH_H

#include "base/error.h"

#define AGENT_PATH_MAX 4096U

/* KISEKI_AGENT, then beside this program as it was called and as it lies on disk, then PATH.
 * -ENOENT. */
int agent_path_find(char path[AGENT_PATH_MAX], struct error *e);

/* The same of another program of ours, and the variable that names it. */
int agent_path_find_other(char path[AGENT_PATH_MAX], const char *name, const char *variable,
			  struct error *e);

#endif
