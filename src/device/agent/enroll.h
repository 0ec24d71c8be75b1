/* SPDX-License-Identifier: MIT */
/*
 * enroll: how the device gets its certificate, the first with a token, the next with the one it has
 * (docs/design/keys.md). It waits for the collector: the command line does that, and a child of
 * whoever must not wait.
 */
#ifndef KISEKI_DEVICE_AGENT_ENROLL_H
#define KISEKI_DEVICE_AGENT_ENROLL_H

#include "base/error.h"
#include "command/command.h"
#include "wire/token.h"

#define ENROLL_WAIT_MS 30000U /* for all of it */

struct enroll_options {
	const char *collector; /* HOST:PORT */
	const char *name;      /* the agent's, of which its identity may be made */
	const char *state_dir;
	const struct token *token; /* NULL: renew what there is */
};

/* The files are there when it returns 0; else those of before. */
int enroll_run(const struct enroll_options *o, struct error *e);

extern const struct command command_agent_enroll;

#endif
