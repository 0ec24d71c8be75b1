/* SPDX-License-Identifier: MIT */
/*
 * record_command: the program whose run is recorded. It exists before the recording and starts when
 * that is on, so that nothing of it is missed.
 */
#ifndef KISEKI_CLI_RECORD_COMMAND_H
#define KISEKI_CLI_RECORD_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct record_command {
	pid_t pid;  /* 0: there is none, or it is over */
	bool given; /* there is or was one */
	int go_fd;  /* -1: it runs */
	int status; /* its exit status, once it is over: 128 + the signal if one ended it */
	const char *cgroup_root;
	char cgroup[256]; /* made for it, "" if not: below the root of the hierarchy */
};

void record_command_init(struct record_command *c);

/* argv ends with NULL. With `own_cgroup` it and all that it starts are in a new cgroup, where the
 * machine allows it. */
int record_command_new(struct record_command *c, const char *const argv[], bool own_cgroup,
		       struct error *e);
void record_command_go(struct record_command *c);
void record_command_check(struct record_command *c); /* has it ended? */
void record_command_signal(struct record_command *c, int signal);
void record_command_done(struct record_command *c); /* ends it if it never went */

#endif
